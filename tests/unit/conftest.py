"""What several unit tests share: the real data, read once, and tools without database or model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from tests.languages import SCRIPTS
from unit_builders import Catalogued

from clara.answering.journey import Tools
from clara.answering.texts import Texts, read_texts
from clara.container import Container
from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.keyword_tier import DIRECTORY, KEYWORD, NamedProcedures, directory, keyword, understanding
from clara.knowledge.next_steps import NextSteps, read_next_steps
from clara.knowledge.passages import passages_of
from clara.knowledge.retriever_chains import dated, located
from clara.language.detection import LanguageDetector
from clara.retrieval.calibration import read_calibration
from clara.retrieval.classifier import read_classifier
from clara.retrieval.hybrid import Understand
from clara.retrieval.intent import IntentModel, read_intent
from clara.retrieval.passage import Passage, Retrieve
from clara.retrieval.tiers import Tier, tiers
from clara.settings import Settings, resources

TODAY = date(2026, 11, 21)


@dataclass(frozen=True, slots=True)
class Real:
    """The knowledge in data/ as it is on a fixed day, whatever day the tests run."""

    data: Path
    catalogue: Catalogue
    passages: tuple[Passage, ...]
    named: NamedProcedures
    intent: IntentModel
    names: Mapping[str, Mapping[str, str]]
    next_steps: Mapping[str, NextSteps]

    @property
    def understand(self) -> Understand:
        """Give what tells which procedures and sections a question is about."""
        return understanding(self.intent.intent, self.named)

    def keyword(self) -> Retrieve:
        """Assemble the keyword tier alone."""
        return keyword(self.passages, self.understand, read_calibration(self.data, KEYWORD))

    def chain(self) -> Retrieve:
        """Assemble the chain that needs no database and no embedder."""
        offline = [Tier(KEYWORD, self.keyword()), Tier(DIRECTORY, directory(self.passages))]
        return located(dated(tiers(offline, lambda _tier, _error: None), lambda: TODAY), self.catalogue.places)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the real data."""
    return resources() / "data"


@pytest.fixture(scope="session")
def real(data: Path) -> Real:
    """The real knowledge."""
    catalogue = read_catalogue(data, with_questions=True)
    return Real(
        data=data,
        catalogue=catalogue,
        passages=tuple(passage for procedure in catalogue.procedures.values() for passage in passages_of(procedure, TODAY)),
        named=NamedProcedures(catalogue),
        intent=read_intent(data / "intent.npz"),
        names={procedure.id: procedure.name for procedure in catalogue.procedures.values()},
        next_steps=read_next_steps(data, catalogue),
    )


@pytest.fixture(scope="session")
def texts(data: Path) -> Texts:
    """The real fixed texts."""
    return read_texts(data)


@pytest.fixture(scope="session")
def detector(data: Path, texts: Texts) -> LanguageDetector:
    """The real language detector, without what is known of names and phrases."""
    model = read_classifier(data / "detection" / "model.npz")
    telling = {language: spoken.words for language, spoken in texts.by_language.items()}
    return LanguageDetector(SCRIPTS, model.shares, model.about["answered_in"], phrases=telling, late=("gl",))


@pytest.fixture(scope="session")
def tools_with(real: Real) -> Callable[..., Tools]:
    """Build the tools of a conversation around a retriever; by default the chain that needs no database."""
    chain = real.chain()

    @cache
    def whole(human_contact: str | None) -> Tools:
        settings = Settings(clara_channel="local", clara_human_contact=human_contact)
        return Container(settings, None).snapshot().safe_tools

    def build(retrieve: Retrieve | None = None, human_contact: str | None = None) -> Tools:
        tools = whole(human_contact)
        if retrieve is None:
            return replace(tools, retrieve=chain)
        # What a test says was found is known: its passages are laid over the catalogue's.
        return replace(tools, retrieve=retrieve, writer=Catalogued(tools.texts, real.names, real.passages))

    return build
