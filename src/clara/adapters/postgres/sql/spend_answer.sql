-- Takes one answer from the sender's share of the day and from everybody's. Gives 0 when one of them is used up: what was taken
-- from the other one must then be undone. Unlike messages, answers are counted exactly: they cost money, and there are fewer of
-- them, so everybody's share is one row. Locks go from the sender to everybody, so nobody waits in a circle.
with today as (
    select date_trunc('day', now(), 'Europe/Madrid') as day
),
sender as (
    insert into usage as u (scope, window_start, used)
    select 'model:' || cast(:pseudonym as text), day, 1 from today where :sender_per_day > 0
    on conflict (scope, window_start, shard) do update set used = u.used + 1 where u.used < :sender_per_day
    returning used
),
everyone as (
    insert into usage as u (scope, window_start, used)
    select 'model', day, 1 from today cross join sender where :everyone_per_day > 0
    on conflict (scope, window_start, shard) do update set used = u.used + 1 where u.used < :everyone_per_day
    returning used
)
select count(*) from everyone
