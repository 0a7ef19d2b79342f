-- Stores the parts of a reply and its turn, all or nothing: in one statement, so that it takes one trip and no transaction
-- stays open. The row of the message is locked, so no turn begins meanwhile. Part 0 decides whether this is the first reply:
-- what another recorded while this waited for the lock is not in its snapshot, but it is in the unique index.
with held as (
    select id, pseudonym from inbox where id = :id and fence = :fence for update
),
first as (
    insert into outbox (inbox_id, part, body)
    select id, 0, (cast(:bodies as text[]))[1] from held
    on conflict do nothing
    returning inbox_id
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
)
select count(*) from held
