"""The table of settings in the documents, made from the settings themselves."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin

import click
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from clara.errors import Invalid
from clara.settings import NEEDED_BY, Settings, resources

BEGIN: Final = "<!-- settings: made by `python -m clara_lab.makers.settings_table --write` -->"
END: Final = "<!-- end of settings -->"
DOCUMENTS: Final = ("docs/settings.md",)
HEADINGS: Final = ("variable", "default", "may be", "meaning")
FOUND: Final = 1
BOUNDS: Final = {"ge": " from {}", "gt": " above {}", "le": " to {}", "max_length": " of up to {} characters"}


class MissingMarkersError(Invalid):
    """A document lacks the lines between which the table of settings stands. Put them back."""


def table() -> str:
    """Give the table: every variable with its default, the values it may have, and its meaning."""
    rows = [HEADINGS, ("---",) * len(HEADINGS), *(_row(name, field) for name, field in Settings.model_fields.items())]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def renewed(document: str) -> str:
    """Give a document with the table as it is now. Raises MissingMarkersError."""
    before, begin, rest = document.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end:
        raise MissingMarkersError(f"no lines {BEGIN} and {END}")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(name: str, field: FieldInfo) -> tuple[str, ...]:
    return f"`{name.upper()}`", _default(name, field), ", ".join(_values(field)), (field.description or "").replace("|", "\\|")


def _default(name: str, field: FieldInfo) -> str:
    if name in NEEDED_BY["twilio"]:
        return "required*"
    if field.default is None:
        return "unset"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    return f"`{field.default:g}`" if isinstance(field.default, float) else f"`{field.default}`" if field.default else "empty"


def _values(field: FieldInfo) -> Iterator[str]:
    kind: Any = field.annotation
    if get_origin(kind) is Literal:
        yield from (f"`{value}`" for value in get_args(kind))
        return
    kinds = [part for part in get_args(kind) or (kind,) if part is not NoneType]
    names = {bool: "`true`, `false`", int: "a number", float: "a number", SecretStr: "a secret", Path: "a folder", str: "text"}
    yield f"{names[kinds[0]]}{''.join(_bounds(field))}"


def _bounds(field: FieldInfo) -> Iterator[str]:
    """Say what a number, or the length of a text, may be."""
    for bound in field.metadata:
        for kind, said in BOUNDS.items():
            if (value := getattr(bound, kind, None)) is not None:
                yield said.format(value)


@click.command()
@click.option("--write", is_flag=True, help="Rewrite the documents; without it, exit code 1 when one is not as it should be.")
def main(*, write: bool) -> None:
    """Hold the tables of settings in the documents against the settings."""
    stale = []
    for name in DOCUMENTS:
        path = resources() / name
        held = path.read_text("utf-8")
        if (wanted := renewed(held)) != held:
            stale.append(name)
            if write:
                path.write_text(wanted, "utf-8")
    click.echo(f"{'rewritten' if write else 'not as the settings are'}: {', '.join(stale)}" if stale else "nothing to do")
    if stale and not write:
        sys.exit(FOUND)


if __name__ == "__main__":
    main()
