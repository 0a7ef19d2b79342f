"""Questions for runs in which Clara herself answers: those of the evaluation and the typical ones, in ten languages."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.languages import TAUGHT

from clara.settings import resources

# What a line calls its question. Texts under other names (cries for help, wishes to be forgotten) are no questions.
FIELDS: Final = ("query", "question")
TYPICAL: Final = ("general", "sections", "facts", "more")


def distinct_questions(seed: int) -> tuple[str, ...]:
    """Give every question once, no two alike but for case and blanks, in an order of the seed, the languages in turn."""
    random, by_language = Random(f"{seed} questions"), defaultdict[str, list[str]](list)
    for language, question in _once(_all(resources())):
        by_language[language].append(question)
    for language in TAUGHT:
        random.shuffle(by_language[language])
    drawn: list[str] = []
    while any(by_language.values()):
        drawn += [by_language[language].pop() for language in TAUGHT if by_language[language]]
    return tuple(drawn)


def _once(questions: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for language, question in questions:
        key = " ".join(question.casefold().split())
        if key not in seen:
            seen.add(key)
            yield language, question


def _all(root: Path) -> Iterator[tuple[str, str]]:
    """Give every question with its language."""
    for path in sorted([*(root / "eval" / "clara").glob("*.jsonl"), *(root / "eval" / "answers").glob("*.jsonl")]):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            yield from ((row["language"], row[name]) for name in FIELDS if name in row)
    for path in sorted((root / "data" / "questions").glob("*.json")):
        document = json.loads(path.read_text("utf-8"))
        for part in TYPICAL:
            yield from _typical(document.get(part, {}))


def _typical(part: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give the questions of a part: lists by language, or such a part for each section or fact."""
    for name, held in part.items():
        yield from ((name, question) for question in held) if isinstance(held, list) else _typical(held)
