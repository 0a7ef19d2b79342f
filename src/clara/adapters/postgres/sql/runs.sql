-- Gives runs, the newest first. A run that gives no sign of life, or after which another of its job began, has died.
select
    id, job, arguments, process, started_at, alive_at, finished_at, exit_code, report, error,
    case
        when exit_code = 0 then 'fine'
        when exit_code = 1 then 'findings'
        when finished_at is not null then 'failed'
        when alive_at < now() - make_interval(secs => :silent_after)
            or exists (select from job_runs later where later.job = run.job and later.id > run.id) then 'died'
        else 'running'
    end as state
from job_runs run
where (cast(:job as text) is null or job = :job) and (cast(:before as bigint) is null or id < :before)
order by id desc limit :limit
