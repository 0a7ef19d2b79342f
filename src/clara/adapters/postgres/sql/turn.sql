-- name: reply_to
select inbox.id, outbox.body, turns.language
from inbox left join outbox on outbox.inbox_id = inbox.id left join turns on turns.inbox_id = inbox.id
where inbox.message_sid = :sid order by outbox.part

-- name: recorded
select status, tier, trace, inbox.body as text, language, citations,
    turns.created_at - make_interval(secs => total_ms / 1000) as begun_at
from turns join inbox on inbox.id = turns.inbox_id
where turns.inbox_id = :id
