"""A stand-in for the gazette's site: it serves recorded days, documents and norms, and fails as it is told.

    python -m clara_lab.stand_ins.boe_server --port 8791 --folder tests/data/boe_wire --fault error --fault hang

Then run `clara boe --check` with BOE_BASE_URL=http://127.0.0.1:8791.
"""

import re
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Final, Literal

import click

from clara_lab.stand_ins.recorded import GazetteRecordings, recordings
from clara_lab.stand_ins.server import LoopbackStandIn

LONGEST_HANG_SECONDS: Final = 60.0
# Between two bytes of a drip: well below every sensible timeout, so that only a total deadline ends it.
DRIP_SECONDS: Final = 0.02
NOTHING_AS_JSON: Final = '{"status":{"code":"404","text":"La información solicitada no existe"},"data":""}'.encode()
NOTHING_AS_XML: Final = (
    "<response><status><code>404</code><text>La información solicitada no existe</text></status><data/></response>".encode()
)
REFUSED: Final = b'{"status":{"code":"400","text":"El formato de la fecha no es correcto"},"data":""}'
PAGE: Final = "<!DOCTYPE html><html><title>BOE.es</title><p>Servicio en mantenimiento. Vuelva más tarde.</p></html>".encode()


@dataclass(frozen=True, slots=True)
class GazetteFault:
    """What one request gets instead of its answer."""

    manner: Literal["answer", "hang", "cut", "drip", "reset"] = "answer"
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


FAULTS: Final[Mapping[str, GazetteFault]] = {
    "error": GazetteFault(status=500, body=PAGE),
    "busy": GazetteFault(status=503, body=PAGE, headers={"Retry-After": "1"}),
    "hang": GazetteFault("hang"),
    "cut": GazetteFault("cut", body=b'{"status": {"code": "200"}, "data": {"sumario": {'),
    "drip": GazetteFault("drip", body=NOTHING_AS_JSON),
    "reset": GazetteFault("reset"),
    "garbage": GazetteFault(body=b"\x00\xff\xfe{<garbage"),
    "page": GazetteFault(body=PAGE),
    "nothing": GazetteFault(status=404, body=NOTHING_AS_JSON),
    "lost": GazetteFault(status=404, body=PAGE),
    "moved": GazetteFault(status=302, headers={"Location": "https://example.org/"}),
}


@dataclass(slots=True)
class GazetteStandIn(LoopbackStandIn):
    """The state of the stand-in. `url` is its address once it serves; `asked` are the addresses asked for, in order.

    `faults` are given once each, to the first request whose address holds the text beside it; `standing` to every one.
    """

    held: GazetteRecordings = field(default_factory=GazetteRecordings)
    asked: list[str] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    faults: list[tuple[str, GazetteFault]] = field(default_factory=list)
    standing: dict[str, GazetteFault] = field(default_factory=dict)

    def fault_for(self, address: str) -> GazetteFault | None:
        """Remember a request; give the fault that it shall get."""
        with self.lock:
            self.asked.append(address)
            for place, (part, fault) in enumerate(self.faults):
                if part in address:
                    del self.faults[place]
                    return fault
            return next((fault for part, fault in self.standing.items() if part in address), None)

    def answer(self, address: str, accept: str) -> GazetteFault:
        """Give what there is at an address."""
        if found := re.fullmatch(r"/datosabiertos/api/boe/sumario/(.*)", address):
            if not re.fullmatch(r"\d{8}", found[1]):
                return GazetteFault(status=400, body=REFUSED)
            return _found(self.held.days.get(found[1]), accept)
        if found := re.fullmatch(r"/diario_boe/xml\.php\?id=(.*)", address):
            return _found(self.held.documents.get(found[1]), "application/xml")
        if found := re.fullmatch(r"/datosabiertos/api/legislacion-consolidada/id/(.*)/(metadatos|texto)", address):
            held = self.held.metadata if found[2] == "metadatos" else self.held.texts
            return _found(held.get(found[1]), "application/xml")
        return GazetteFault(status=404, body=PAGE)


def _found(content: bytes | None, accept: str) -> GazetteFault:
    if content is None:
        return GazetteFault(status=404, body=NOTHING_AS_JSON if "json" in accept else NOTHING_AS_XML)
    return GazetteFault(body=content)


class _GazetteHandler(BaseHTTPRequestHandler):
    state: GazetteStandIn
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.state.agents.add(self.headers.get("User-Agent", ""))
        fault = self.state.fault_for(self.path) or self.state.answer(self.path, self.headers.get("Accept", ""))
        try:
            self._deliver(fault)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client had enough, as a fault is meant to make it

    def log_message(self, *_: object) -> None:
        """Stay quiet; `asked` holds what was asked."""

    def _deliver(self, fault: GazetteFault) -> None:
        self.close_connection = fault.manner != "answer"
        match fault.manner:
            case "answer":
                self.wfile.write(self._head(fault) + fault.body)
            case "cut":
                self.wfile.write(self._head(fault) + fault.body[: len(fault.body) // 2])
            case "hang":
                self.state.closing.wait(LONGEST_HANG_SECONDS)
            case "drip":
                self._drip(self._head(fault) + fault.body)
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.rfile.close()  # as long as it is open, so is the connection
                self.connection.close()

    def _head(self, fault: GazetteFault) -> bytes:
        headers = {"Content-Length": str(len(fault.body)), **fault.headers}
        lines = [f"HTTP/1.1 {fault.status} {self.responses.get(fault.status, ('Other',))[0]}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def _drip(self, content: bytes) -> None:
        for place in range(len(content)):
            self.wfile.write(content[place : place + 1])
            if self.state.closing.wait(DRIP_SECONDS):
                return


GazetteStandIn.handler = _GazetteHandler


@click.command()
@click.option("--port", default=8791, show_default=True, help="The port on this machine; 0: any free one.")
@click.option(
    "--folder", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path), help="Recorded answers."
)
@click.option("--fault", "faults", multiple=True, type=click.Choice(sorted(FAULTS)), help="Given once; may be repeated.")
@click.option("--standing", type=click.Choice(sorted(FAULTS)), help="Given to every request, after the faults.")
@click.option("--on", "part", default="", help="Faults only for addresses that hold this, such as 20171002 or xml.php.")
def main(port: int, folder: Path, faults: tuple[str, ...], standing: str | None, part: str) -> None:
    """Serve as the gazette's site on this machine, until it is stopped."""
    stand_in = GazetteStandIn(recordings(folder), faults=[(part, FAULTS[name]) for name in faults])
    if standing:
        stand_in.standing[part] = FAULTS[standing]
    stand_in.serve(port)
    days = ", ".join(f"{day[:4]}-{day[4:6]}-{day[6:]}" for day in sorted(stand_in.held.days))
    click.echo(f"The gazette's stand-in serves at {stand_in.url}: {days or 'no day'}; {len(stand_in.held.documents)} documents")
    try:
        Event().wait()
    except KeyboardInterrupt:
        stand_in.close()


if __name__ == "__main__":
    main()
