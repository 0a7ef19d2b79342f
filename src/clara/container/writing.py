"""Building the writer of answers around a language model."""

from typing import TYPE_CHECKING

from clara.answering.ports import TextModel
from clara.answering.safety.sensitive import read_sensitive
from clara.answering.verification.anchors import Anchors
from clara.answering.writing.extractive import ExtractiveWriter
from clara.answering.writing.gates import Gates
from clara.answering.writing.grounded import GroundedWriter, Grounding
from clara.answering.writing.prompt import read_prompts
from clara.answering.writing.reviewer import Reviewer
from clara.language.detection import LanguageDetector
from clara.language.figures.lexicon import read_lexicons
from clara.language.figures.reader import Reader
from clara.settings import resources

if TYPE_CHECKING:
    from clara.container import Container
    from clara.container.edition import Edition


def reviewer(services: "Container | Edition", detector: LanguageDetector) -> Reviewer:
    """Build what checks drafts. Raises DataError."""
    data = resources() / "data"
    prompts = read_prompts(data)
    gates = Gates(read_sensitive(data), f"{prompts.instruction}\n{prompts.rewrite}")
    return Reviewer(gates, Anchors(Reader(read_lexicons(data))), services.prover.get().prove, detector)


def grounded_writer(
    services: "Container | Edition", extractive: ExtractiveWriter, detector: LanguageDetector, model: TextModel
) -> GroundedWriter:
    """Put a model between the extractive writer and the review. Raises DataError."""
    names = {code: place.name for code, place in services.knowledge.get().catalogue.places.by_code.items()}
    grounding = Grounding(read_prompts(resources() / "data"), names)
    return GroundedWriter(extractive, model, reviewer(services, detector), grounding)
