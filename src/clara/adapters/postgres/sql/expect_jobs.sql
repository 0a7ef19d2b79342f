-- Makes the rows exactly those of the jobs that are switched on. A row that stays keeps its day; an unchanged table is not written.
with gone as (
    delete from schedules where not job = any (cast(:jobs as text[]))
)
insert into schedules (job)
select job from unnest(cast(:jobs as text[])) as wanted (job)
where not exists (select from schedules known where known.job = wanted.job)
on conflict (job) do nothing
