-- name: since
select min(known_from) from evidence_versions where corpus = :name

-- name: recorded
select distinct passage_id from evidence_versions where corpus = :name

-- name: shown
-- What was served of each passage at a moment, and whether it is not what is served now.
select asked.id, held.content, held.digest is distinct from now.digest as changed
from unnest(cast(:ids as text[])) as asked (id)
left join evidence_versions held
    on held.corpus = :name and held.passage_id = asked.id and held.known_from <= :moment
    and (held.known_until is null or held.known_until > :moment)
left join evidence_versions now on now.corpus = :name and now.passage_id = asked.id and now.known_until is null

-- name: alone
select pg_advisory_xact_lock(:recording)
