"""The model stand-in as a command, to try Clara with a Gemini that answers, and with one that fails.

    python -m clara_lab.stand_ins.gemini_server --port 8790 --fault quota-second --fault hang

Then start Clara with GEMINI_BASE_URL=http://127.0.0.1:8790, any GEMINI_API_KEY and RAG_WRITER=gemini.
"""

from threading import Event

import click

from clara.adapters.models.scripted import ScriptedWriter
from clara.answering.ports import ModelUnavailableError, Prompt
from clara_lab.stand_ins.gemini_faults import every_fault
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.speech import Write, quote

FAULTS = click.Choice(sorted(every_fault()))


@click.command()
@click.option("--port", default=8790, show_default=True, help="The port on this machine; 0: any free one.")
@click.option("--key", default="", help="The API key that requests must carry; none: any.")
@click.option("--fault", "faults", multiple=True, type=FAULTS, help="Given once, before any answer; may be repeated.")
@click.option("--standing", type=FAULTS, help="Given to every request, after the faults.")
def main(port: int, key: str, faults: tuple[str, ...], standing: str | None) -> None:
    """Serve as Gemini on this machine, until it is stopped."""
    serve(port, key, faults, standing)


def tell(instruction: str, page: str) -> str:
    """Write from the facts on the page; a page without facts is quoted."""
    try:
        return ScriptedWriter().write(Prompt(instruction, page), 1.0)
    except ModelUnavailableError:
        return quote(instruction, page)


def serve(port: int, key: str, faults: tuple[str, ...], standing: str | None, write: Write = tell) -> None:
    """Serve until the process is interrupted; say the address when it is ready."""
    known = every_fault()
    stand_in = ModelStandIn(key, write, known[standing] if standing else None)
    stand_in.faults.extend(known[name] for name in faults)
    stand_in.serve(port)
    click.echo(f"Gemini's stand-in serves at {stand_in.url}")
    try:
        Event().wait()
    except KeyboardInterrupt:
        stand_in.close()


if __name__ == "__main__":
    main()
