"""Commands that run Clara: up, web, worker, migrate; and sign, for trying the webhook."""

import click

from clara.cli.command import opened, read_settings, running, say, starting, staying


@click.command()
def up() -> None:
    """Start database, knowledge, web server and worker on this machine."""
    from clara.processes.supervisor import up as start

    with running():
        start(read_settings(), say)


@click.command()
@click.option("--attached", is_flag=True, hidden=True)
def web(*, attached: bool) -> None:
    """Serve the webhook (or, in the local channel, the chat page)."""
    from clara.processes.web import serve

    with starting(attached=attached) as settings:
        serve(settings, say)


@click.command()
@click.option("--attached", is_flag=True, hidden=True)
def worker(*, attached: bool) -> None:
    """Answer the messages that were taken in, and run what is due by itself."""
    from clara.processes.schedule import scheduling
    from clara.processes.worker import build_worker

    with staying(attached=attached) as container:
        worker = build_worker(container)  # first who answers people, then what can wait
        with scheduling(container):
            worker.run()


@click.command()
def migrate() -> None:
    """Bring the database to the newest schema. Safe to repeat."""
    with opened("nothing") as container:
        click.echo(container.migrate())


@click.command()
@click.argument("form")
@click.option("--url", default="http://127.0.0.1:8000/webhook", show_default=True, help="The address Twilio was given.")
def sign(form: str, url: str) -> None:
    """Print the X-Twilio-Signature of FORM ("From=…&Body=…", percent-encoded), for curl.

    Signs with TWILIO_AUTH_TOKEN, or with the stand-in's token when that is not set.
    """
    from urllib.parse import parse_qsl

    from twilio.request_validator import RequestValidator

    from clara.settings import DEMO_TOKEN

    with running():
        settings = read_settings()
        token = settings.twilio_auth_token.get_secret_value() if settings.twilio_auth_token else DEMO_TOKEN
        fields = dict(parse_qsl(form, keep_blank_values=True, strict_parsing=True))
        click.echo(RequestValidator(token).compute_signature(url, fields))
