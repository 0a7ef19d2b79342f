"""The migrations are the schema: whatever way a database took to the newest one, it is the same."""

from collections.abc import Callable

from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import text

from clara.adapters.postgres import migrations
from clara.adapters.postgres.connections import is_current, open_engine
from clara.adapters.procrastinate.schema import upgrade_job_engine
from clara.container import Container
from clara.settings import resources

SCRIPTS = resources() / "migrations"
NEWEST = max(path.name.split("_")[0] for path in (SCRIPTS / "versions").glob("[0-9]*.py"))


# Everything that a table is made of, and the functions that its triggers call.
SCHEMA = """
select format('%s.%s %s %s %s', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
              col_description(attrelid, attnum)) from pg_attribute join pg_class on pg_class.oid = attrelid
 where relnamespace = 'public'::regnamespace and relkind in ('r', 'v') and attnum > 0 and not attisdropped
union all select pg_get_constraintdef(oid) || conname from pg_constraint where connamespace = 'public'::regnamespace
union all select indexdef from pg_indexes where schemaname = 'public'
union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
union all select definition from pg_views where schemaname = 'public'
union all select prosrc from pg_proc where pronamespace = 'public'::regnamespace and prolang <> 13
"""


def test_migrating_twice_changes_nothing(empty_url: str, services_on: Callable[..., Container]) -> None:
    """A second migration has nothing to do, for our tables and for the job engine's."""
    assert services_on(empty_url).migrate() == f"schema {NEWEST}, nothing to do; job engine: nothing to do"


def test_a_database_that_was_never_migrated_is_not_current(server: object, clone: Callable[[str], str]) -> None:
    """The quick check by file names agrees with Alembic about the newest revision, and sees a missing schema."""
    engine = open_engine(clone("schema"))
    assert is_current(engine, SCRIPTS)
    newest = ScriptDirectory(str(SCRIPTS)).get_current_head()
    assert newest == NEWEST
    with engine.begin() as connection:
        connection.execute(text("drop table alembic_version"))
    assert not is_current(engine, SCRIPTS)
    engine.dispose()


def test_downgrading_removes_everything_and_upgrading_brings_it_back(empty_url: str) -> None:
    """Every migration can be undone and made again."""
    engine = open_engine(empty_url)
    with engine.begin() as connection:
        before = sorted(connection.scalars(text(SCHEMA)))
        config = migrations._config(SCRIPTS, connection)
        command.downgrade(config, "base")
        left = connection.scalars(
            text("select tablename from pg_tables where schemaname = 'public' and tablename not like '%procrastinate%'")
        ).all()
        assert set(left) == {"alembic_version", "job_engine_migrations"}
    with engine.begin() as connection:
        assert migrations.upgrade(connection, SCRIPTS) == (None, NEWEST)
        assert sorted(connection.scalars(text(SCHEMA))) == before
    engine.dispose()


def test_a_new_release_of_the_job_engine_applies_only_what_is_new(empty_url: str) -> None:
    """A change that our record lacks is applied, the others are not."""
    engine = open_engine(empty_url)
    with engine.begin() as connection:
        newest = connection.scalar(text("select max(name) from job_engine_migrations"))
        connection.execute(text("delete from job_engine_migrations where name = :name"), {"name": newest})
        assert upgrade_job_engine(connection) == [newest]
        assert upgrade_job_engine(connection) == []
    engine.dispose()
