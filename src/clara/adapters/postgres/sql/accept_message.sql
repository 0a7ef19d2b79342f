-- Stores a message unless its signed id is known, counts it for the limits and, within them, schedules its turn: one statement,
-- so all of it or nothing, in one trip. Gives no row when the message was known. Without `counted` there are no limits.
--
-- Each count is made only while the ones before it are within their limits: minute and day of the sender, then minute and day
-- of everyone. That is also the order of the locks, the same in every transaction, so nobody waits in a circle; one transaction
-- counts one message. The sender's rows make this sender's messages follow each other and nobody else's. Everyone's count is
-- spread over so many rows as `shards` says, each connection adding to its own, because a row stays locked until its transaction ends: messages
-- would queue behind each other's commits, and all of them behind a process that is held up. So what others are adding right
-- now is not seen: everyone's limits may be passed by as many messages as are being stored at the moment, the sender's never.
--
-- A message belongs to the windows in which it was received: one that waited out an outage takes no part of the present. A
-- listener's clock that is ahead counts as ours. The day is Spain's: who is told "tomorrow" may write after midnight.
with stored as (
    insert into inbox (message_sid, channel, pseudonym, address, body, media_types, received_at, recordings)
    values (:message_sid, :channel, :pseudonym, :address, :body, cast(:media_types as text[]),
            coalesce(cast(:received_at as timestamptz), now()), cast(:recordings as text[]))
    on conflict do nothing
    returning id
),
moment as (
    select least(coalesce(cast(:received_at as timestamptz), now()), now()) as received_at from stored where :counted
),
windows as materialized (
    select date_trunc('minute', received_at) as minute,
           date_trunc('day', received_at, 'Europe/Madrid') as day,
           cast(pg_backend_pid() % :shards as smallint) as shard
      from moment
),
sender_minute as (
    insert into usage as u (scope, window_start, used)
    select 'sender_minute:' || cast(:pseudonym as text), minute, 1 from windows
    on conflict (scope, window_start, shard) do update set used = u.used + 1
    returning used
),
sender_day as (
    insert into usage as u (scope, window_start, used)
    select 'sender_day:' || cast(:pseudonym as text), day, (m.used <= :sender_per_minute)::int
      from windows cross join sender_minute m
    on conflict (scope, window_start, shard) do update set used = u.used + excluded.used
    returning used
),
everyone_minute as (
    insert into usage as u (scope, window_start, shard, used)
    select 'everyone_minute', minute, shard, 1
      from windows cross join sender_minute m cross join sender_day d
     where m.used <= :sender_per_minute and d.used <= :sender_per_day
    on conflict (scope, window_start, shard) do update set used = u.used + 1
    returning used
),
minute_of_all as materialized (
    select e.used + coalesce(sum(o.used), 0) as used
      from everyone_minute e
      cross join windows w
      left join usage o on o.scope = 'everyone_minute' and o.window_start = w.minute and o.shard <> w.shard
     group by e.used
),
everyone_day as (
    insert into usage as u (scope, window_start, shard, used)
    select 'everyone_day', day, shard, (e.used <= :everyone_per_minute)::int
      from windows cross join minute_of_all e
    on conflict (scope, window_start, shard) do update set used = u.used + excluded.used
    returning used
),
day_of_all as (
    select e.used + coalesce(sum(o.used), 0) as used
      from everyone_day e
      cross join windows w
      left join usage o on o.scope = 'everyone_day' and o.window_start = w.day and o.shard <> w.shard
     group by e.used
),
counts as (
    select w.minute, w.day, m.used as sender_minute, d.used as sender_day,
           coalesce(em.used, 0)::bigint as everyone_minute, coalesce(ed.used, 0)::bigint as everyone_day
      from windows w
      cross join sender_minute m
      cross join sender_day d
      left join minute_of_all em on true
      left join day_of_all ed on true
),
scheduled as (
    select procrastinate_defer_jobs_v1(array[
               row(:queue, :task, cast(:priority as integer), :lock, null, jsonb_build_object('inbox_id', stored.id), null)
           ]::procrastinate_job_to_defer_v1[]) as jobs
      from stored left join counts on true
     where counts.minute is null
        or (
            counts.sender_minute <= :sender_per_minute and counts.sender_day <= :sender_per_day
            and counts.everyone_minute <= :everyone_per_minute and counts.everyone_day <= :everyone_per_day
        )
)
select stored.id, counts.*, scheduled.jobs is not null as scheduled
  from stored
  left join counts on true
  left join scheduled on true
