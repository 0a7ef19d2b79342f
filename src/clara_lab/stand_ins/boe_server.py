"""A stand-in for the gazette's site: it serves recorded days, documents and norms, and fails as it is told.

Recorded answers lie in a folder, as they are or compressed, and are known by what is in them.

    python -m clara_lab.stand_ins.boe_server --port 8791 --folder tests/data/boe_wire --fault error --fault hang

Then run `clara boe --check` with BOE_BASE_URL=http://127.0.0.1:8791.
"""

import gzip
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from clara_lab.stand_ins.server import Delivery, LoopbackStandIn, ScriptedReply, StandInRequest

# How the shapes write their day, the id of a document, and that of a norm.
_DAYS: Final = (
    re.compile(rb"<fecha_publicacion>(\d{8})<"),
    re.compile(rb'"fecha_publicacion"\s*:\s*"(\d{8})"'),
    re.compile(rb"<fechaInv>(\d{4})/(\d\d)/(\d\d)<"),
    re.compile(rb'"fechainv"\s*:\s*"(\d{4})/(\d\d)/(\d\d)"', re.IGNORECASE),
)
_SUMMARY: Final = re.compile(rb'<sumario\b|"sumario_?diario"|"sumario_nbo"|"diario"')
_DOCUMENT: Final = re.compile(rb"<documento\b.*?<identificador>(BOE-[A-Z]-\d{4}-\d+)<", re.DOTALL)
_METADATA: Final = re.compile(rb"<response>.*?<metadatos>.*?<identificador>(BOE-[A-Z]-\d{4}-\d+)<", re.DOTALL)
_BLOCKS: Final = re.compile(rb"<bloque\b")
_ID: Final = re.compile(r"BOE-[A-Z]-\d{4}-\d+")


@dataclass(slots=True)
class GazetteRecordings:
    """What the gazette has: days by AAAAMMDD, documents and norms' metadata and texts by id."""

    days: dict[str, bytes] = field(default_factory=dict)
    documents: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, bytes] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)

    def add(self, name: str, content: bytes) -> None:
        """Put an answer where its content says that it belongs; a norm's text is known by the id in the file's name."""
        named = _ID.search(name)
        if _SUMMARY.search(content) and (day := _day(content)):
            self.days[day] = content
        elif found := _DOCUMENT.search(content):
            self.documents[found[1].decode()] = content
        elif found := _METADATA.search(content):
            self.metadata[found[1].decode()] = content
        elif _BLOCKS.search(content) and named:
            self.texts[named[0]] = content


def recorded(folder: Path, name: str) -> bytes:
    """Give the content of a recorded answer. Raises FileNotFoundError."""
    plain = folder / name
    if plain.exists():
        return plain.read_bytes()
    return gzip.decompress((folder / f"{name}.gz").read_bytes())


def recordings(folder: Path) -> GazetteRecordings:
    """Read every answer in a folder; what is none is left out."""
    found = GazetteRecordings()
    for path in sorted(folder.iterdir()):
        name = path.name.removesuffix(".gz")
        if name.endswith((".xml", ".json")) and "BORME" not in name:
            found.add(name, recorded(folder, name))
    return found


def _day(content: bytes) -> str | None:
    found = next((match for pattern in _DAYS if (match := pattern.search(content))), None)
    return b"".join(found.groups()).decode() if found else None


NOTHING_AS_JSON: Final = '{"status":{"code":"404","text":"La información solicitada no existe"},"data":""}'.encode()
NOTHING_AS_XML: Final = (
    "<response><status><code>404</code><text>La información solicitada no existe</text></status><data/></response>".encode()
)
REFUSED: Final = b'{"status":{"code":"400","text":"El formato de la fecha no es correcto"},"data":""}'
PAGE: Final = "<!DOCTYPE html><html><title>BOE.es</title><p>Servicio en mantenimiento. Vuelva más tarde.</p></html>".encode()
FAULTS: Final[Mapping[str, ScriptedReply]] = {
    "error": ScriptedReply(status=500, body=PAGE),
    "busy": ScriptedReply(status=503, body=PAGE, headers={"Retry-After": "1"}),
    "hang": ScriptedReply(Delivery.HANG),
    "cut": ScriptedReply(Delivery.TRUNCATED, body=b'{"status": {"code": "200"}, "data": {"sumario": {'),
    "drip": ScriptedReply(Delivery.DRIP_HEADERS, body=NOTHING_AS_JSON),
    "reset": ScriptedReply(Delivery.RESET),
    "garbage": ScriptedReply(body=b"\x00\xff\xfe{<garbage"),
    "page": ScriptedReply(body=PAGE),
    "nothing": ScriptedReply(status=404, body=NOTHING_AS_JSON),
    "lost": ScriptedReply(status=404, body=PAGE),
    "moved": ScriptedReply(status=302, body=b"", headers={"Location": "https://example.org/"}),
}


@dataclass
class GazetteStandIn(LoopbackStandIn):
    """The state of the stand-in. `url` is its address once it serves; `asked` are the addresses asked for, in order.

    `faults` are given once each, to the first request whose address holds the text beside it; `standing` to every one.
    """

    held: GazetteRecordings = field(default_factory=GazetteRecordings)
    asked: list[str] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    faults: list[tuple[str, ScriptedReply]] = field(default_factory=list)
    standing: dict[str, ScriptedReply] = field(default_factory=dict)

    async def answer(self, request: StandInRequest) -> ScriptedReply:
        """Remember a request; give the fault that it shall get, or what there is at its address."""
        self.asked.append(request.target)
        self.agents.add(request.headers.get("user-agent", ""))
        for place, (part, fault) in enumerate(self.faults):
            if part in request.target:
                del self.faults[place]
                return fault
        faults = (fault for part, fault in self.standing.items() if part in request.target)
        return next(faults, None) or self._found(request.target, request.headers.get("accept", ""))

    def _found(self, address: str, accept: str) -> ScriptedReply:
        if found := re.fullmatch(r"/datosabiertos/api/boe/sumario/(.*)", address):
            if not re.fullmatch(r"\d{8}", found[1]):
                return ScriptedReply(status=400, body=REFUSED)
            return _held(self.held.days.get(found[1]), accept)
        if found := re.fullmatch(r"/diario_boe/xml\.php\?id=(.*)", address):
            return _held(self.held.documents.get(found[1]), "application/xml")
        if found := re.fullmatch(r"/datosabiertos/api/legislacion-consolidada/id/(.*)/(metadatos|texto)", address):
            held = self.held.metadata if found[2] == "metadatos" else self.held.texts
            return _held(held.get(found[1]), "application/xml")
        return ScriptedReply(status=404, body=PAGE)


def _held(content: bytes | None, accept: str) -> ScriptedReply:
    if content is None:
        return ScriptedReply(status=404, body=NOTHING_AS_JSON if "json" in accept else NOTHING_AS_XML)
    return ScriptedReply(body=content)


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
    days = ", ".join(f"{day[:4]}-{day[4:6]}-{day[6:]}" for day in sorted(stand_in.held.days)) or "no day"
    count = len(stand_in.held.documents)
    stand_in.serve_until_interrupted(port, f"The gazette's stand-in serves at {{url}}: {days}; {count} documents")


if __name__ == "__main__":
    main()
