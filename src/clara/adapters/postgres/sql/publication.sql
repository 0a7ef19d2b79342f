-- name: revisions
select revisions from publications where id = :id

-- name: all
select id, physical, state, revisions, gate, created_at, served_at, ended_at, corpora.passages
from publications left join corpora on corpora.name = physical
where corpus = :name order by id desc

-- name: number_served
insert into publications (corpus, physical, state)
select cast(:name as text), cast(:name as text), 'served'
where not exists (select from publications where corpus = :name and state = 'served')

-- name: stage
insert into publications (corpus, physical, revisions) values (:name, :name, :revisions) returning id

-- name: call
update publications set physical = :physical where id = :id
returning id, physical, state, revisions, gate, created_at, served_at, ended_at, null::bigint as passages

-- name: publish_revisions
update revisions set publication_id = :id where id = any (:ids) and publication_id is null

-- name: redraft_revisions
update revisions set publication_id = null where publication_id = :id

-- name: refuse
update publications set state = 'refused', gate = :gate, ended_at = now()
where state = 'staged' and (id = :id or corpus = :name)

-- name: alone
select pg_try_advisory_lock(:publishing)

-- name: using
select pg_advisory_lock(:copying, hashtext(:copy))

-- name: end
update publications set state = :state, ended_at = clock_timestamp() where corpus = :name and state = 'served'

-- name: begin
-- An earlier version, which is gone back to, keeps its gate.
update publications set
    state = 'served', served_at = clock_timestamp(), gate = coalesce(:gate, gate),
    ended_at = case when cast(:gate as jsonb) is not null then ended_at end
where id = :id

-- name: put
insert into served (name, physical, publication_id, switched_at) values (:name, :physical, :id, clock_timestamp())
on conflict (name) do update set
    physical = excluded.physical, publication_id = excluded.publication_id, switched_at = excluded.switched_at

-- name: standing
-- What stands behind a name: the corpus, its version and model, and the publication that put it there.
select coalesce(s.physical, asked.name), c.version, c.model, s.publication_id
from (select cast(:name as text) as name) asked
left join served s on s.name = asked.name
left join corpora c on c.name = coalesce(s.physical, asked.name)

-- name: itself
-- The same of a corpus, whatever stands behind its name.
select name, version, model, cast(null as bigint) from corpora where name = :name
