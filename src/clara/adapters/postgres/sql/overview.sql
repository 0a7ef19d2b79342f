-- name: status
-- Whatever is not answered still has its address, and the index of addresses holds little more than the last day.
with unanswered as (
    select created_at from inbox
    where (address is not null or sender is not null) and over_limit is null
        and not exists (select from outbox where inbox_id = inbox.id)
)
select
    (select count(*) from unanswered) as unanswered,
    (select coalesce(max(extract(epoch from now() - created_at)), 0)::float from unanswered) as unanswered_for,
    (select count(*) from outbox where status = 'pending') as unsent,
    (select count(*) from outbox where status = 'pending' and attempted_at is not null) as uncertain,
    (select count(*) from outbox
        where status in ('failed', 'undelivered') and updated_at > now() - interval '1 day') as refused,
    (select count(*) from inbox where over_limit is not null and created_at > now() - interval '1 day') as over_limit,
    (select count(*) from inbox where set_aside_at is not null and looked_at is null) as set_aside

-- name: aside
select inbox.id as inbox_id, set_aside_at as since, tries, body as text, turns.status as answered,
    (select string_agg(distinct status, ', ') from outbox where inbox_id = inbox.id) as delivery
from inbox left join turns on turns.inbox_id = inbox.id
where set_aside_at is not null and looked_at is null order by set_aside_at

-- name: looked_at
update inbox set looked_at = now() where id = :id and set_aside_at is not null and looked_at is null

-- name: nothing
select 1

-- name: workers
-- Those of the schedule, which answer nobody, have numbers below zero.
select count(*) from procrastinate_workers where id > 0 and last_heartbeat > now() - make_interval(secs => :seconds)
