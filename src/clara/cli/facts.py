"""Commands about one fact: `clara fact edit` and `clara fact add`."""

from pathlib import Path

import click

from clara.cli.command import FILE, FOLDER, running

REFUSED = 2
FORM = click.option("--form", type=FILE, help="A filled-in form, instead of opening an editor.")
DATA = click.option("--data", type=FOLDER, help="The folder that is changed, instead of data/ of this checkout.")
PRINT = click.option("--print", "printed", is_flag=True, help="Print the form, to fill it in elsewhere; nothing changes.")


@click.group()
def fact() -> None:
    """Change what data/ says, a fact at a time: a form in $EDITOR, checked before anything is written."""


@fact.command()
@click.argument("fact_id", metavar="ID")
@FORM
@PRINT
@DATA
def edit(*, fact_id: str, data: Path | None, form: Path | None, printed: bool) -> None:
    """Change the fact ID, such as nie-cuantias-01. Exit codes: 0 written or unchanged, 2 refused, and nothing is written.

    Example: clara fact edit nie-cuantias-01
    """
    from clara.knowledge.fact_forms import UnknownFactError, fact_file
    from clara.settings import resources

    folder = data or resources() / "data"
    with running():
        file = fact_file(folder, fact_id.partition("-")[0])
        where = file.section_of(fact_id)
        if where is None:
            raise UnknownFactError(f"there is no fact '{fact_id}'; `clara knowledge show {file.document['id']}` lists them")
        section = file.document["sections"][where[0]]
        _through_a_form(folder, file.document["id"], section["id"], section["facts"][where[1]], form, printed=printed)


@fact.command()
@click.argument("procedure")
@click.argument("section")
@FORM
@PRINT
@DATA
def add(*, procedure: str, section: str, data: Path | None, form: Path | None, printed: bool) -> None:
    """Add a fact to SECTION (such as plazos) of PROCEDURE (such as nie); it gets the next number.

    Example: clara fact add nie plazos
    """
    from clara.knowledge.fact_forms import BLANK, fact_file, new_id
    from clara.settings import resources

    folder = data or resources() / "data"
    with running():
        file = fact_file(folder, procedure)
        _through_a_form(folder, procedure, section, {"id": new_id(file, section), **BLANK}, form, printed=printed)


def _through_a_form(
    folder: Path, procedure: str, section: str, before: dict[str, object], form: Path | None, *, printed: bool
) -> None:
    """Print the form of a fact, or write the fact as a file or a person fills it in. Raises DataError for a file."""
    from clara.knowledge.fact_forms import form_of

    filled = form_of(before)
    if printed:
        click.echo(filled, nl=False)
    elif form:
        _write(folder, procedure, section, before, form.read_text("utf-8"), str(form))
    else:
        _ask_a_person(folder, procedure, section, before, filled)


def _write(folder: Path, procedure: str, section: str, before: dict[str, object], filled: str, name: str) -> None:
    from clara.knowledge.fact_forms import filled_in
    from clara.quality.fact_edits import written

    document = filled_in(filled, name)
    lines = written(folder, procedure, section, before, document) if document else ["Nothing was changed."]
    for line in lines:
        click.echo(line)


def _ask_a_person(folder: Path, procedure: str, section: str, before: dict[str, object], filled: str) -> None:
    """Open the form until it is right or given up; what was typed is kept in a file then."""
    from clara.data_files import DataError

    told, kept = filled, Path(f"{before['id']}.yaml")
    while (told := click.edit(told, extension=".yaml") or "") not in ("", filled):
        try:
            _write(folder, procedure, section, before, told, str(before["id"]))
        except DataError as error:
            click.echo(str(error), err=True)
            kept.write_text(told, "utf-8")  # before anything is asked, so that whoever breaks off loses nothing
            if not click.confirm("Open the form again?", default=True, err=True):
                click.echo(f"Nothing was written to data/. What you typed is in {kept}; go on with --form {kept}.", err=True)
                raise SystemExit(REFUSED) from error
        else:
            kept.unlink(missing_ok=True)
            return
    click.echo("Nothing was changed.")
