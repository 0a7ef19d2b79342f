"""Versions of the knowledge: what is served, what waits, what was, and what people corrected.

The previous release knows none of these tables, so its processes may go on during an upgrade.

Revision: 0009, after 0008
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = """
create table publications (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    corpus TEXT NOT NULL,
    physical TEXT NOT NULL,
    state TEXT DEFAULT 'staged' NOT NULL,
    revisions BIGINT[] DEFAULT '{}' NOT NULL,
    gate JSONB DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    served_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_publications PRIMARY KEY (id),
    CONSTRAINT ck_publications_state CHECK (state in ('staged', 'refused', 'served', 'past', 'undone'))
);
create unique index ix_publications_served ON publications (corpus) WHERE state = 'served';
comment on table publications is 'versions of the knowledge, each in a corpus of its own';
comment on column publications.corpus is 'the name under which it is asked: clara';
comment on column publications.physical is 'the corpus that holds it';
comment on column publications.revisions is 'ids of the corrections that it holds';
comment on column publications.gate is 'measures of the evaluation, and what fell short';
create table served (
    name TEXT NOT NULL,
    physical TEXT NOT NULL,
    publication_id BIGINT NOT NULL,
    switched_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    CONSTRAINT pk_served PRIMARY KEY (name),
    CONSTRAINT fk_served_physical FOREIGN KEY(physical) REFERENCES corpora (name),
    CONSTRAINT fk_served_publication_id FOREIGN KEY(publication_id) REFERENCES publications (id)
);
comment on table served is 'which corpus stands behind a name; without a row the corpus of that name itself';
create table revisions (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    fact_id TEXT NOT NULL,
    fields JSONB NOT NULL,
    base_digest TEXT NOT NULL,
    reason TEXT NOT NULL,
    finding_id BIGINT,
    made_by TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    publication_id BIGINT,
    withdrawn_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_revisions PRIMARY KEY (id),
    CONSTRAINT fk_revisions_finding_id FOREIGN KEY(finding_id) REFERENCES findings (id) ON DELETE SET NULL,
    CONSTRAINT fk_revisions_publication_id FOREIGN KEY(publication_id) REFERENCES publications (id)
);
create index ix_revisions_fact_id ON revisions (fact_id);
comment on table revisions is 'facts that a person has corrected since the release';
comment on column revisions.fields is 'fields of the fact that replace those of data/';
comment on column revisions.base_digest is 'of the fact in data/ that it was made for: another one wins over it';
comment on column revisions.publication_id is 'that served it first; empty: a draft';
create table evidence_versions (
    corpus TEXT NOT NULL,
    passage_id TEXT NOT NULL,
    known_from TIMESTAMP WITH TIME ZONE NOT NULL,
    known_until TIMESTAMP WITH TIME ZONE,
    digest TEXT NOT NULL,
    content JSONB NOT NULL,
    CONSTRAINT pk_evidence_versions PRIMARY KEY (corpus, passage_id, known_from)
);
create unique index ix_evidence_versions_open ON evidence_versions (corpus, passage_id) WHERE known_until is null;
comment on table evidence_versions is 'everything that was ever served, with the time during which it was';
comment on column evidence_versions.corpus is 'the name under which it was asked';
comment on column evidence_versions.known_until is 'empty: still served';
comment on column evidence_versions.content is 'the passage, so that a past answer can be given again';
"""

# What is served at this moment is the first version of everything.
FIRST = """
insert into evidence_versions (corpus, passage_id, known_from, digest, content)
select p.corpus, p.id, now(), p.digest,
       jsonb_build_object('id', p.id, 'collection', p.collection, 'document_id', p.document_id, 'section', p.section,
                          'heading', p.heading, 'text', p.text, 'language', p.language, 'territory', p.territory,
                          'metadata', p.metadata)
  from passages p
 where p.corpus in ('clara', 'law');
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(FIRST)


def downgrade() -> None:
    op.execute("drop table evidence_versions, revisions, served, publications")
