"""Makes eval/answers/mutated.jsonl and eval/answers/faithful.jsonl: `python -m clara_lab.makers.proof_cases`.

Both are made from the facts of data/tramites: faithful answers say a fact otherwise, mutated ones say it wrongly. The
procedures of the development half and of the test half are disjoint. Seeded: the same data give the same files.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import click

from clara.knowledge.knowledge_base import Knowledge, read_knowledge
from clara.retrieval.passage import Passage
from clara.settings import resources
from clara_lab.makers.mutations import Mutator, Surroundings
from clara_lab.makers.paraphrases import faithful

SEED: Final = 20261122
SPLITS: Final = ("dev", "test")
# Cases of one split at most: of each kind of change in Spanish, and of each other language.
EACH_CHANGE: Final = 60
EACH_LANGUAGE: Final = {"mutated": 40, "faithful": 30}
SPANISH_FAITHFUL: Final = 120
# How many wrong answers in other languages tell a right figure of another procedure.
_SWAPPED: Final = 0.25


def made(knowledge: Knowledge, making: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Give the cases of both suites, the same each time."""
    names = knowledge.names
    languages = list(making["templates"])
    cases: dict[str, list[dict[str, Any]]] = {"mutated": [], "faithful": []}
    for split in SPLITS:
        chance = random.Random(f"{SEED}-{split}")  # noqa: S311  a data set, not a secret
        ids = sorted(knowledge.catalogue.procedures)[SPLITS.index(split) :: len(SPLITS)]  # every other procedure, by name
        passages = [passage for passage in knowledge.passages if passage.document_id in ids]
        around = Surroundings(making, names, {passage.id: passage for passage in passages})
        others = [language for language in languages if language != "es"]
        wrong = _at_most(mutated(passages, others, around, chance), EACH_CHANGE, EACH_LANGUAGE["mutated"])
        right = _at_most(faithful(passages, languages, making, names, chance), SPANISH_FAITHFUL, EACH_LANGUAGE["faithful"])
        for name, found in (("mutated", wrong), ("faithful", right)):
            cases[name] += [{"id": f"{split}-{number:04d}", "split": split, **case} for number, case in enumerate(found, 1)]
    return cases


def mutated(
    passages: Sequence[Passage], languages: Sequence[str], around: Surroundings, chance: random.Random
) -> Iterator[dict[str, Any]]:
    """Give mutated answers to the facts, of every kind, in no order of importance."""
    mutating = Mutator(around, chance)
    for kind in (*mutating.changes, "condition", "mark"):
        for passage in chance.sample(passages, len(passages)):
            if (case := mutating.case(kind, passage)) is not None:
                yield {"language": "es", "change": kind, **case}
    for language in languages:
        for passage in chance.sample(passages, len(passages)):
            kind = "procedure" if chance.random() < _SWAPPED else "figure"
            make = mutating.swapped if kind == "procedure" else mutating.foreign
            if (case := make(passage, language)) is not None:
                yield {"language": language, "change": kind, **case}


def _at_most(cases: Iterable[dict[str, Any]], spanish: int, other: int) -> Iterator[dict[str, Any]]:
    """Let through so many cases: in Spanish of each kind of mutation, else of each language."""
    counted: Counter[tuple[str, str]] = Counter()
    for case in cases:
        own = case["language"] == "es"
        key = (case["language"], case["change"] if own and spanish == EACH_CHANGE else "")
        counted[key] += 1
        if counted[key] <= (spanish if own else other):
            yield case


@click.command()
def main() -> None:
    """Make both files anew."""
    folder = resources() / "eval" / "answers"
    making = json.loads((folder / "making" / "proof.json").read_text("utf-8"))
    cases = made(read_knowledge(resources() / "data"), making)
    for name, lines in cases.items():
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
        click.echo(f"{name}.jsonl: {len(lines)} cases")


if __name__ == "__main__":
    main()
