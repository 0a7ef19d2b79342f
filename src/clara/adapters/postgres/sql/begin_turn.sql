-- Begins the turn of a message under a new fence, and gives what is known of its conversation. An erased message keeps its
-- row, so that it cannot come again, and has no turn; but the receipt of an erasure, which nobody's name stands on any more,
-- has one while there is an address to bring it to. What was said before is given for half an hour, unless the person does not
-- want it.
with begun as (
    update inbox set
        fence = fence + 1,
        tries = tries + (not exists (select from outbox where inbox_id = inbox.id))::int,
        set_aside_at = case
            when tries >= :often and not exists (select from outbox where inbox_id = inbox.id)
            then coalesce(set_aside_at, now()) else set_aside_at
        end
    where id = :id and (pseudonym <> '' or address is not null or sender is not null)
    returning *
),
spoken as (
    select jsonb_build_object(
               'question', coalesce(left(earlier.body, :longest), ''),
               'status', turns.status,
               'language', turns.language,
               'citations', turns.citations,
               'options', turns.trace -> 'options',
               'danger', turns.trace -> 'danger',
               'age', extract(epoch from clock_timestamp() - turns.created_at)::float
           ) as said,
           turns.created_at
      from begun
      join turns on turns.pseudonym = begun.pseudonym and turns.inbox_id <> begun.id
      join inbox earlier on earlier.id = turns.inbox_id
     where begun.pseudonym <> ''
       and turns.created_at > now() - make_interval(secs => :remembered_seconds)
       and not exists (select from consents where consents.pseudonym = begun.pseudonym and not memory)
     order by turns.created_at desc
     limit :remembered_turns
)
select begun.message_sid, begun.channel, begun.body, begun.media_types, begun.recordings, begun.received_at, begun.pseudonym,
       begun.fence, begun.tries, begun.over_limit,
       exists (select from outbox where inbox_id = begun.id) as answered,
       extract(epoch from clock_timestamp() - received_at)::float as age,
       (select language from turns
         where turns.pseudonym = begun.pseudonym and inbox_id <> begun.id
         order by turns.created_at desc limit 1) as earlier,
       (select coalesce(jsonb_agg(said order by created_at desc), '[]') from spoken) as past
  from begun
