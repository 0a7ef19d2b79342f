-- name: lock
-- Be the only one who changes the findings and snapshots of a source, until the transaction ends.
select pg_advisory_xact_lock(hashtext('snapshots'), hashtext(:source_id))

-- name: find
select id, source_id, kind, url, digest, content, version_date, etag, last_modified, fetched_at, state
from snapshots where id = :id

-- name: served
select id, source_id, kind, url, digest, content, version_date, etag, last_modified, fetched_at, state
from snapshots where state = 'served' and source_id = :source_id

-- name: keep
insert into snapshots (source_id, kind, url, digest, content, version_date, etag, last_modified, state)
values (:source_id, :kind, :url, :digest, :content, :version_date, :etag, :last_modified, 'waiting')
on conflict (source_id, digest) do update set
    fetched_at = now(), etag = excluded.etag, last_modified = excluded.last_modified, url = excluded.url
returning id, state

-- name: displace
-- Whatever of the source is in a state is in the past, but for one.
update snapshots set state = 'past' where source_id = :source_id and state = :state and id <> :id

-- name: move
update snapshots set state = :state where id = :id

-- name: note_ingestion
update snapshots set ingestion = :done where id = :id

-- name: ingestions
select source_id, ingestion from snapshots where ingestion ->> 'run' = :run

-- name: check
-- One that did not answer keeps the time when it last did.
insert into checks (source_id, checked_at, reached_at, outcome, detail)
values (:source_id, statement_timestamp(), case when :reached then statement_timestamp() end, :outcome, :detail)
on conflict (source_id) do update set
    checked_at = excluded.checked_at, reached_at = coalesce(excluded.reached_at, checks.reached_at),
    outcome = excluded.outcome, detail = excluded.detail

-- name: checks
select source_id, checked_at, reached_at, outcome, detail from checks order by source_id
