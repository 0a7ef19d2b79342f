-- Notes that the channel took the part. A report that was faster keeps its status; another id stays, and one that was given up
-- does not come back.
update outbox set
    status = case when status = 'pending' then 'sent' else status end,
    provider_sid = coalesce(provider_sid, cast(:sid as text)),
    attempted_at = null,
    updated_at = now()
 where id = :part
   and (provider_sid is null or provider_sid = cast(:sid as text))
   and coalesce(cast(:sid as text), '') <> all (superseded_sids)
