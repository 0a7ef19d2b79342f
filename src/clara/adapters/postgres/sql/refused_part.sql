-- Notes that the channel will never take the part, unless somebody else's later try may still succeed.
update outbox set status = 'failed', error_code = :code, attempted_at = null, updated_at = now()
 where id = :part and status = 'pending' and attempts <= :attempts + 1
