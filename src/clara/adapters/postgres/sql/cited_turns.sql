-- How many answers of the last days quote each of these facts.
select citation ->> 'passage_id' as fact_id, count(distinct turns.inbox_id) as turns
from turns cross join lateral jsonb_array_elements(turns.citations) as citation
where turns.created_at > now() - make_interval(days => :days)
    and citation ->> 'passage_id' = any (cast(:facts as text[]))
group by 1
