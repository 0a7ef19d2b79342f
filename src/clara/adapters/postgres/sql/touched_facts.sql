-- Gives the facts that findings touch, with what was decided about each and whether answers warn of it.
select t.finding_id, t.fact_id, t.relation, t.proposal, t.decision, t.reason, t.decided_at,
    d.fact_id is not null as doubtful, coalesce(d.drafted, false) as drafted
from finding_facts t left join facts_in_doubt d on d.finding_id = t.finding_id and d.fact_id = t.fact_id
where t.finding_id = any (:findings)
order by t.finding_id, t.fact_id
