"""Alembic's entry: runs the migrations on the connection it is handed."""

from alembic import context
from sqlalchemy.sql.schema import SchemaItem

from clara.adapters.postgres.editorial import schema as editorial
from clara.adapters.postgres.operations import schema as operations
from clara.adapters.postgres.schema import metadata

# Importing them adds their tables to the metadata.
TABLES = (editorial, operations)


def ours(_item: SchemaItem, name: str | None, _kind: str, _reflected: bool, _compared: SchemaItem | None) -> bool:
    """Leave alone the job engine's tables and the HNSW indexes, which are made per vector space at run time."""
    return not (name or "").startswith(("procrastinate_", "job_engine_", "hnsw_"))


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    include_object=ours,
    compare_type=True,
    compare_server_default=False,
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
