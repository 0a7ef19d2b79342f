insert into gazette_days (day, state, issues, items, error, read_at)
values (:day, :state, :issues, :items, :error, :read_at)
on conflict (day) do update set
    state = excluded.state,
    -- What a failed reading did not see is kept from the one before.
    issues = greatest(excluded.issues, case when excluded.state = 'failed' then gazette_days.issues else 0 end),
    items = greatest(excluded.items, case when excluded.state = 'failed' then gazette_days.items else 0 end),
    tries = gazette_days.tries + 1,
    error = excluded.error,
    read_at = excluded.read_at
