"""The vectors of the evaluation's questions: a release carries them, so that the gate gives one verdict on every processor.

`python -m clara_lab.makers.vectors --evaluation` makes them. Processors sum in other orders, and a vector differs in its last
digits; of thousands of cases a few stand so near a border that they fall otherwise. What is judged is the program, so its
questions have the same vectors everywhere; a second run with the vectors of this machine tells how many cases change side.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Final

from clara.answering.snapshot import KnowledgeSnapshot
from clara.quality.gate import Shortfall
from clara.retrieval.embedders import RememberingEmbedder, WrappedEmbedder, read_vectors
from clara.retrieval.ports import Embedder, Role
from clara.settings import resources

FILE: Final = "eval/vectors.npz"
# The share of cases that another processor may decide otherwise: it was one of 160 in five runs on another one.
MOVED: Final = 0.02
# Cases named that changed side.
NAMED: Final = 20
Say = Callable[[str], None]


class OnceEmbedder(WrappedEmbedder):
    """Embeds each text once, however often it is asked: questions of an evaluation are public. `texts` are those, in order."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.asked = 0
        self._lock = Lock()
        self._made: dict[tuple[str, Role], list[float]] = {}

    @property
    def texts(self) -> list[str]:
        """Give the questions that were embedded."""
        return list(self.vectors())

    def vectors(self) -> Mapping[str, list[float]]:
        """Give the vectors of the questions, by text."""
        return {text: vector for (text, role), vector in self._made.items() if role == "query"}

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text, in order. Raises EmbedderUnavailableError."""
        with self._lock:
            self.asked += 1
            fresh = [text for text in dict.fromkeys(texts) if (text, role) not in self._made]
            if fresh:
                made = self._embedder.embed(fresh, role)
                self._made |= {(text, role): vector for text, vector in zip(fresh, made, strict=True)}
            return [self._made[text, role] for text in texts]


class QuestionVectors:
    """Two ways to ask the same snapshot: with the vectors of the release, and with those of this machine."""

    def __init__(self, snapshot: KnowledgeSnapshot) -> None:
        self._snapshot = snapshot
        known = read_vectors(resources() / FILE, snapshot.embedder.model)
        self._missing = OnceEmbedder(snapshot.embedder)
        self._asked = OnceEmbedder(RememberingEmbedder(self._missing, known))
        self.carried = snapshot.embedding_by(self._asked)

    @property
    def embedded(self) -> int:
        """How often anything was embedded by `carried`."""
        return self._asked.asked

    @property
    def missing(self) -> list[str]:
        """Give the questions that the release carries no vector of; this machine made it."""
        return self._missing.texts

    @cached_property
    def live(self) -> KnowledgeSnapshot:
        """Give the snapshot that embeds with this machine; what `carried` asked is embedded now, all at once."""
        engine = OnceEmbedder(self._snapshot.embedder)
        engine.embed(self._asked.texts, "query")
        return self._snapshot.embedding_by(engine)

    def of_all(self) -> Mapping[str, list[float]]:
        """Give the vector of everything that was asked, by text."""
        return self._asked.vectors()


def moved(carried: Mapping[str, bool], live: Mapping[str, bool], say: Say) -> list[Shortfall]:
    """Say which cases this machine decides otherwise; more than a few fall short. Both have the same cases."""
    others = [name for name, passed in carried.items() if live.get(name) is not passed]
    share = len(others) / len(carried) if carried else 0.0
    say(f"with this machine's own vectors {len(others)} of {len(carried)} cases change side ({share:.2%}; at most {MOVED:.0%})")
    for name in others[:NAMED]:
        say(f"  {name}: {'right' if live.get(name) else 'wrong'} here")
    return [Shortfall("cases decided alike with this machine's vectors", 1 - MOVED, 1 - share)] if share > MOVED else []
