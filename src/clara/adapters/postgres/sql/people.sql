-- name: known
-- The message that asks is not counted: it has no turn yet. The most spoken language comes first.
with own as (
    select inbox.body, turns.language, (turns.created_at at time zone 'Europe/Madrid')::date as day
    from turns join inbox on inbox.id = turns.inbox_id
    where turns.pseudonym = :pseudonym
)
select
    count(*) as messages,
    count(body) as texts,
    min(day) as first_on,
    max(day) as last_on,
    array(select language from own group by language order by count(*) desc, language) as languages,
    (select count(*) from feedback join turns on turns.inbox_id = turn_id where pseudonym = :pseudonym) as ratings,
    coalesce((select memory from consents where pseudonym = :pseudonym), true) as memory,
    exists (select from consents where pseudonym = :pseudonym) as chosen
from own

-- name: counts
with answers as (
    select
        coalesce(turns.citations -> 0 ->> 'document_id', 'none') as procedure,
        turns.language,
        coalesce(turns.tier, 'none') as tier,
        rating
    from turns left join feedback on turn_id = turns.inbox_id
    where status = any (cast(:rateable as text[])) and turns.created_at > now() - make_interval(days => :days)
)
select
    procedure, language, tier, grouping(procedure, language, tier) as level,
    count(*) as answers,
    count(*) filter (where rating = 'helpful') as helpful,
    count(*) filter (where rating = 'unhelpful') as unhelpful,
    count(*) filter (where rating = 'wrong') as wrong
from answers
group by grouping sets ((), (procedure), (language), (tier))
order by answers desc, procedure, language, tier
