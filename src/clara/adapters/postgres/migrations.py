"""Bringing the database to the newest schema, from Alembic's scripts."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from clara.adapters.postgres.connections import UnsuitableServerError

# Any constant: one process migrates at a time, the others wait and find nothing to do.
LOCK = 5_305_001
NO_PRIVILEGE = "42501"


def upgrade(connection: Connection, scripts: Path) -> tuple[str | None, str | None]:
    """Migrate to the head inside the caller's transaction; give the revision before and after.

    One process migrates at a time; the others wait here and find nothing to do. Raises UnsuitableServerError when the
    database user may not create the extension.
    """
    connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
    connection.execute(text("set local statement_timeout = 0"))
    before = MigrationContext.configure(connection).get_current_revision()
    try:
        command.upgrade(_config(scripts, connection), "head")
    except ProgrammingError as error:
        if getattr(error.orig, "sqlstate", None) != NO_PRIVILEGE:
            raise
        raise UnsuitableServerError(
            "the user of RAG_DB_URL may not create what Clara needs. Ask the server's administrator to run "
            "CREATE EXTENSION vector; in this database, and to let the user create tables."
        ) from error
    return before, MigrationContext.configure(connection).get_current_revision()


def _config(scripts: Path, connection: object) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts))
    config.attributes["connection"] = connection
    return config
