-- Stores a message unless its signed id is known; gives its number.
insert into inbox (message_sid, channel, pseudonym, address, body, media_types, received_at, recordings)
values (:message_sid, :channel, :pseudonym, :address, :body, cast(:media_types as text[]),
        coalesce(cast(:received_at as timestamptz), now()), cast(:recordings as text[]))
on conflict do nothing
returning id
