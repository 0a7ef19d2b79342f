insert into gazette_days (day, state, issues, items, error, read_at)
values (:day, :state, :issues, :items, :error, :read_at)
on conflict (day) do update set
    -- A day that was read stays read, as it was and when it was, if reading it again fails: only its error is new.
    state = case when excluded.state = 'failed' then gazette_days.state else excluded.state end,
    read_at = case when excluded.state = 'failed' and gazette_days.state <> 'failed' then gazette_days.read_at else excluded.read_at end,
    -- Of two readings that failed, the most that was seen.
    issues = case
        when excluded.state = 'failed' and gazette_days.state <> 'failed' then gazette_days.issues
        else greatest(excluded.issues, case when excluded.state = 'failed' then gazette_days.issues else 0 end)
    end,
    items = case
        when excluded.state = 'failed' and gazette_days.state <> 'failed' then gazette_days.items
        else greatest(excluded.items, case when excluded.state = 'failed' then gazette_days.items else 0 end)
    end,
    tries = gazette_days.tries + 1,
    error = excluded.error
