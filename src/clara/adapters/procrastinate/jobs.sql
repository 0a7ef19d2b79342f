What the workers ask of the job engine's tables, each statement by its name.

-- free --
-- Jobs of one lock follow each other by number, whatever their priorities. A job that another worker is taking is passed over
-- and counts as not taken, so the next one of its lock waits; the library's index on the locks of what is being done would
-- refuse a second.
select id from procrastinate_jobs job
 where status = 'todo' and (scheduled_at is null or scheduled_at <= now())
   and (%(queues)s::varchar[] is null or queue_name = any (%(queues)s::varchar[]))
   and not exists (select from procrastinate_jobs other where other.lock = job.lock and other.status = 'doing')
   and not exists (
       select from procrastinate_jobs other where other.lock = job.lock and other.status = 'todo' and other.id < job.id
   )

-- take --
-- The library takes one job a trip, and learns by another trip that there is no more: ten times the time when many wait.
-- A priority is a lane, not a rank: each has so many slots, and in each who came first is first.
with emergencies as (
    {free}
       and priority > 0 order by priority desc, id limit %(all)s for update skip locked
),
ordinary as (
    {free}
       and priority = 0 order by priority desc, id limit %(usual)s for update skip locked
),
long as (
    {free}
       and priority < 0 order by priority desc, id limit %(long)s for update skip locked
),
usual as (
    select id from (select id from ordinary union all select id from long) either
     order by id limit least(%(usual)s::bigint, %(all)s - (select count(*) from emergencies))
),
free as (select id from emergencies union all select id from usual)
update procrastinate_jobs job set status = 'doing', worker_id = %(worker)s
  from free
 where job.id = free.id
returning job.id, status, task_name, priority, lock, queueing_lock, args, scheduled_at, queue_name, attempts, worker_id

-- delete --
-- Every giving back and every try counts `attempts` up: a worker that wakes up after its job was given to another finds nothing.
-- The library's own statements would end the other's job, or put it back into the queue while it is being done: then each
-- worker that is overtaken has the turn begun again and so overtakes the next one, for as long as the writer is slow.
delete from procrastinate_jobs job
using unnest(%(jobs)s::bigint[], %(attempts)s::integer[], %(workers)s::bigint[]) as ended (id, attempts, worker_id)
where job.id = ended.id and job.attempts = ended.attempts and job.worker_id = ended.worker_id and job.status = 'doing'

-- finish --
-- Of one's own only, as above.
update procrastinate_jobs set status = %(status)s::procrastinate_job_status
where id = %(job)s and attempts = %(attempts)s and worker_id = %(worker)s and status = 'doing'

-- again --
-- The next one of a schedule may wait under the same queueing lock already, and two may not.
update procrastinate_jobs
set status = 'todo', attempts = attempts + 1, scheduled_at = coalesce(%(at)s, now()), queueing_lock = null
where id = %(job)s and attempts = %(attempts)s and worker_id = %(worker)s and status = 'doing'

-- beat --
-- A worker that starts strikes out those whose heartbeat is late. One that was only slow must be on the list again, or whoever
-- looks sees nobody at work, and the next job that it takes fails.
insert into procrastinate_workers (id, last_heartbeat) overriding system value values (%(worker)s, now())
on conflict (id) do update set last_heartbeat = excluded.last_heartbeat

-- register_aside --
-- Numbers below zero: /health counts workers that answer people, and these answer nobody.
insert into procrastinate_workers (id) overriding system value
values (-nextval(pg_get_serial_sequence('procrastinate_workers', 'id'))) returning id as worker_id

-- give_back --
-- One statement, because several workers do this at once: with the library's two (list, then retry each) one worker could
-- give back what another had just taken over. For the same reason there is no join: a row that changed while the statement
-- ran is judged again, and an outer join would then find no worker for it. Times are the database's: a worker's clock may be
-- wrong. The queueing lock goes: what is due by a schedule may wait under the same one already, and two may not. The statement
-- failed then for all that was abandoned, again and again; the lock still keeps the two from being done at once.
-- A job whose worker is no longer the one seen when the statement began is left alone: a worker that registered since then
-- is judged by a list on which it does not stand.
with abandoned as (
    select job.id from procrastinate_jobs job
    where job.status = 'doing' and (
        coalesce((select last_heartbeat from procrastinate_workers where id = job.worker_id), '-infinity')
            < now() - make_interval(secs => %(stalled_after)s)
        or (job.id, job.worker_id, job.attempts) in (
            select * from unnest(%(jobs)s::bigint[], %(workers)s::bigint[], %(attempts)s::integer[])
        )
    )
    and job.worker_id is not distinct from (select worker_id from procrastinate_jobs before where before.id = job.id)
    for update of job skip locked
)
update procrastinate_jobs job
set status = 'todo', attempts = attempts + 1, scheduled_at = null, abort_requested = false, queueing_lock = null
from abandoned where job.id = abandoned.id
returning job.id

-- undone --
select args ->> 'source' from procrastinate_jobs
where queue_name = %(queue)s and status in ('todo', 'doing') and args ->> 'run' = %(run)s
