"""The tables, as SQLAlchemy Core. Triggers and the indexes made per vector space are in the migrations.

The lexical index (postings, lexicon, and the totals in corpora) is derived from passages by triggers in the same
transaction, so it is right after every insert, update and delete, whoever makes it.
"""

from typing import Any

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _now() -> Column[Any]:
    return Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now())


corpora = Table(
    "corpora",
    metadata,
    Column("name", Text, primary_key=True),
    Column("languages", ARRAY(Text), nullable=False, server_default="{}"),
    Column("passages", BigInteger, nullable=False, server_default="0"),
    Column("terms", BigInteger, nullable=False, server_default="0", comment="sum of the lengths of the passages"),
    Column(
        "version",
        BigInteger,
        nullable=False,
        server_default=text("(extract(epoch from clock_timestamp()) * 1000000)::bigint"),
        comment="microseconds, grows with every change of passages: what was remembered under another is void",
    ),
    Column(
        "profile", Text, nullable=False, server_default="procedures", comment="how it is searched: a name of data/profiles.json"
    ),
    Column("model", Text, comment="whose vectors are searched; empty: nothing was embedded yet"),
    # No corpus is served by a model that it has no vector space of.
    ForeignKeyConstraint(
        ["name", "model"], ["vector_spaces.corpus", "vector_spaces.model"], name="fk_corpora_model", use_alter=True
    ),
)

