"""Changing the model that corpora are searched by: building its vectors beside those that serve, then changing over.

People are answered all the while. Until a corpus has a vector of the new model for every passage, it is searched by the old
ones; then one statement changes over, for every process at once. The old vectors stay, for the way back.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from clara.errors import Refused
from clara.ingestion.corpora import CorpusNameError
from clara.ingestion.journey import STEP, Progress
from clara.ingestion.ports import LOOKED_AT, FillableCorpora, Space, Spaces
from clara.knowledge.passages import CORPUS
from clara.plain_text import table
from clara.retrieval.embedders import embedded
from clara.retrieval.ports import Embedder
from clara.retrieval.served_corpora import name_of

Say = Callable[[str], None]
# Rounds in which other passages may turn up that were written meanwhile. An ingestion writes once; more than a few at a time
# are a mistake somewhere.
MOST_ROUNDS = 20


class BusyIndexError(Refused):
    """Somebody else builds vectors for this corpus, or keeps changing it. Try again when that has ended."""


class IncompleteIndexError(Refused):
    """A corpus cannot be searched by this model yet: passages have no vector of it. The message says what to do."""


class EmbeddingModels(Protocol):
    """The embedding models by name."""

    def model_of(self, choice: str) -> str:
        """Give the name of the model that an operator chose."""

    def filling(self, model: str) -> Embedder:
        """Give what embeds the texts of corpora for a model."""


class IndexChange:
    """Changes the model that corpora are searched by. `physical` gives the corpus that stands behind a name."""

    def __init__(
        self, spaces: Spaces, corpora: FillableCorpora, models: EmbeddingModels, physical: Callable[[str], str]
    ) -> None:
        self._spaces = spaces
        self._corpora = corpora
        self._models = models
        self._physical = physical

    def build(self, choice: str, corpora: Sequence[str], say: Say, progress: Progress) -> None:
        """Embed every passage of the corpora, all of them if none is named, with the chosen model, and change over to it.

        What was stored stays stored however this ends: repeating it goes on from there. Raises CorpusNameError, BusyIndexError,
        EmbedderUnavailableError, CorpusUnavailableError; then the corpus is searched as before.
        """
        model = self._models.model_of(choice)
        for corpus in self._named(corpora):
            with self._spaces.building(corpus) as alone:
                if not alone:
                    raise BusyIndexError(f"somebody else builds vectors for {corpus}; try again when that has ended")
                say(self._built(corpus, model, progress))

    def _built(self, corpus: str, model: str, progress: Progress) -> str:
        spaces = self._spaces
        held = [space for space in spaces.spaces() if space.corpus == corpus]
        there = sum(space.vectors for space in held if space.model == model)
        passages = held[0].passages
        embedder = self._models.filling(model)
        of_clara = name_of(corpus) == CORPUS
        remembering = (self._corpora.passage_embedder if of_clara else self._corpora.memorising_embedder)(embedder)
        added = 0
        for _ in range(MOST_ROUNDS):
            new, blank = _fill(spaces, corpus, remembering, lambda done: progress(min(there + done, passages), passages))
            added += new
            spaces.prepare(corpus, model, embedder.dimensions)
            if not spaces.serve(corpus, model, blank):
                served = "was searched by it already" if _served(held, corpus) == model else "is searched by it from now on"
                return f"{corpus}: {added} new vectors of {model} for {passages} passages; it {served}"
        raise BusyIndexError(
            f"{corpus} was changed again and again while its vectors were built; try again when that has ended"
        )

    def use(self, choice: str, corpora: Sequence[str], say: Say) -> None:
        """Let corpora be searched by a model whose vectors are there already: the way back. Repeating it changes nothing.

        Raises CorpusNameError, IncompleteIndexError before any corpus is changed, CorpusUnavailableError.
        """
        spaces = self._spaces
        model = self._models.model_of(choice)
        named = self._named(corpora)
        held = {space.corpus for space in spaces.spaces() if space.model == model}
        if faults := [fault for corpus in named if (fault := _lacking(spaces, corpus, model, known=corpus in held))]:
            raise IncompleteIndexError("\n".join(f"{fault}. Run `clara index build --model {choice}`" for fault in faults))
        before = {corpus: _served(spaces.spaces(), corpus) for corpus in named}
        for corpus in named:
            if spaces.serve(corpus, model):
                raise IncompleteIndexError(f"{corpus} was changed just now. Run `clara index build --model {choice}`")
            now = " already" if before[corpus] == model else f" instead of {before[corpus]}"
            say(f"{corpus}: is searched by {model}{now}")

    def _named(self, corpora: Sequence[str]) -> list[str]:
        """Give the corpora that are meant, for a name the one that is served under it. Raises CorpusNameError."""
        corpora = [self._physical(name) for name in corpora]
        there = list(dict.fromkeys(space.corpus for space in self._spaces.spaces()))
        if not there:
            raise CorpusNameError("there is no corpus yet; run `clara ingest`")
        if unknown := [name for name in corpora if name not in there]:
            raise CorpusNameError(f"there is no corpus {unknown[0]!r}; `clara corpus list` names those there are")
        return list(dict.fromkeys(corpora)) or there


def _fill(spaces: Spaces, corpus: str, embedder: Embedder, progress: Callable[[int], None]) -> tuple[int, set[int]]:
    """Go through the passages once: give how many vectors are new, and the keys of passages with nothing to embed.

    What is written behind our back is for the next round.
    """
    added, last, blank = 0, 0, set[int]()
    while batch := spaces.unembedded(corpus, embedder.model, last, STEP):
        made = embedded(embedder, [passage.text for passage in batch], "passage")
        vectors = {passage.key: vector for passage, vector in zip(batch, made, strict=True)}
        blank |= {key for key, vector in vectors.items() if not any(vector)}
        spaces.prepare(corpus, embedder.model, embedder.dimensions)
        added += spaces.add(corpus, embedder.model, {key: vector for key, vector in vectors.items() if any(vector)})
        last = batch[-1].key
        progress(added)
    return added, blank


def _lacking(spaces: Spaces, corpus: str, model: str, *, known: bool) -> str | None:
    if not known:
        return f"{corpus} has no vectors of {model}"
    lacking = spaces.lacking(corpus, model)
    return f"{corpus} has {lacking} passages without a vector of {model}" if lacking else None


def status(spaces: Spaces) -> list[Space]:
    """Say which vectors there are, by corpus and model, and how many are missing. Raises CorpusUnavailableError."""
    return [replace(space, missing=_missing(spaces, space)) for space in spaces.spaces()]


def _missing(spaces: Spaces, space: Space) -> int:
    less = space.passages - space.vectors
    # Of many it makes no difference that a few may have nothing to embed.
    return less if space.model is None or less > LOOKED_AT else spaces.lacking(space.corpus, space.model)


def status_lines(found: Sequence[Space]) -> list[str]:
    """Write the same as lines under a heading."""
    rows = [("corpus", "model", "size", "passages", "vectors", "missing", "served")]
    for one in found:
        numbers = (str(one.dimensions), str(one.passages), str(one.vectors), str(one.missing))
        rows.append((one.corpus, one.model or "-", *numbers, "yes" if one.served else ""))
    return table(rows)


def _served(spaces: Sequence[Space], corpus: str) -> str | None:
    return next((space.model for space in spaces if space.corpus == corpus and space.served), None)
