-- Gives those of the channel's ids that no part is recorded under, and that were not given up by a part for the same person.
select sid from unnest(cast(:sids as text[])) with ordinality as given (sid, place)
 where not exists (select from outbox where provider_sid = sid)
   and not exists (
        select from outbox given_up join inbox held on held.id = given_up.inbox_id
         where sid = any (superseded_sids)
           and held.pseudonym = (select pseudonym from inbox join outbox on inbox.id = inbox_id where outbox.id = :part)
   )
 order by place
