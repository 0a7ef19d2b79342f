"""Clara as on WhatsApp, with a stand-in for Twilio that shows every reply."""

from collections.abc import Callable

from clara.processes.supervisor import up
from clara.settings import DEMO_ACCOUNT, DEMO_TOKEN, SAMPLE_KEY, Settings
from clara_lab.stand_ins.twilio_server import TakenMessage, TwilioStandIn


def demonstrate(settings: Settings, say: Callable[[str], None]) -> None:
    """Start everything and the stand-in, wait for Ctrl-C or SIGTERM, stop everything."""
    up(settings, say, stand_in=lambda: _stand_in(settings, say))


def _stand_in(settings: Settings, say: Callable[[str], None]) -> dict[str, str]:
    """Start the stand-in for Twilio in this process; give the environment that points at it."""

    def show(message: TakenMessage) -> None:
        say(f"\n── to {message.recipient} ─────────────────────────\n{message.body}\n")

    twilio = TwilioStandIn(DEMO_ACCOUNT, DEMO_TOKEN, show)
    twilio.serve()
    return {
        "CLARA_CHANNEL": "twilio",
        "CLARA_PUBLIC_URL": f"http://{settings.clara_host}:{settings.port}",
        "TWILIO_ACCOUNT_SID": DEMO_ACCOUNT,
        "TWILIO_AUTH_TOKEN": DEMO_TOKEN,
        "TWILIO_API_URL": twilio.url,
        "CLARA_PSEUDONYM_KEY": SAMPLE_KEY,
        "CLARA_ADDRESS_KEY": SAMPLE_KEY,
    }
