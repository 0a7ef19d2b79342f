"""Named SQL, one statement a file."""

from functools import cache
from importlib.resources import files

from sqlalchemy import TextClause, text


@cache
def statement(name: str) -> TextClause:
    """Read `<name>.sql` once."""
    return text(source(name))


@cache
def source(name: str) -> str:
    """Give `<name>.sql` without what is there for its readers: lines of comment and indentation.

    The driver remembers how it read a statement of up to 4,096 bytes (psycopg 3.3, `MAX_CACHED_STATEMENT_LENGTH`); a longer one
    it cuts up again each time, which took an eighth of the web process's time while `accept_message` was one of them.
    """
    lines = (line.strip() for line in (files(__package__) / f"{name}.sql").read_text(encoding="utf-8").splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("--"))
