"""Commands that imitate Twilio: demo and stand-in."""

from threading import Event

import click

from clara.cli.command import read_settings, running, say


@click.command()
def demo() -> None:
    """Start Clara as on WhatsApp, with a stand-in for Twilio that shows every reply."""
    from clara_lab.demonstration import demonstrate

    with running():
        demonstrate(read_settings(), say)


@click.command(name="stand-in")
@click.option("--port", type=click.IntRange(1, 65535), default=8001, show_default=True)
def stand_in(port: int) -> None:
    """Run a stand-in for Twilio's REST API that prints every message it takes."""
    from clara.settings import DEMO_ACCOUNT, DEMO_TOKEN
    from clara_lab.stand_ins.twilio_server import TwilioStandIn

    with running():
        state = TwilioStandIn(DEMO_ACCOUNT, DEMO_TOKEN, lambda taken: click.echo(f"to {taken.recipient}:\n{taken.body}\n"))
        server = state.serve(port)
        click.echo(f"TWILIO_API_URL=http://127.0.0.1:{port} TWILIO_ACCOUNT_SID={DEMO_ACCOUNT} TWILIO_AUTH_TOKEN={DEMO_TOKEN}")
        try:
            Event().wait()
        except KeyboardInterrupt:
            server.shutdown()
