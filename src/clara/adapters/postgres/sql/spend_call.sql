-- Takes one call of a provider from the day's share; gives no row when it is used up. The day is Spain's, as for the answers.
insert into usage as u (scope, window_start, used)
select :scope, date_trunc('day', now(), 'Europe/Madrid'), 1 where :per_day > 0
on conflict (scope, window_start, shard) do update set used = u.used + 1 where u.used < :per_day
returning used
