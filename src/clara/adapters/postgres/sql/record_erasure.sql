-- Stores the receipt of an erasure and forgets the person, all or nothing, in the one statement that records the reply.
--
-- What came before the wish is forgotten; a message that came after it and still waits is the first of somebody new. Of a
-- forgotten message a row stays with the signed id, so that it cannot come again, and a fence under which nobody may write. The
-- message with the wish loses its words and its name at once, and keeps the sealed address until the receipt is out: upkeep
-- takes it then. A reply that was not out yet is not sent any more.
--
-- The ids under which the channel holds the replies of the last hour go to the receipt, as ids that it may not be taken for: an
-- earlier receipt reads the same. Locks go from the message with the wish to everything else, and nobody else holds two of them.
with held as (
    select id, pseudonym from inbox where id = :id and fence = :fence for update
),
before as materialized (
    select inbox.id from inbox join held on inbox.pseudonym = held.pseudonym and inbox.id < held.id where held.pseudonym <> ''
),
first as (
    insert into outbox (inbox_id, part, body, superseded_sids)
    select id, 0, (cast(:bodies as text[]))[1],
           array(
               select sid
                 from outbox cross join unnest(superseded_sids || provider_sid) as known (sid)
                where inbox_id in (select id from before) and sid is not null and updated_at > now() - interval '1 hour'
           )
      from held
    on conflict do nothing
    returning inbox_id, superseded_sids
),
others as (
    insert into outbox (inbox_id, part, body, superseded_sids)
    select inbox_id, place - 1, body, superseded_sids
      from first cross join unnest(cast(:bodies as text[])) with ordinality as given (body, place)
     where place > 1
),
person as materialized (
    select held.id, held.pseudonym from held join first on first.inbox_id = held.id where held.pseudonym <> ''
),
turn as (
    insert into turns (inbox_id, pseudonym, language, status, timings_ms, total_ms)
    select id, '', :language, :status, cast(:timings_ms as jsonb), :total_ms from person
),
forgotten_replies as (
    delete from outbox where inbox_id in (select id from before) and exists (select from person)
),
forgotten_turns as (
    -- Their ratings go with them.
    delete from turns using person where turns.pseudonym = person.pseudonym and turns.inbox_id < person.id
),
forgotten_counts as (
    delete from usage using person
     where scope = any (select kind || ':' || person.pseudonym from unnest(cast(:scopes as text[])) as scopes (kind))
),
forgotten_choices as (
    delete from consents using person where consents.pseudonym = person.pseudonym
),
forgotten_jobs as (
    -- What ended without success is kept by the job engine under its lock, which is the person's name.
    delete from procrastinate_jobs using person
     where lock in (person.pseudonym, 'emergency:' || person.pseudonym) and status not in ('todo', 'doing')
),
forgotten_messages as (
    update inbox set
        pseudonym = '', body = null, media_types = '{}', recordings = '{}', address = null, sender = null, recipient = null,
        over_limit = null, set_aside_at = null, looked_at = null, fence = fence + 1
     where id in (select id from before) and exists (select from person)
),
wish as (
    update inbox set
        pseudonym = '', body = null, media_types = '{}', recordings = '{}', over_limit = null, set_aside_at = null,
        looked_at = null
      from person
     where inbox.id = person.id
)
select null::bigint as id from held
