"""Building what the journey of a message works with: the same steps over three chains of retrievers."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from clara.answering.dialogue.clarification import Clarifying, read_ambiguous
from clara.answering.dialogue.contacts import Reaching
from clara.answering.dialogue.feedback import Feedback
from clara.answering.journey import Tools
from clara.answering.privacy.rights import Rights
from clara.answering.privacy.wishes import read_wishes
from clara.answering.safety.danger import Danger
from clara.answering.safety.guard import Guard
from clara.answering.texts import Texts
from clara.answering.voice_notes import Listener
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.frame import Framing, Writer
from clara.container.dialogue import build_detector, build_dialogue
from clara.container.knowledge import Knowledge
from clara.container.lazily import Lazily
from clara.container.scoping import build_scope, classifier
from clara.container.writing import grounded_writer
from clara.knowledge.passages import CORPUS
from clara.retrieval.classifier import EmbeddingClassifier
from clara.retrieval.passage import Found, Query, Retrieve
from clara.retrieval.ports import Embedder, EmbedderUnavailableError, IndexUnavailableError
from clara.settings import resources

if TYPE_CHECKING:
    from clara.container import Container
    from clara.container.edition import Edition


class Toolbox:
    """Gives the tools of a conversation about one version. What all of them share is read from data/ once."""

    def __init__(self, services: "Container", edition: "Edition") -> None:
        self._services = services
        self._edition = edition
        self._unaided = Lazily(self._build)

    def whole(self, retrieve: Retrieve, listener: Listener | None) -> Tools:
        """Give the tools with every model that the settings ask for."""
        tools = self._unaided.get()
        return replace(tools, retrieve=retrieve, writer=self._writer(tools), listener=listener)

    def unaided(self, retrieve: Retrieve) -> Tools:
        """Give the tools without a served model."""
        return replace(self._unaided.get(), retrieve=retrieve)

    def safe(self, retrieve: Retrieve) -> Tools:
        """Give the tools without the embedder too, for a message that keeps breaking its worker."""
        return replace(self._speaking(), retrieve=retrieve)

    def _writer(self, tools: Tools) -> Writer:
        services = self._services
        model = services.text_model.get() if services.settings.rag_grounded_prompting else None
        if model is None or not isinstance(tools.writer, ExtractiveWriter):
            return tools.writer
        return grounded_writer(self._edition, tools.writer, tools.detector, model)

    def _build(self) -> Tools:
        retrieve = self._edition.safe_retriever.get()
        tools, services = self._speaking(), self._services
        guard, rights = tools.guard, tools.rights
        guard = replace(guard, vector=EmbeddingClassifier(guard.danger.model, services.embedder.get).vector)
        rights = replace(rights, vector=EmbeddingClassifier(rights.model, services.embedder.get).vector)
        return replace(tools, retrieve=retrieve, scope=services.scope.get(), guard=guard, rights=rights)

    def _speaking(self) -> Tools:
        """Give the tools that speak of this version: what hangs on the text of facts is its own."""
        services, version = self._services, self._edition.version
        knowledge, contact = version.knowledge, services.settings.clara_human_contact
        base = _from_data(knowledge.base, services.texts.get(), services.danger.get(), contact)
        framing = Framing(base.texts, knowledge.names, knowledge.passages, version.today, version.flagged)
        reaching = Reaching(framing, knowledge.catalogue.procedures, knowledge.passages, base.places, contact)
        dialogue = replace(base.dialogue, reaching=reaching, today=version.today)
        authorities = {name: procedure.authority for name, procedure in knowledge.catalogue.procedures.items()}
        return replace(base, writer=ExtractiveWriter(framing, authorities), dialogue=dialogue)


@lru_cache(maxsize=8)
def _from_data(knowledge: Knowledge, texts: Texts, danger: Danger, contact: str | None) -> Tools:
    """Build the tools that hang on data/ alone, which finds nothing: once a process, however many services it has."""
    data = resources() / "data"
    wishes = read_wishes(data)
    return Tools(
        corpus=CORPUS,
        retrieve=_nothing,
        texts=texts,
        detector=build_detector(knowledge, texts, classifier(data, "detection/model.npz", "language")),
        guard=Guard(danger, wishes, texts),
        rights=Rights(wishes, texts, classifier(data, "rights/model.npz", "wishes")),
        feedback=Feedback(wishes, texts),
        dialogue=build_dialogue(knowledge, texts, contact),
        scope=build_scope(_none),
        clarifying=Clarifying(read_ambiguous(data), texts, knowledge.names, knowledge.catalogue.places, knowledge.named),
        writer=ExtractiveWriter(Framing(texts, knowledge.names, knowledge.passages)),
        places=knowledge.catalogue.places,
        human_contact=contact,
    )


def _nothing(_query: Query) -> Found:
    raise IndexUnavailableError("no search has been joined to the tools yet")


def _none() -> Embedder:
    raise EmbedderUnavailableError("left out, because this message failed before")
