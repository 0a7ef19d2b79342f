"""Building what proves replies against the facts they cite."""

from collections.abc import Callable
from datetime import date
from functools import lru_cache

from clara.answering.verification.prover import Prover
from clara.answering.verification.statements import Subjects, read_bodies
from clara.container.knowledge import Knowledge
from clara.language.figures.lexicon import read_lexicons
from clara.language.figures.reader import Reader
from clara.settings import resources


def prover(knowledge: Knowledge, today: Callable[[], date]) -> Prover:
    """Read the words of all languages, and take what is known of procedures. Raises DataError."""
    passages = {passage.id: passage for passage in knowledge.passages}

    def in_force(name: str) -> bool:
        return name in passages and passages[name].holds(today())

    return Prover(*_reading(knowledge.base), in_force)


@lru_cache(maxsize=2)
def _reading(knowledge: Knowledge) -> tuple[Reader, Subjects]:
    """Read what no correction of a fact changes: words, and the names of procedures. Once a process."""
    data = resources() / "data"
    return Reader(read_lexicons(data)), Subjects(knowledge.catalogue, read_bodies(data))
