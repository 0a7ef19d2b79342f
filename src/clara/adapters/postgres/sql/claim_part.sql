-- Notes that a try to send begins, unless the turn was begun again, or the part tried or settled by somebody else.
update outbox set attempts = outbox.attempts + 1, attempted_at = clock_timestamp(), updated_at = now()
  from inbox
 where outbox.id = :part and outbox.status = 'pending' and outbox.attempts = :attempts
   and inbox.id = outbox.inbox_id and inbox.fence = :fence
