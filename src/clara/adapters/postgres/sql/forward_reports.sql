-- `clara.delivery.status_reports.merge` for many reports at once, at most one of a part: those that take their part forward, give it
-- its id, or say what is known. Gives the parts whose report is recorded with that; every other report is left to the merge.
-- States are compared by their place in :progress and then by their error code, byte by byte as Python does it. A part that
-- somebody holds is passed over: nobody may wait here for a lock, because the others' reports would wait as well.
with told as (
    select *
      from unnest(cast(:numbers as bigint[]), cast(:sids as text[]), cast(:statuses as text[]), cast(:codes as text[]))
        as report (number, sid, status, code)
),
held as (
    select id, provider_sid, superseded_sids,
           row(array_position(cast(:progress as text[]), status), coalesce(error_code, '') collate "C") as place
      from outbox
     where id = any (cast(:numbers as bigint[]))
       for no key update skip locked
),
compared as (
    select told.*, held.provider_sid, held.superseded_sids,
           held.place < row(array_position(cast(:progress as text[]), told.status), coalesce(told.code, '') collate "C") as news
      from held join told on told.number = held.id
),
forwarded as (
    update outbox set
        status = case when news then compared.status else outbox.status end,
        error_code = case when news then compared.code else outbox.error_code end,
        provider_sid = compared.sid,
        attempted_at = null,
        updated_at = now()
      from compared
     where outbox.id = compared.number
       and (
            (compared.provider_sid is null and compared.sid <> all (compared.superseded_sids))
            or (compared.provider_sid = compared.sid and news)
       )
    returning outbox.id
)
select id from forwarded
union all
select number from compared where provider_sid = sid and not news
