-- name: outlive
-- The locks of a machine that vanished without a word go when the server notices, by default after two hours. On a UNIX socket
-- the first three are ignored, and not needed.
select
    set_config('tcp_keepalives_idle', '10', false) as idle,
    set_config('tcp_keepalives_interval', '5', false) as every,
    set_config('tcp_keepalives_count', '3', false) as times,
    set_config('application_name', :application, false) as application,
    set_config('lock_timeout', :lock_timeout, false) as lock_timeout,
    set_config('statement_timeout', :statement_timeout, false) as statement_timeout

-- name: unhurried
set local statement_timeout = 0
