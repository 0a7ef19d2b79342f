-- Gives the parts of a reply that still have to be sent, in order, with the ends of the conversation as they are kept.
select outbox.id, outbox.body, outbox.part, outbox.attempts, outbox.resends,
       extract(epoch from clock_timestamp() - outbox.attempted_at)::float as uncertain_for,
       extract(epoch from clock_timestamp() - outbox.updated_at)::float as settled_for,
       inbox.message_sid, inbox.address, inbox.sender, inbox.recipient
  from outbox join inbox on inbox.id = outbox.inbox_id
 where outbox.inbox_id = :id and outbox.status = 'pending'
 order by outbox.part
