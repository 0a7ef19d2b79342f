-- name: held
-- Nothing can be sent again to who was erased, once the receipt was out and the address gone.
select outbox.id, outbox.inbox_id, outbox.status, outbox.error_code, outbox.provider_sid, outbox.superseded_sids, outbox.resends,
    inbox.pseudonym, extract(epoch from clock_timestamp() - inbox.received_at)::float8 as age,
    inbox.pseudonym <> '' or inbox.address is not null or inbox.sender is not null as reachable
from outbox join inbox on inbox.id = outbox.inbox_id
where outbox.id = :number for update of outbox

-- name: write
update outbox set
    status = :status, error_code = :error_code, provider_sid = :provider_sid, superseded_sids = :superseded_sids,
    resends = :resends, attempted_at = null, updated_at = now()
where id = :number
