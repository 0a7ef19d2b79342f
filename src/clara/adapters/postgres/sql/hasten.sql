-- Moves a message that waits for its turn to the lane of emergencies; one whose turn has begun stays as it is.
update procrastinate_jobs job set priority = cast(:priority as integer), lock = cast(:lock as text) || inbox.pseudonym
  from inbox
 where inbox.message_sid = :sid and inbox.pseudonym <> '' and job.status = 'todo' and job.lock = inbox.pseudonym
   and (job.args ->> 'inbox_id')::bigint = inbox.id
