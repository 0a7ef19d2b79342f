-- `clara.delivery.reports.merge` for a report that takes its part forward or gives it its id; any other report matches no row.
-- A status goes forward from those in :behind, or to itself with a greater code, compared byte by byte as Python does it.
update outbox set
    status = case
        when status = any (cast(:behind as text[])) or status = :told_status then :told_status
        else status
    end,
    error_code = case
        when status = any (cast(:behind as text[]))
            or (status = :told_status and coalesce(error_code, '') collate "C" < coalesce(cast(:told_code as text), ''))
        then cast(:told_code as text)
        else error_code
    end,
    provider_sid = :told_sid,
    attempted_at = null,
    updated_at = now()
 where id = :number
   and (
        (provider_sid is null and :told_sid <> all (superseded_sids))
        or (
            provider_sid = :told_sid
            and (
                status = any (cast(:behind as text[]))
                or (status = :told_status and coalesce(error_code, '') collate "C" < coalesce(cast(:told_code as text), ''))
            )
        )
   )
