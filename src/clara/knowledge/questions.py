"""Typical questions, in people's own words: the keys to situations, and what the model of intents learns from."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clara.data_files import Fault, read_document, read_schema
from clara.knowledge.procedure import Procedure
from clara.language.fold import caseless, spaced

# The document that questions outside the catalogue belong to.
OUTSIDE = "outside"
# The block of questions about a procedure as a whole, and its matters on which there are no facts.
GENERAL = "general"
# The block of the questions that only tell the facts of a procedure apart.
MORE = "more"


@dataclass(frozen=True, slots=True)
class TypicalQuestion:
    """One question as a person would put it. `procedure` is OUTSIDE for what the catalogue does not hold.

    `fact` is the id of the one fact that answers it, where there is one. `inside` says that the question is there to tell the
    facts of its procedure apart.
    """

    id: str
    text: str
    language: str
    procedure: str
    section: str
    fact: str = ""
    inside: bool = False


def read_questions(
    folder: Path, procedures: Mapping[str, Procedure], broken: Set[str] = frozenset()
) -> tuple[list[TypicalQuestion], list[Fault]]:
    """Read `folder`/questions on these procedures. Gives the questions and every fault.

    What questions refer to is not checked for `broken` procedures, whose facts are not known. A procedure without a file has
    no questions: that is for the check of the knowledge to report.
    """
    for schema in ("questions", OUTSIDE):
        read_schema(folder / "schema" / f"{schema}.schema.json")  # where it is missing, no file can be told to be right
    facts = {
        name: {fact.id: section.id for section in procedure.sections for fact in section.facts}
        for name, procedure in procedures.items()
    }
    questions: list[TypicalQuestion] = []
    faults: list[Fault] = []
    for path in sorted((folder / "questions").glob("*.json")):
        file = f"questions/{path.name}"
        document, problems = read_document(folder, file, OUTSIDE if path.stem == OUTSIDE else "questions")
        faults += problems
        if document is not None:
            faults += _reference_faults(file, path.stem, document, facts) if path.stem not in broken else ()
            questions += _questions(path.stem, document, facts.get(path.stem, {}))
    return questions, [*faults, *_repeated(questions)]


def _questions(stem: str, document: Mapping[str, Any], facts: Mapping[str, str]) -> Iterator[TypicalQuestion]:
    own = document["topics"] if stem == OUTSIDE else document["sections"] | document.get("facts", {})
    general = {GENERAL: document.get(GENERAL, {})}
    blocks = [("", *block) for block in (general | own).items()] + [(MORE, *block) for block in document.get(MORE, {}).items()]
    for within, block, by_language in blocks:
        section, fact = "" if block == GENERAL else facts.get(block, block), block if block in facts else ""
        for language, texts in by_language.items():
            for number, text in enumerate(texts, 1):
                name = "/".join(filter(None, (stem, within, block, language, f"{number:02d}")))
                yield TypicalQuestion(name, text, language, stem, section, fact, inside=bool(within))


def _reference_faults(
    file: str, stem: str, document: Mapping[str, Any], facts: Mapping[str, Mapping[str, str]]
) -> Iterator[Fault]:
    if stem == OUTSIDE:
        return
    if document["procedure"] != stem:
        yield Fault(file, "$.procedure", f"is '{document['procedure']}' but the file is named '{stem}'; make them equal")
    if stem not in facts:
        yield Fault(file, "file", f"there is no tramites/{stem}.json; rename the file or add the procedure")
        return
    for section in document["sections"]:
        if section not in facts[stem].values():
            yield Fault(file, f"$.sections.{section}", f"tramites/{stem}.json has no section '{section}'; move its questions")
    for block in ("facts", MORE):
        for fact in sorted(document.get(block, {}).keys() - facts[stem].keys()):
            yield Fault(file, f"$.{block}.{fact}", f"tramites/{stem}.json has no fact '{fact}'; move its questions")


def _repeated(questions: list[TypicalQuestion]) -> Iterator[Fault]:
    seen: dict[str, TypicalQuestion] = {}
    for question in questions:
        first = seen.setdefault(caseless(spaced(question.text)), question)
        if first is not question:
            yield Fault(f"questions/{question.procedure}.json", question.id, f"the same question as {first.id}; keep one")


def digest_of(examples: Sequence[TypicalQuestion]) -> str:
    """Digest what the model learns from, so that a stale model is noticed."""
    lines = sorted(f"{example.procedure}\t{example.section}\t{example.fact}\t{example.text}" for example in examples)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
