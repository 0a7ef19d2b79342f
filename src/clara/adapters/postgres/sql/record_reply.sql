-- Stores the parts of a reply and its turn, all or nothing: in one statement, so that it takes one trip and no transaction
-- stays open. The row of the message is locked, so no turn begins meanwhile. Part 0 decides whether this is the first reply:
-- what another recorded while this waited for the lock is not in its snapshot, but it is in the unique index. With it goes what
-- the person decided: about memory, or about the last answer of the day before, as a category.
--
-- With `claimed` the first part is recorded as one that a try to send begins of now (claim_part.sql), and given back with the
-- ends of the conversation: whoever recorded the reply sends it next, and saves two statements.
with held as (
    select id, pseudonym, message_sid, address, sender, recipient from inbox where id = :id and fence = :fence for update
),
first as (
    insert into outbox (inbox_id, part, body, attempts, attempted_at)
    select id, 0, (cast(:bodies as text[]))[1], cast(:claimed as boolean)::int, case when :claimed then clock_timestamp() end
      from held
    on conflict do nothing
    returning id, inbox_id
),
others as (
    insert into outbox (inbox_id, part, body)
    select inbox_id, place - 1, body
      from first cross join unnest(cast(:bodies as text[])) with ordinality as given (body, place)
     where place > 1
),
turn as (
    insert into turns (inbox_id, pseudonym, language, status, tier, citations, timings_ms, trace, total_ms)
    select held.id, held.pseudonym, :language, :status, :tier, cast(:citations as jsonb), cast(:timings_ms as jsonb),
           cast(:trace as jsonb), :total_ms
      from held join first on first.inbox_id = held.id
    on conflict do nothing
),
chosen as (
    insert into consents (pseudonym, memory)
    select held.pseudonym, cast(:memory as boolean)
      from held join first on first.inbox_id = held.id
     where cast(:memory as boolean) is not null and held.pseudonym <> ''
    on conflict (pseudonym) do update set memory = excluded.memory, decided_at = now()
),
rated as (
    insert into feedback (turn_id, rating, language, tier, document_id)
    select answer.inbox_id, cast(:rating as text), answer.language, answer.tier, answer.citations -> 0 ->> 'document_id'
      from held
      join first on first.inbox_id = held.id
      cross join lateral (
          select * from turns
           where turns.pseudonym = held.pseudonym and turns.inbox_id <> held.id
             and status = any (cast(:rateable as text[])) and created_at > now() - interval '1 day'
           order by created_at desc
           limit 1
      ) answer
     where cast(:rating as text) is not null and held.pseudonym <> ''
    on conflict (turn_id) do update set rating = excluded.rating, created_at = now()
)
select first.id, held.message_sid, held.address, held.sender, held.recipient
  from held left join first on first.inbox_id = held.id