passages = Table(
    "passages",
    metadata,
    Column("pk", BigInteger, Identity(always=True), primary_key=True),
    Column("corpus", Text, ForeignKey("corpora.name", ondelete="CASCADE"), nullable=False),
    Column("id", Text, nullable=False),
    Column("collection", Text, nullable=False),
    Column("document_id", Text, nullable=False),
    Column("section", Text, nullable=False),
    Column("heading", ARRAY(Text), nullable=False),
    Column("text", Text, nullable=False),
    Column("indexed_text", Text, nullable=False, comment="what both legs of the search see"),
    Column("language", Text, nullable=False),
    Column("territory", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("metadata", JSONB, nullable=False),
    _now(),
    UniqueConstraint("corpus", "id"),
    Index(None, "corpus", "document_id"),
)

postings = Table(
    "postings",
    metadata,
    Column("corpus", Text, primary_key=True),
    Column("term", Text, primary_key=True),
    Column("passage_pk", BigInteger, primary_key=True),
    Column("frequency", SmallInteger, nullable=False),
    Column("length", Integer, nullable=False, comment="terms in the passage"),
    Index(None, "passage_pk"),
)

lexicon = Table(
    "lexicon",
    metadata,
    Column("corpus", Text, primary_key=True),
    Column("term", Text, primary_key=True),
    Column("passages", BigInteger, nullable=False, comment="document frequency"),
)

vector_spaces = Table(
    "vector_spaces",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False, comment="computed from corpus and model"),
    Column("corpus", Text, ForeignKey("corpora.name", ondelete="CASCADE"), nullable=False),
    Column("model", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
    UniqueConstraint("corpus", "model"),
)

embeddings = Table(
    "embeddings",
    metadata,
    Column("space_id", BigInteger, ForeignKey("vector_spaces.id", ondelete="CASCADE"), primary_key=True),
    Column("passage_pk", BigInteger, ForeignKey("passages.pk", ondelete="CASCADE"), primary_key=True),
    Column("digest", Text, nullable=False, comment="of the text that was embedded"),
    Column("vector", VECTOR, nullable=False, comment="any size: one column holds the vectors of every model"),
    CheckConstraint("vector_norm(vector) between 0.99 and 1.01", name="unit_length"),
    Index(None, "passage_pk"),
)

links = Table(
    "links",
    metadata,
    Column("source_pk", BigInteger, ForeignKey("passages.pk", ondelete="CASCADE"), primary_key=True),
    Column("target_pk", BigInteger, ForeignKey("passages.pk", ondelete="CASCADE"), primary_key=True),
    Index(None, "target_pk"),
)

names = Table(
    "names",
    metadata,
    Column("corpus", Text, primary_key=True),
    Column(
        "name", Text, primary_key=True, comment="under which other texts and questions may speak of the passage, case folded"
    ),
    Column("passage_pk", BigInteger, ForeignKey("passages.pk", ondelete="CASCADE"), primary_key=True),
    Index(None, "passage_pk"),
)

remembered_embeddings = Table(
    "remembered_embeddings",
    metadata,
    Column("key", Text, primary_key=True, comment="digest of model, role and normalised text"),
    Column("model", Text, nullable=False),
    Column("vector", VECTOR, nullable=False),
    Column("milliseconds", Float, nullable=False, comment="what computing it took"),
    Column("uses", BigInteger, nullable=False, server_default="0"),
    _now(),
    Column("used_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index(None, "used_at"),
)

embedding_memory_totals = Table(
    "embedding_memory_totals",
    metadata,
    Column("model", Text, primary_key=True),
    Column("hits", BigInteger, nullable=False, server_default="0"),
    Column("misses", BigInteger, nullable=False, server_default="0"),
    Column("saved_ms", Float, nullable=False, server_default="0"),
)

rag_metrics = Table(
    "rag_metrics",
    metadata,
    Column("name", Text, primary_key=True),
    Column("labels", ARRAY(Text), primary_key=True),
    Column("value", Float, nullable=False),
    comment="counters that only ever grow, summed over all processes",
)

inbox = Table(
    "inbox",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("message_sid", Text, nullable=False, unique=True, comment="signed by the channel: the key that stops replays"),
    Column("channel", Text, nullable=False),
    Column("pseudonym", Text, nullable=False, comment="keyed HMAC of the sender's address; empty: forgotten"),
    Column("sender", Text, comment="in clear only when the previous release wrote it; sealed by the next worker"),
    Column("recipient", Text),
    Column("body", Text),
    Column("media_types", ARRAY(Text), nullable=False, server_default="{}"),
    _now(),
    Column("address", LargeBinary, comment="sender and recipient, sealed with AES-GCM; empty a day after the last delivery"),
    Column("received_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column(
        "fence",
        BigInteger,
        nullable=False,
        server_default="0",
        comment="grows with every beginning of the turn: what is written under an older one is refused",
    ),
    Column("tries", Integer, nullable=False, server_default="0", comment="beginnings that have not led to a recorded reply"),
    Column("over_limit", Text, comment="the limit that the message was over; empty: none"),
    Column(
        "set_aside_at",
        DateTime(timezone=True),
        comment="when it had broken its worker too often: a person should look at it",
    ),
    Column("looked_at", DateTime(timezone=True)),
    Column("recordings", ARRAY(Text), nullable=False, server_default="{}", comment="voice notes at the channel, for a day"),
    Index(None, "pseudonym"),
    Index("ix_inbox_receipts", "id", postgresql_where=text("pseudonym = '' and (address is not null or sender is not null)")),
    Index("ix_inbox_texts", "created_at", postgresql_where=text("body is not null")),
    Index("ix_inbox_address_created_at", "created_at", postgresql_where=text("address is not null or sender is not null")),
    Index("ix_inbox_set_aside_at", "set_aside_at", postgresql_where=text("set_aside_at is not null and looked_at is null")),
)

outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("inbox_id", BigInteger, ForeignKey("inbox.id", ondelete="CASCADE"), nullable=False),
    Column("body", Text, nullable=False),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("provider_sid", Text, unique=True),
    Column("error_code", Text),
    _now(),
    Column("updated_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("part", SmallInteger, nullable=False, server_default="0"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("attempted_at", DateTime(timezone=True), comment="when a try to send began whose outcome nobody recorded"),
    Column("resends", Integer, nullable=False, server_default="0"),
    Column(
        "superseded_sids",
        ARRAY(Text),
        nullable=False,
        server_default="{}",
        comment="ids that no try of this part may be taken for: failed for the rate, or erased",
    ),
    UniqueConstraint("inbox_id", "part"),
    Index("ix_outbox_texts", "created_at", postgresql_where=text("body <> ''")),
    Index("ix_outbox_pending", "id", postgresql_where=text("status = 'pending'")),
)

usage = Table(
    "usage",
    metadata,
    Column("scope", Text, primary_key=True),
    Column("window_start", DateTime(timezone=True), primary_key=True),
    Column("shard", SmallInteger, primary_key=True, server_default="0"),
    Column("used", BigInteger, nullable=False, server_default="0"),
    Index(None, "window_start"),
    comment="messages and answers counted for the limits",
)

turns = Table(
    "turns",
    metadata,
    Column("inbox_id", BigInteger, ForeignKey("inbox.id", ondelete="CASCADE"), primary_key=True),
    Column("pseudonym", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("tier", Text),
    Column("citations", JSONB, nullable=False, server_default="[]"),
    Column("timings_ms", JSONB, nullable=False, server_default="{}"),
    Column("total_ms", Float, nullable=False),
    Column("trace", JSONB, nullable=False, server_default="{}"),
    _now(),
    Index(None, "pseudonym", "created_at"),
    Index(None, "created_at"),
    Index("ix_turns_danger", "created_at", postgresql_where=text("trace ? 'danger'")),
)

consents = Table(
    "consents",
    metadata,
    Column("pseudonym", Text, primary_key=True),
    Column("memory", Boolean, nullable=False),
    Column("decided_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Index(None, "decided_at"),
    comment="what people chose; who chose nothing is remembered for half an hour",
)

feedback = Table(
    "feedback",
    metadata,
    Column("turn_id", BigInteger, ForeignKey("turns.inbox_id", ondelete="CASCADE"), primary_key=True),
    Column("rating", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("tier", Text),
    Column("document_id", Text),
    _now(),
    CheckConstraint("rating in ('helpful', 'unhelpful', 'wrong')", name="rating"),
    Index(None, "created_at"),
    comment="what people said of an answer, as a category: no words",
)
