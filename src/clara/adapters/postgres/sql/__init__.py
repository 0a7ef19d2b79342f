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
    """Give the text of `<name>.sql`."""
    return (files(__package__) / f"{name}.sql").read_text(encoding="utf-8")
