-- Gives findings, the newest first, with what each touches: facts, their procedures, and answers of the last days that cited them.
with page as (
    select * from findings
    where (
            cast(:state as text) is null or state = :state
            or :state = 'undecided' and id in (select finding_id from facts_in_doubt where state = 'accepted' and not drafted)
        )
        and (cast(:before as bigint) is null or id < :before)
        and (cast(:number as bigint) is null or id = :number)
    order by id desc limit :limit
),
touched as (
    select
        finding_id,
        jsonb_agg(
            jsonb_build_object(
                'fact', fact_id, 'relation', relation, 'text', told.text, 'proposal', proposal, 'reason', reason,
                'state', case
                    when doubt.drafted then 'drafted' when doubt.drafted is not null then 'undecided' else coalesce(decision, '-')
                end
            ) order by fact_id
        ) as facts,
        array_agg(fact_id) as ids
    from finding_facts
    left join facts_in_doubt as doubt using (finding_id, fact_id)
    left join passages as told
        on told.corpus = coalesce((select physical from served where name = :corpus), :corpus) and told.id = fact_id
    where finding_id in (select id from page) group by finding_id
),
-- One pass over the turns of these days, whatever the number of findings: only those that cite a fact that is touched.
cited as materialized (
    select turns.inbox_id, citation ->> 'passage_id' as fact_id
    from turns cross join jsonb_array_elements(citations) as citation
    where turns.created_at > now() - make_interval(days => :days)
        and citation ->> 'passage_id' in (select fact_id from finding_facts where finding_id in (select id from page))
)
select
    page.id, source_id as source, kind, weight, place, title, before, after, figures, found_at, state, decided_at, decided_by,
    reason, coalesce(touched.facts, '[]') as facts,
    array(
        select distinct document_id from passages
        where corpus = coalesce((select physical from served where name = :corpus), :corpus) and passages.id = any (touched.ids)
        order by document_id
    ) as procedures,
    (select count(distinct inbox_id) from cited where fact_id = any (touched.ids)) as answers,
    array(
        select inbox_id from cited where fact_id = any (touched.ids) group by inbox_id order by inbox_id desc limit :turns
    ) as turns
from page left join touched on touched.finding_id = page.id
order by page.id desc
