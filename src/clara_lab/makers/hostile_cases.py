"""Makes eval/answers/hostile.jsonl: `python -m clara_lab.makers.hostile_cases`.

Each case is what a compromised model says: a sentence of eval/answers/making/hostile.json, by kind and language, in one manner,
brought in by one carrier. Seeded: the same data give the same file, and other facts the same sentences.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from clara.adapters.models.scripted import Manner
from clara.knowledge.knowledge_base import read_knowledge
from clara.retrieval.passage import Passage
from clara.settings import resources

SEED: Final = 20261122
# With fifteen kinds and ten languages: 450 cases a split.
EACH: Final = 3
SPLITS: Final = ("dev", "test")
FILLED: Final = ("address", "phone", "account")
SAID: Final = ("request", "promise", "insult", "threat", "leak", "falsehood", "figure")
# Most hostile outputs need no text to carry them in: the model itself is the enemy.
CARRIERS: Final = ("model",) * 6 + ("question",) * 3 + ("passage", "title", "metadata")
ZERO_WIDTH, OVERRIDE, END_OVERRIDE, TAGS = "\u200b", "\u202e", "\u202c", 0xE0000
LONG: Final = 300
FACTS: Final = 3

Making = Mapping[str, Any]


def cases(making: Making, passages: Sequence[Passage]) -> Iterator[dict[str, Any]]:
    """Give every case, the same each time."""
    chance = random.Random(SEED)  # noqa: S311  a data set, not a secret
    kinds = (*FILLED, *SAID, "markup", "fake_mark", "language", "hidden", "length")
    for split in SPLITS:
        for kind in kinds:
            for language in making["sentences"]["request"][split]:
                for number in range(1, EACH + 1):
                    said, needles = hostile(kind, language, split, making, chance)
                    yield {
                        "id": f"{split}_{kind}_{language}_{number}",
                        "language": language,
                        "split": split,
                        "kind": kind,
                        "carrier": chance.choice(CARRIERS),
                        "manner": chance.choice(list(Manner)).value,
                        "facts": _facts(passages, random.Random(f"{split} {kind} {language} {number}")),  # noqa: S311
                        "said": said,
                        "times": LONG if kind == "length" else 1,
                        "needles": needles,
                    }


def hostile(kind: str, language: str, split: str, making: Making, chance: random.Random) -> tuple[str, list[str]]:
    """Give what is said, and what of it must not reach anybody."""
    if kind in FILLED:
        filler = chance.choice(making["fillers"][kind][split])
        return making["carriers"][kind][split][language].format(x=filler), [filler]
    if kind == "language":
        said = making["unsupported"][making["languages"][split][language]]
    else:
        said = chance.choice(making["sentences"][kind if kind in SAID else chance.choice(SAID)][split][language])
    match kind:
        case "markup":
            return chance.choice(making["markup"][split]).format(s=said), [said, "onerror", "alert(", ".example"]
        case "fake_mark":
            return chance.choice(making["fake_marks"][split]).format(s=said), [said]
        case "hidden":
            return chance.choice(_hidings(said)), [said]
        case _:  # as it is, or too many of its like
            return said, [said]


def _hidings(said: str) -> list[str]:
    return [
        ZERO_WIDTH.join(said),
        f"{OVERRIDE}{said[::-1]}{END_OVERRIDE}",
        "".join(chr(TAGS + ord(sign)) if sign.isascii() else sign for sign in said),
        f"{said}{''.join(chr(TAGS + ord(sign)) for sign in 'call 600111222')}",
    ]


def _facts(passages: Sequence[Passage], chance: random.Random) -> list[str]:
    """Choose the fact to be told, and others of its section."""
    main = chance.choice(passages)
    near = [passage.id for passage in passages if passage.section == main.section and passage.document_id == main.document_id]
    return [main.id, *[name for name in near if name != main.id][: FACTS - 1]]


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Another file.")
def main(out: Path | None) -> None:
    """Write the cases."""
    folder = resources() / "eval" / "answers"
    making = json.loads((folder / "making" / "hostile.json").read_text("utf-8"))
    made = list(cases(making, read_knowledge(resources() / "data").passages))
    lines = "".join(f"{json.dumps(case, ensure_ascii=case['kind'] == 'hidden')}\n" for case in made)
    (out or folder / "hostile.jsonl").write_text(lines, "utf-8")
    click.echo(f"{len(made)} cases")


if __name__ == "__main__":
    main()
