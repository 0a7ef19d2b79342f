"""The model stand-in as a command, to try the bench with served models that answer, and with some that fail.

    python -m clara_lab.stand_ins.model_server --port 8791 --asymmetric --fault rate --fault reset

Then point EMBEDDING_BASE_URL, LLM_BASE_URL and RERANKER_BASE_URL at http://127.0.0.1:8791/v1, with the models `embedder`,
`chat` and `ranker`.
"""

from threading import Event

import click

from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.openai_faults import every_fault

FAULTS = click.Choice(sorted(every_fault()))


@click.command()
@click.option("--port", default=8791, show_default=True, help="The port on this machine; 0: any free one.")
@click.option("--key", default="", help="The API key that requests must carry; none: any.")
@click.option("--asymmetric", is_flag=True, help="Refuse texts to embed that come without an input_type.")
@click.option("--fault", "faults", multiple=True, type=FAULTS, help="Given once, before any answer; may be repeated.")
@click.option("--standing", type=FAULTS, help="Given to every request, after the faults.")
def main(port: int, key: str, *, asymmetric: bool, faults: tuple[str, ...], standing: str | None) -> None:
    """Serve models on this machine, until it is stopped."""
    known = every_fault()
    stand_in = ModelStandIn(key, standing=known[standing] if standing else None, asymmetric=asymmetric)
    stand_in.faults.extend(known[name] for name in faults)
    stand_in.serve(port)
    click.echo(f"Models are served at {stand_in.url}/v1")
    try:
        Event().wait()
    except KeyboardInterrupt:
        stand_in.close()
