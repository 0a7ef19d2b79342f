-- Gives each job that is expected to run by itself: since when, when it began last, and when it ended last having done its work.
select
    schedules.job, enabled_at,
    (select max(started_at) from job_runs run where run.job = schedules.job) as started_at,
    (select max(finished_at) from job_runs run where run.job = schedules.job and exit_code in (0, 1)) as succeeded_at,
    now() as now
from schedules order by schedules.job
