-- Begins the turn of a message under a new fence, and gives what is known of its conversation. An erased message keeps its
-- row, so that it cannot come again, and has no turn.
with begun as (
    update inbox set
        fence = fence + 1,
        tries = tries + (not exists (select from outbox where inbox_id = inbox.id))::int,
        set_aside_at = case
            when tries >= :often and not exists (select from outbox where inbox_id = inbox.id)
            then coalesce(set_aside_at, now()) else set_aside_at
        end
    where id = :id and pseudonym <> ''
    returning *
)
select begun.message_sid, begun.channel, begun.body, begun.media_types, begun.received_at, begun.pseudonym, begun.fence,
       begun.tries, begun.over_limit,
       exists (select from outbox where inbox_id = begun.id) as answered,
       extract(epoch from clock_timestamp() - received_at)::float as age,
       (select language from turns
         where turns.pseudonym = begun.pseudonym and inbox_id <> begun.id
         order by turns.created_at desc limit 1) as earlier
  from begun
