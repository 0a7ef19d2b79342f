"""Building the writer of answers around a language model."""

from typing import TYPE_CHECKING

from clara.conversation.language import LanguageDetector
from clara.conversation.ports import TextModel
from clara.conversation.proof.anchors import Anchors
from clara.conversation.safety.sensitive import read_sensitive
from clara.conversation.writing.extractive import ExtractiveWriter
from clara.conversation.writing.gating import Gates
from clara.conversation.writing.grounded import GroundedWriter, Grounding
from clara.conversation.writing.prompting import read_prompts
from clara.conversation.writing.reviewing import Reviewer
from clara.knowledge.reading.lexicon import read_lexicons
from clara.knowledge.reading.reader import Reader
from clara.settings import resources

if TYPE_CHECKING:
    from clara.bootstrap import Services
    from clara.bootstrap.edition import Edition


def reviewer(services: "Services | Edition", detector: LanguageDetector) -> Reviewer:
    """Build what checks drafts. Raises DataError."""
    data = resources() / "data"
    prompts = read_prompts(data)
    gates = Gates(read_sensitive(data), f"{prompts.instruction}\n{prompts.rewrite}")
    return Reviewer(gates, Anchors(Reader(read_lexicons(data))), services.prover.get().prove, detector)


def grounded_writer(
    services: "Services | Edition", extractive: ExtractiveWriter, detector: LanguageDetector, model: TextModel
) -> GroundedWriter:
    """Put a model between the extractive writer and the review. Raises DataError."""
    names = {code: place.name for code, place in services.knowledge.get().catalogue.places.by_code.items()}
    grounding = Grounding(read_prompts(resources() / "data"), names)
    return GroundedWriter(extractive, model, reviewer(services, detector), grounding)
