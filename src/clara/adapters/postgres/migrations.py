"""Bringing the database to the newest schema, from Alembic's scripts."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, text

from clara.adapters.postgres.engine import translated

# Any constant: one process migrates at a time, the others wait and find nothing to do.
LOCK = 5_305_001


def upgrade(engine: Engine, scripts: Path) -> tuple[str | None, str | None]:
    """Migrate to the head; give the revision before and after. Raises DatabaseUnavailableError."""
    with translated(), engine.begin() as connection:
        connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        connection.execute(text("set local statement_timeout = 0"))
        before = MigrationContext.configure(connection).get_current_revision()
        command.upgrade(_config(scripts, connection), "head")
        after = MigrationContext.configure(connection).get_current_revision()
    return before, after


def differences(engine: Engine, scripts: Path) -> None:
    """Raise alembic.util.CommandError when the tables of schema.py and of the database differ."""
    with translated(), engine.begin() as connection:
        command.check(_config(scripts, connection))


def _config(scripts: Path, connection: object) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts))
    config.attributes["connection"] = connection
    return config
