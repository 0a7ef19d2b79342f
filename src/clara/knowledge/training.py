"""What the model of intents learns from: the typical questions and every name of every procedure."""

import hashlib
from collections.abc import Sequence

from clara.knowledge.catalogue import Catalogue
from clara.knowledge.questions import TypicalQuestion


def examples_of(catalogue: Catalogue) -> list[TypicalQuestion]:
    """Give the typical questions, and the names of each procedure as the shortest of questions."""
    named = [
        TypicalQuestion(f"{procedure.id}/name/{language}/{number}", phrase, language, procedure.id, "")
        for procedure in catalogue.procedures.values()
        for language in procedure.name
        for number, phrase in enumerate((procedure.name[language], *procedure.vocabulary.get(language, ())))
    ]
    return [*catalogue.questions, *named]


def digest_of(examples: Sequence[TypicalQuestion]) -> str:
    """Digest what the model learns from, so that a stale model is noticed."""
    lines = sorted(f"{example.procedure}\t{example.section}\t{example.fact}\t{example.text}" for example in examples)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
