"""The job engine's own tables, installed and upgraded from the SQL files that procrastinate ships."""

from pathlib import Path

import procrastinate
from procrastinate.schema import SchemaManager
from sqlalchemy import Connection, text

# procrastinate ships its schema and one file for each change since, but keeps no record of what a database has: we do.
RECORD = "create table if not exists job_engine_migrations (name text primary key, applied_at timestamptz default now())"


def upgrade_job_engine(connection: Connection) -> list[str]:
    """Bring the job engine's tables to the installed release, in the caller's transaction; give the files applied."""
    folder = Path(SchemaManager.get_migrations_path())
    connection.execute(text(RECORD))
    known = set(connection.scalars(text("select name from job_engine_migrations")))
    pending = sorted(path.name for path in folder.glob("*.sql") if path.name not in known)
    if known:
        applied, scripts = pending, [(folder / name).read_text("utf-8") for name in pending]
    else:
        applied, scripts = [f"schema of procrastinate {procrastinate.__version__}"], [SchemaManager.get_schema()]
    for script in scripts:
        connection.execution_options(no_parameters=True).exec_driver_sql(script)
    for name in pending:
        connection.execute(text("insert into job_engine_migrations (name) values (:name)"), {"name": name})
    return applied
