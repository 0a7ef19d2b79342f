"""Building what proves replies against the facts they cite."""

from typing import TYPE_CHECKING

from clara.conversation.proof.proving import Prover
from clara.conversation.proof.subjects import Subjects, read_bodies
from clara.knowledge.placing import holds_on, madrid_today
from clara.knowledge.reading.lexicon import read_lexicons
from clara.knowledge.reading.reader import Reader
from clara.settings import resources

if TYPE_CHECKING:
    from clara.bootstrap import Services


def prover(services: "Services") -> Prover:
    """Read the words of all languages, and take what is known of procedures. Raises DataError."""
    data, knowledge = resources() / "data", services.knowledge.get()
    passages = {passage.id: passage for passage in knowledge.passages}

    def in_force(name: str) -> bool:
        return name in passages and holds_on(passages[name], madrid_today())

    return Prover(Reader(read_lexicons(data)), Subjects(knowledge.catalogue, read_bodies(data)), in_force)
