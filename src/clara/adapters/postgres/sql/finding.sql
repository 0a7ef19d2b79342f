-- name: read
select id, source_id, kind, weight, place, title, before, after, figures, snapshot_id, found_at, state, decided_at, decided_by, reason
from findings
where id = :id
    or state = :state
    or :undecided and id in (select finding_id from facts_in_doubt where state = 'accepted' and not drafted)
order by id

-- name: touched
-- The facts that findings touch, with what was decided about each and whether answers warn of it.
select t.finding_id, t.fact_id, t.relation, t.proposal, t.decision, t.reason, t.decided_at,
    d.fact_id is not null as doubtful, coalesce(d.drafted, false) as drafted
from finding_facts t left join facts_in_doubt d on d.finding_id = t.finding_id and d.fact_id = t.fact_id
where t.finding_id = any (:findings)
order by t.finding_id, t.fact_id

-- name: keep
-- What is found again is open again, unless it was decided. A cosmetic difference is decided by rule.
insert into findings (
    source_id, kind, weight, place, title, before, after, figures, snapshot_id, digest, state, decided_by, decided_at
)
values (
    :source_id, :kind, :weight, :place, :title, :before, :after, :figures, :snapshot_id, :digest, :state, :decided_by,
    case when :state = 'accepted' then now() end
)
on conflict (digest) do update set
    snapshot_id = excluded.snapshot_id,
    state = case when findings.state in ('open', 'superseded') then excluded.state else findings.state end
returning id, state

-- name: forget_touched
delete from finding_facts where finding_id = :id

-- name: touch
insert into finding_facts (finding_id, fact_id, relation, proposal)
values (:id, :fact_id, :relation, :proposal)

-- name: supersede
update findings set state = 'superseded' where source_id = :source_id and state = 'open' and not id = any (:kept)

-- name: decide
update findings set state = :state, decided_at = now(), decided_by = :actor, reason = :reason where id = :id

-- name: decide_fact
update finding_facts set decision = :decision, reason = :reason, decided_at = now(), decided_by = :actor
where finding_id = :id and fact_id = :fact_id

-- name: withdraw_drafts
update revisions set withdrawn_at = now()
where finding_id = :id and fact_id = :fact_id and publication_id is null and withdrawn_at is null

-- name: states
-- Of a snapshot: its own state, and those of its findings.
select state, array(select distinct state from findings where snapshot_id = :id) as findings from snapshots where id = :id

-- name: spend
-- The decision has done its work: should the source go back and say this again one day, a person decides again.
update findings set digest = digest || '/' || id where snapshot_id = :id and state = 'accepted'
