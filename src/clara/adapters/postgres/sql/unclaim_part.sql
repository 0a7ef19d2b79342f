-- Notes that the try that was claimed did not reach the channel. A later try is not touched.
update outbox set attempted_at = null, updated_at = now()
 where id = :part and status = 'pending' and attempts = :attempts + 1
