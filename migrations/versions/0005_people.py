"""People's rights: voice notes, the choice about memory, ratings, and what retention looks for.

Everything that the previous release reads and writes stays as it is, so that its processes may go on during an upgrade.

Revision: 0005, after 0004
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

CHANGES = """
alter table inbox add column recordings text[] not null default '{}';
comment on column inbox.pseudonym is 'keyed HMAC of the sender''s address; empty: forgotten';
comment on column inbox.recordings is 'voice notes at the channel, for a day';
comment on column outbox.superseded_sids is 'ids that no try of this part may be taken for: failed for the rate, or erased';
create index ix_inbox_texts on inbox (created_at) where body is not null;
create index ix_inbox_receipts on inbox (id) where pseudonym = '' and (address is not null or sender is not null);
create index ix_outbox_texts on outbox (created_at) where body <> '';
create index ix_turns_created_at on turns (created_at);

create table consents (
    pseudonym text constraint pk_consents primary key,
    memory boolean not null,
    decided_at timestamptz not null default now()
);
comment on table consents is 'what people chose; who chose nothing is remembered for half an hour';
create index ix_consents_decided_at on consents (decided_at);

create table feedback (
    turn_id bigint constraint pk_feedback primary key
        constraint fk_feedback_turn_id references turns (inbox_id) on delete cascade,
    rating text not null constraint ck_feedback_rating check (rating in ('helpful', 'unhelpful', 'wrong')),
    language text not null,
    tier text,
    document_id text,
    created_at timestamptz not null default now()
);
comment on table feedback is 'what people said of an answer, as a category: no words';
create index ix_feedback_created_at on feedback (created_at);
"""


def upgrade() -> None:
    op.execute(CHANGES)


def downgrade() -> None:
    op.execute("""
drop table feedback, consents;
drop index ix_inbox_texts, ix_inbox_receipts, ix_outbox_texts, ix_turns_created_at;
alter table inbox drop column recordings;
comment on column inbox.pseudonym is 'keyed HMAC of the sender''s address';
comment on column outbox.superseded_sids is 'ids of tries that the channel took and then failed for its rate';
""")
