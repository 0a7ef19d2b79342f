-- name: lock
-- Two numbers, so that no other lock of Clara's, which have one, can be the same.
select pg_try_advisory_lock(5305010, hashtext(:job))

-- name: begin
insert into job_runs (job, arguments, process) values (:job, :arguments, :process) returning id

-- name: beat
update job_runs set alive_at = now() where id = :id

-- name: end
update job_runs set alive_at = now(), finished_at = now(), exit_code = :exit_code, error = :error,
    report = cast(:report as jsonb)
where id = :id
