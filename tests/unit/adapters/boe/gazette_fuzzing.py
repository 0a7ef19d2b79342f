"""Spoilt answers of the gazette, for the parsers. As a command: `python gazette_fuzzing.py 100000`."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from clara.adapters.boe.item import read_item
from clara.adapters.boe.summary import read_summary
from clara.editorial.gazette.issues import GazetteFormatError, GazetteUnavailableError, NoIssueError
from clara_lab.stand_ins.boe_server import recorded

FOLDER = Path(__file__).parents[3] / "data" / "boe_wire"
NAMED = (GazetteFormatError, GazetteUnavailableError, NoIssueError)
# The small ones: of a large one most spoilt places are alike.
SUMMARIES = (
    "api_sumario_20240206_reduced.xml",
    "sumario_20260708_api_trimmed.json",
    "sumario_error_old.xml",
    "ropenspain_BOE-S-2017-5.xml",
)
ITEMS = (
    "ropenspain_BOE-A-2009-54.xml",
    "ropenspain_BOE-A-2017-5.xml",
    "ropenspain_BOE-B-2009-100.xml",
    "ropenspain_BOE-B-2017-5.xml",
    "old_anuncio-licitacion-plano.xml",
    "sumario_error_old.xml",
)
TOKENS = (
    b"<item>",
    b"</item>",
    b"<texto>",
    b"</texto>",
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"&b;",
    b"]]>",
    b"<![CDATA[",
    b"\x00",
    b"\xff\xfe",
    b"null",
    b"[]",
    b"{}",
    b"[",
    b"{",
    b'"item":',
    b'"texto":',
    b'"status":{"code":"404"}',
    b"\\ud800",
    b"\\u0000",
    b"9" * 5_000,
    b"NaN",
    b"BOE-A-2026-1",
    b"BORME",
    b"99999999",
    b"http://[",
    b' encoding="utf-7"',
    b' encoding="utf-16"',
    b' encoding="none"',
    b"<a>" * 70,
    b"[" * 2_000,
    b"\xc3",
    b"<error>",
    b"</sumario>",
    b"<diario>",
    b"id=",
    b'"',
    b"'",
)
NAMES = (
    "data",
    "sumario",
    "metadatos",
    "diario",
    "seccion",
    "departamento",
    "epigrafe",
    "item",
    "texto",
    "identificador",
    "id",
    "titulo",
    "codigo",
    "nombre",
    "numero",
    "fecha_publicacion",
    "publicacion",
    "status",
    "code",
    "error",
    "url_pdf",
    "url_xml",
    "$",
    "_",
)
VALUES = (
    None,
    "",
    "20260708",
    "BOE",
    "404",
    "200",
    200,
    1.5,
    True,
    "BOE-A-2026-1",
    "BOE-A-2026-2",
    "Ley 1/2026",
    "1",
    [],
    {},
    "\ud800",
)


@cache
def sample(name: str) -> bytes:
    """Give a recorded answer."""
    return recorded(FOLDER, name)


def spoilt(content: bytes, random: Random) -> bytes:
    """Give an answer with one to six things done to it."""
    for _ in range(random.choice((1, 1, 1, 1, 2, 3, 6))):
        place = random.randrange(len(content) + 1)
        length = random.choice((1, 1, 1, 2, 8, 40, 400))
        match random.randrange(6):
            case 0:
                content = content[:place] + content[place + length :]
            case 1:
                content = content[:place] + random.choice(TOKENS) + content[place:]
            case 2:
                content = content[:place] + random.randbytes(length) + content[place + length :]
            case 3:
                other = random.randrange(len(content) + 1)
                content = content[:place] + content[other : other + length] + content[place:]
            case 4:
                content = content[:place]
            case _:
                content = content[:place] + random.choice(TOKENS) + content[place + length :]
        if not content:
            break
    return content


# Down to here a tree has the names of a summary, so that some of them are summaries; below it soon ends.
FORCED_LEVELS = 6


def tree(random: Random, level: int = 0) -> object:
    """Give a random tree of the names and values that summaries are made of."""
    if level > 9 or random.random() < (0.1 if level < FORCED_LEVELS else 0.6):
        return random.choice(VALUES)
    if random.random() < 0.25:
        return [tree(random, level + 1) for _ in range(random.randrange(3))]
    named = {random.choice(NAMES): tree(random, level + 1) for _ in range(random.randrange(3))}
    for name in ("data", "sumario", "diario", "seccion", "departamento", "item")[level:FORCED_LEVELS][:1]:
        named[name] = tree(random, level + 1)
    return named


def summary(seed: int) -> bytes:
    """Give a spoilt summary: a recorded one, or a tree."""
    random = Random(seed)
    if random.random() < 0.3:
        return json.dumps(tree(random)).encode()
    return spoilt(sample(random.choice(SUMMARIES)), random)


def item(seed: int) -> bytes:
    """Give a spoilt document of an item."""
    random = Random(seed)
    return spoilt(sample(random.choice(ITEMS)), random)


def outcome(read: Callable[[bytes], object], content: bytes) -> str:
    """Say what came of reading: "read", or the name of an error that is allowed. Any other error comes through."""
    try:
        read(content)
    except NAMED as error:
        return type(error).__name__
    return "read"


def main(times: int) -> None:
    """Try so many of each, and print what came of them."""
    for name, make, read in (("summaries", summary, read_summary), ("items", item, read_item)):
        print(name, dict(Counter(outcome(read, make(seed)) for seed in range(times))))  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]))
