"""What a person decided about each fact that a finding touches, and which facts are in doubt.

The previous release neither reads nor writes the new columns, so its processes may go on during an upgrade. Facts of findings
that were accepted before are undecided, and in doubt again, unless a correction of them is served.

Revision: 0012, after 0011
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TABLES = """
alter table finding_facts
    add column decision TEXT,
    add column reason TEXT,
    add column decided_at TIMESTAMP WITH TIME ZONE,
    add column decided_by TEXT,
    add CONSTRAINT ck_finding_facts_decision CHECK (decision in ('corrected', 'holds'));
comment on column finding_facts.relation is 'provision, norm, source or formula: by what the finding touches it';
comment on column finding_facts.decision is 'of a person, about this fact: corrected, or holds; empty: nobody decided';
comment on column finding_facts.reason is 'why it holds';
create view facts_in_doubt as
select
    t.finding_id, t.fact_id, f.state, f.found_at,
    exists (
        select from revisions r
        where r.finding_id = t.finding_id and r.fact_id = t.fact_id and r.publication_id is null and r.withdrawn_at is null
    ) as drafted
from finding_facts t join findings f on f.id = t.finding_id
where f.weight = 'substantive' and (
    f.state = 'open'
    or f.state = 'accepted' and t.decision is distinct from 'holds' and not exists (
        select from revisions r
        where r.finding_id = t.finding_id and r.fact_id = t.fact_id and r.publication_id is not null and r.withdrawn_at is null
    )
);
comment on view facts_in_doubt is 'facts that answers warn of: undecided, or corrected and not served yet; drafted: a correction waits';
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute("""
        drop view facts_in_doubt;
        alter table finding_facts drop column decision, drop column reason, drop column decided_at, drop column decided_by;
        comment on column finding_facts.relation is 'provision, norm or source: what of the fact the finding touches';
    """)
