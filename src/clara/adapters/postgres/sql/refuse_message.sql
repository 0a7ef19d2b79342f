-- Notes that a stored message was over a limit, and schedules the notice for the sender's first of the window.
with refused as (
    insert into usage as u (scope, window_start, used)
    values ('refused_' || cast(:over_limit as text) || ':' || cast(:pseudonym as text), :window_start, 1)
    on conflict (scope, window_start, shard) do update set used = u.used + 1
    returning used
),
marked as (
    update inbox set over_limit = :over_limit where id = :id
),
scheduled as (
    select procrastinate_defer_jobs_v1(array[
               row(:queue, :task, cast(:priority as integer), :lock, null, jsonb_build_object('inbox_id', cast(:id as bigint)), null)
           ]::procrastinate_job_to_defer_v1[]) as jobs
      from refused where used = 1
)
select refused.used, scheduled.jobs is not null as scheduled from refused left join scheduled on true
