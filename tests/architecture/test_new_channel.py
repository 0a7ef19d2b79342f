"""A new channel is one folder, its row in the registry, and what it needs of the settings: tried on a copy of the program."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_FILES = 6
CHANNEL = '''
"""Pigeons: a note in plain text comes under a stamp, and a reply flies home."""

import hmac

from clara.delivery.message import Incoming
from clara.delivery.ports import ChannelLimits
from clara.web.calls import ForgedCallError, WebhookCall


class PigeonChannel:
    name = "pigeon"
    limits = ChannelLimits(40, 3_600.0, "moulting")

    def __init__(self, settings):
        self.stamp = settings.secret("pigeon_stamp")
        self.flown = []

    def routes(self, intake):
        from clara.web.webhook import Webhook

        return Webhook(PigeonNotes(self.stamp), intake, "").blueprint()

    def sender(self):
        return self

    def recordings(self):
        return None

    def send(self, outgoing, timely):
        self.flown.append(outgoing.text)
        return f"pigeon:{outgoing.id}"

    def taken(self, outgoing):
        return ()


class PigeonNotes:
    name = "pigeon"
    paths = ("/webhook/pigeon",)
    thanks = ("coo", "text/plain")

    def __init__(self, stamp):
        self.stamp = stamp

    def read(self, call: WebhookCall):
        if not hmac.compare_digest(call.headers.get("X-Stamp", ""), self.stamp):
            raise ForgedCallError("stamp", "Check PIGEON_STAMP.")
        return Incoming("pigeon:1", self.name, call.query["loft"], "home", call.body.decode())
'''
TRIAL = """
from types import SimpleNamespace
from clara.channels.ports import outlets
from clara.web.calls import ChannelIntake
from clara.channels.registry import open_channels
from clara.delivery.message import Case, Outgoing
from clara.delivery.turn_processor import Clerk, take_turn
from clara.answering.message import Reply, ReplyStatus
from clara.settings import load_settings
from clara.web.app import Edge, create_app

settings = load_settings()
settings.require_channel()
channels = open_channels(settings)
assert set(channels) == {"whatsapp", "pigeon"}, channels

class Desk:
    def __init__(self): self.came, self.parts, self.known = [], [], []
    def accept(self, incoming): self.came.append(incoming); return True
    def begin(self, number): return Case(number, 1, self.came[number], "p", True, None)
    def reply(self, case, reply, parts): self.parts = parts
    def waiting(self, case): return [Outgoing(number, "home", "loft", text) for number, text in enumerate(self.parts)]
    def claim(self, case, outgoing): pass
    def sent(self, outgoing, provider): self.known.append(provider)

desk = Desk()
intake = ChannelIntake(desk, desk, None, str)
client = create_app(Edge([one.routes(intake) for one in channels.values()], {}, SimpleNamespace(counters=dict))).test_client()
post = lambda stamp: client.post("/webhook/pigeon?loft=4", data="NIE?", headers={"X-Stamp": stamp})
assert post("forged").status_code == 403 and not desk.came
assert post("s" * 32).data == b"coo" and desk.came[0].channel == "pigeon"
answer = lambda case: Reply("palabra " * 12, ReplyStatus.ANSWERED, "es")
assert take_turn(0, Clerk(desk, answer, outlets({"pigeon": channels["pigeon"]}))) == "sent"
assert len(channels["pigeon"].flown) == 3 and desk.known == ["pigeon:0", "pigeon:1", "pigeon:2"]
print("flown")
"""
ENVIRONMENT = {
    "CLARA_CHANNEL": "twilio,pigeon",
    "CLARA_PUBLIC_URL": "https://clara.example.org",
    "CLARA_PSEUDONYM_KEY": "2b7e91c05f8da346" * 4,
    "CLARA_ADDRESS_KEY": "c4e81f0a7d3952b6" * 4,
    "TWILIO_ACCOUNT_SID": "AC" + "1" * 32,
    "TWILIO_AUTH_TOKEN": "70ce" * 8,
    "PIGEON_STAMP": "s" * 32,
}


def put(path: Path, *changes: tuple[str, str]) -> None:
    """Put lines before others that stand in the file once."""
    text = path.read_text("utf-8")
    for place, line in changes:
        assert text.count(place) == 1, place
        text = text.replace(place, f"{line}{place}")
    path.write_text(text, "utf-8")


def test_a_fourth_channel_is_a_folder_and_a_row(tmp_path: Path) -> None:
    """It takes a note in under its stamp, beside Twilio in one process, and its replies go out in its own size."""
    package = tmp_path / "clara"
    shutil.copytree(ROOT / "src" / "clara", package, ignore=shutil.ignore_patterns("__pycache__"))
    folder = package / "channels" / "pigeon"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""Pigeons."""\n')
    (folder / "channel.py").write_text(CHANNEL)
    put(
        package / "channels" / "registry.py",
        ("from clara.channels.telegram", "from clara.channels.pigeon.channel import PigeonChannel\n"),
        ('    "twilio": TwilioChannel', '    "pigeon": PigeonChannel,\n'),
    )
    put(
        package / "settings.py",
        ('    "twilio": (', '    "pigeon": ("pigeon_stamp",),\n'),
        (
            "    telegram_bot_token: ",
            '    pigeon_stamp: SecretStr | None = Field(None, description="what each note carries")\n',
        ),
    )
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "", **ENVIRONMENT}
    ran = subprocess.run(
        [sys.executable, "-c", TRIAL], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.splitlines()[-1:]) == (0, ["flown"]), ran.stderr


def test_telegram_is_within_the_count() -> None:
    """Its folder, its stand-in, the registry and the settings."""
    own = list((ROOT / "src" / "clara" / "channels" / "telegram").rglob("*.py"))
    other = list((ROOT / "src").rglob("*.py"))
    naming = {path for path in other if "telegram" in path.read_text("utf-8").lower()}
    assert len(naming | set(own)) <= MOST_FILES, sorted(naming)
