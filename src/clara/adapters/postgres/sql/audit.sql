-- name: record
insert into audit_log (actor, act, subject, outcome, details)
values (:actor, :act, :subject, :outcome, :details) returning id

-- name: entries
select id, at, actor, act, subject, outcome, details from audit_log
where cast(:before as bigint) is null or id < :before order by id desc limit :limit

-- name: chain
-- What the trigger chain_act digests (migration 0011): the check computes it itself, and asks no function of the database's.
select id, digest, convert_to(jsonb_build_array(
           id, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), actor, act, subject, outcome, details
       )::text, 'UTF8') as said
  from audit_log order by id
