-- name: findings_of_facts
select fact_id, array_agg(finding_id order by finding_id) as findings from facts_in_doubt group by fact_id

-- name: draft
insert into revisions (fact_id, fields, base_digest, reason, made_by, finding_id)
values (:fact_id, :fields, :base_digest, :reason, :made_by, :finding_id) returning id

-- name: drafts
select id, fact_id, fields, base_digest, reason, made_by from revisions
where publication_id is null and withdrawn_at is null order by id

-- name: revisions
select id, fact_id, fields, base_digest, reason, made_by from revisions
where id = any (:ids) and (:withdrawn or withdrawn_at is null) order by id

-- name: withdraw
update revisions set withdrawn_at = now() where fact_id = :fact_id and withdrawn_at is null

-- name: as_one
set transaction isolation level repeatable read

-- name: now
select now()

-- name: flags
-- The day of each fact in doubt: an accepted finding warns of it until it is held to be true, or its correction is served.
select fact_id, to_char(max(found_at) at time zone 'Europe/Madrid', 'YYYY-MM-DD') from facts_in_doubt group by fact_id
