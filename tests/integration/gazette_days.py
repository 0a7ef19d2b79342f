"""Days of the gazette for tests, in the shape of the current service, and a webhook that remembers what it was posted."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self
from xml.sax.saxutils import escape

from clara.adapters.boe.client import GazettePace
from clara.container import Container
from clara.editorial.gazette.watch import DayChoice, watched_by
from clara.editorial.ports import JobOutcome
from clara.processes.source_readers import watching_the_gazette
from clara.settings import resources
from clara_lab.stand_ins.boe_server import GazetteStandIn

QUICK = GazettePace(exchange_seconds=1.5, pause_seconds=0, retry_seconds=0, tries=2)
TODAY = date(2026, 7, 10)  # a Friday
DECREE, INCOME = "BOE-A-2024-24099", "BOE-A-2021-21007"


def entry(number: int, title: str) -> dict[str, str]:
    """Give an item as the summary has it."""
    return {"identificador": f"BOE-A-2026-{number}", "titulo": title}


def summary(day: date, *issues: Mapping[str, list[dict[str, str]]]) -> bytes:
    """Give a day's summary; each issue has items by section."""
    diarios = [
        {
            "numero": str(100 + number),
            "seccion": [
                {"codigo": section, "departamento": {"nombre": "MINISTERIO", "item": items}} for section, items in issue.items()
            ],
        }
        for number, issue in enumerate(issues)
    ]
    body = {"metadatos": {"publicacion": "BOE", "fecha_publicacion": f"{day:%Y%m%d}"}, "diario": diarios}
    return json.dumps({"status": {"code": "200", "text": "ok"}, "data": {"sumario": body}}).encode()


def document(item_id: str, *references: tuple[str, str]) -> bytes:
    """Give an item's document with (relation, norm) of each earlier norm."""
    earlier = "".join(
        f'<anterior referencia="{norm}"><palabra codigo="270">{escape(words)}</palabra><texto>el art. 5</texto></anterior>'
        for words, norm in references
    )
    about = f"<identificador>{item_id}</identificador><titulo>Orden</titulo>"
    analysis = f"<analisis><referencias><anteriores>{earlier}</anteriores></referencias></analisis>"
    return f"<documento><metadatos>{about}</metadatos>{analysis}<texto/></documento>".encode()


def publish(site: GazetteStandIn, day: date, *issues: Mapping[str, list[dict[str, str]]]) -> None:
    """Put a day on the stand-in, with a document that does nothing for each item that has none yet."""
    site.held.days[f"{day:%Y%m%d}"] = summary(day, *issues)
    for item in (item for issue in issues for items in issue.values() for item in items):
        site.held.documents.setdefault(item["identificador"], document(item["identificador"]))


def ordinary(number: int) -> dict[str, list[dict[str, str]]]:
    """Give an issue with nothing in it for us."""
    return {
        "1": [entry(number, f"Orden HFP/{number}/2026, por la que se aprueba un modelo de impuesto")],
        "2A": [entry(number + 1, "Resolución por la que se nombra Catedrática a doña X")],
        "5B": [entry(number + 2, "Anuncio sobre extranjería, ingreso mínimo vital y bono social")],
    }


@dataclass
class Runs:
    """Runs of the watch on one database, at a time of the test's choosing."""

    services: Container
    now: datetime = field(default_factory=lambda: at(TODAY, 9))
    said: list[str] = field(default_factory=list)

    def __call__(self, *, at: datetime | None = None, notify: bool = False, webhook: str = "", **chosen: Any) -> JobOutcome:
        self.now = at or self.now
        told = webhook or self.services.settings.secret("clara_alert_webhook")
        watched = watched_by(self.services.snapshot().knowledge.catalogue, resources() / "data", self.said.append)
        with watching_the_gazette(self.services, told if notify else "", QUICK, lambda: self.now) as watch:
            return watch.run(DayChoice(**chosen), watched, self.said.append, lambda _done, _of: None)


def at(day: date, hour: int) -> datetime:
    """Give a moment of a day in Madrid's summer."""
    return datetime(day.year, day.month, day.day, hour, tzinfo=UTC) - timedelta(hours=2)


@dataclass
class Webhook:
    """Remembers what it was posted; `answer` gives the status, and may wait."""

    answer: Callable[[], int] = lambda: 204
    posted: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    server: ThreadingHTTPServer | None = None

    def serve(self) -> Self:
        """Start serving on loopback."""
        webhook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = webhook.answer()
                if 200 <= status < 300:
                    webhook.posted.append(content)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def close(self) -> None:
        """Stop serving."""
        assert self.server
        self.server.shutdown()
        self.server.server_close()

    @property
    def told(self) -> list[str]:
        """The ids that were posted, in order."""
        return [alert["id"] for message in self.posted for alert in message["alerts"]]
