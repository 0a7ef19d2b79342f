"""Commands that run Clara: up, web, worker, migrate, and the stand-in for Twilio."""

from threading import Event

import click

from clara.cli.running import read_settings, running, say, staying


@click.command()
@click.option("--stand-in", is_flag=True, help="Serve WhatsApp's webhook and show the replies, with a stand-in for Twilio.")
def up(*, stand_in: bool) -> None:
    """Start database, knowledge, web server and worker on this machine."""
    from clara.jobs.up import up as start

    with running():
        start(read_settings(), say, stand_in=stand_in)


@click.command()
@click.option("--attached", is_flag=True, hidden=True)
def web(*, attached: bool) -> None:
    """Serve the webhook (or, in the local channel, the chat page)."""
    from clara.jobs.web_process import serve

    with staying(attached=attached) as services:
        serve(services)


@click.command()
@click.option("--attached", is_flag=True, hidden=True)
def worker(*, attached: bool) -> None:
    """Answer the messages that were taken in, and run what is due by itself."""
    from clara.jobs.scheduling import scheduling
    from clara.jobs.working import build_worker

    with staying(attached=attached) as services:
        worker = build_worker(services)  # first who answers people, then what can wait
        with scheduling(services):
            worker.run()


@click.command()
def migrate() -> None:
    """Bring the database to the newest schema. Safe to repeat."""
    from clara.jobs.preparing import running_services

    with running(), running_services(read_settings(), say, prepare="nothing") as services:
        click.echo(services.migrate())


@click.command(name="stand-in")
@click.option("--port", type=click.IntRange(1, 65535), default=8001, show_default=True)
def stand_in(port: int) -> None:
    """Run a stand-in for Twilio's REST API that prints every message it takes."""
    from clara.adapters.scripted.twilio_server import TwilioStandIn
    from clara.jobs.up import DEMO_TOKEN
    from clara.settings import DEMO_ACCOUNT

    with running():
        state = TwilioStandIn(DEMO_ACCOUNT, DEMO_TOKEN, lambda taken: click.echo(f"to {taken.recipient}:\n{taken.body}\n"))
        server = state.serve(port)
        click.echo(f"TWILIO_API_URL=http://127.0.0.1:{port} TWILIO_ACCOUNT_SID={DEMO_ACCOUNT} TWILIO_AUTH_TOKEN={DEMO_TOKEN}")
        try:
            Event().wait()
        except KeyboardInterrupt:
            server.shutdown()


@click.command()
@click.argument("form")
@click.option("--url", default="http://127.0.0.1:8000/webhook", show_default=True, help="The address Twilio was given.")
def sign(form: str, url: str) -> None:
    """Print the X-Twilio-Signature of FORM ("From=…&Body=…", percent-encoded), for curl.

    Signs with TWILIO_AUTH_TOKEN, or with the stand-in's token when that is not set.
    """
    from urllib.parse import parse_qsl

    from twilio.request_validator import RequestValidator

    from clara.jobs.up import DEMO_TOKEN

    with running():
        settings = read_settings()
        token = settings.twilio_auth_token.get_secret_value() if settings.twilio_auth_token else DEMO_TOKEN
        fields = dict(parse_qsl(form, keep_blank_values=True, strict_parsing=True))
        click.echo(RequestValidator(token).compute_signature(url, fields))
