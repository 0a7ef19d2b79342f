-- name: settle_receipts
-- The receipt of an erasure is out: what led to the person goes, and the words, which may repeat what a voice note said.
with settled as (
    select id from inbox held
    where pseudonym = '' and (address is not null or sender is not null)
        and not exists (
            select from outbox
            where inbox_id = held.id
                and (
                    status = 'pending'
                    or (
                        status not in ('delivered', 'read', 'failed', 'undelivered', 'canceled')
                        and updated_at > now() - make_interval(secs => :reported_within)
                    )
                )
        )
    order by id limit :at_once for update skip locked
),
receipts as (
    update outbox set body = '', superseded_sids = '{}' from settled where outbox.inbox_id = settled.id
)
update inbox set address = null, sender = null, recipient = null from settled where inbox.id = settled.id

-- name: forget_messages
-- Whose address is still there may still have to be answered.
update inbox set body = null
where id in (
    select id from inbox
    where body is not null and created_at < now() - make_interval(days => :days) and address is null and sender is null
    order by created_at limit :at_once for update skip locked
)

-- name: forget_replies
update outbox set body = ''
where id in (
    select id from outbox
    where body <> '' and created_at < now() - make_interval(days => :days) and status <> 'pending'
    order by created_at limit :at_once for update skip locked
)

-- name: forget_unremembered_messages
update inbox set body = null
where id in (
    select id from inbox join consents using (pseudonym)
    where not memory and body is not null and created_at < now() - make_interval(days => :days)
        and address is null and sender is null
    limit :at_once for update of inbox skip locked
)

-- name: forget_unremembered_replies
update outbox set body = ''
where id in (
    select outbox.id from outbox join inbox on inbox.id = outbox.inbox_id join consents using (pseudonym)
    where not memory and outbox.body <> '' and outbox.created_at < now() - make_interval(days => :days) and status <> 'pending'
    limit :at_once for update of outbox skip locked
)

-- name: forget_alarms
-- What was heard of danger goes with the words: that somebody was helped at once and with what, or was asked about it. The steps
-- of the turn go too: they tell where it ended.
update turns set status = 'command', trace = trace - 'danger' - 'level' - 'options', timings_ms = '{}'
where inbox_id in (
    select inbox_id from turns
    where trace ? 'danger' and created_at < now() - make_interval(days => :days)
    order by created_at limit :at_once for update skip locked
)

-- name: forget_unremembered_alarms
update turns set status = 'command', trace = trace - 'danger' - 'level' - 'options', timings_ms = '{}'
where inbox_id in (
    select inbox_id from turns join consents using (pseudonym)
    where not memory and trace ? 'danger' and turns.created_at < now() - make_interval(days => :days)
    limit :at_once for update of turns skip locked
)

-- name: forget_figures
-- The turn goes with its ratings; of the message stays what stops a replay, and nothing says whose it was.
with old as (
    select inbox_id from turns
    where created_at < now() - make_interval(days => :days)
        and not exists (select from outbox where inbox_id = turns.inbox_id and status = 'pending')
    order by created_at limit :at_once for update skip locked
),
turned as (
    delete from turns using old where turns.inbox_id = old.inbox_id
),
sent as (
    update outbox set body = '' from old where outbox.inbox_id = old.inbox_id and body <> ''
)
update inbox set pseudonym = '', body = null, media_types = '{}', recordings = '{}', fence = fence + 1
from old where inbox.id = old.inbox_id

-- name: forget_choices
delete from consents
where pseudonym in (
    select pseudonym from consents held
    where decided_at < now() - make_interval(days => :days)
        and not exists (select from turns where turns.pseudonym = held.pseudonym)
    limit :at_once for update skip locked
)

-- name: forget_addresses
-- An address is needed while something may still be sent to it. A day after the last delivery the window for free text has
-- closed, and with it the need. The addresses of voice notes, which the channel keeps, go with it; of a message over a limit,
-- that nobody answered, everything.
update inbox set
    address = null, sender = null, recipient = null, recordings = '{}',
    body = case when exists (select from outbox where inbox_id = inbox.id) then body end,
    pseudonym = case when exists (select from outbox where inbox_id = inbox.id) then pseudonym else '' end
where id in (
    select id from inbox held
    where (address is not null or sender is not null)
        and created_at < now() - interval '24 hours'
        and not exists (
            select from outbox where inbox_id = held.id and (status = 'pending' or updated_at > now() - interval '24 hours')
        )
        and (over_limit is not null or exists (select from outbox where inbox_id = held.id))
    for update skip locked
)

-- name: plain
-- The previous release's workers can send to an address in clear only, so it stays in clear while one of them may take the
-- turn. The queue is the one that they serve.
select id, message_sid, channel, sender, recipient from inbox
where sender is not null
    and not exists (
        select from procrastinate_jobs job
        where job.queue_name = 'turns' and job.status in ('todo', 'doing') and (job.args ->> 'inbox_id')::bigint = inbox.id
    )
limit 500 for update of inbox skip locked

-- name: without_job
-- A message whose job is gone, or has failed for good, though something is left to do. None is known to get here; the
-- claim that nothing is lost should not hang on the job table alone.
select id, pseudonym from inbox
where (address is not null or sender is not null)
    and pseudonym <> ''
    and created_at < now() - interval '1 minute'
    and (over_limit is null or exists (select from outbox where inbox_id = inbox.id))
    and (
        not exists (select from outbox where inbox_id = inbox.id)
        or exists (select from outbox where inbox_id = inbox.id and status = 'pending')
    )
    and not exists (
        select from procrastinate_jobs job
        where job.status in ('todo', 'doing') and job.lock in (inbox.pseudonym, 'emergency:' || inbox.pseudonym)
            and (job.args ->> 'inbox_id')::bigint = inbox.id
    )
order by id limit 500 for update skip locked

-- name: receipt_without_job
-- The receipt of an erasure has no name any more, while the job that it had from before is still locked by one.
select id, pseudonym from inbox
where pseudonym = '' and (address is not null or sender is not null)
    and exists (
        select from outbox where inbox_id = inbox.id and status = 'pending' and created_at < now() - interval '1 minute'
    )
    and not exists (
        select from procrastinate_jobs job
        where job.status in ('todo', 'doing') and (job.args ->> 'inbox_id')::bigint = inbox.id
    )
order by id limit 500 for update skip locked

-- name: seal
update inbox set address = :address, sender = null, recipient = null where id = :id

-- name: alone
select pg_try_advisory_xact_lock(:rescheduling)
