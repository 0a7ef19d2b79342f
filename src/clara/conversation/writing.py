"""The extractive writer: the best facts, short, each with its mark, source and date. No AI service."""

from collections.abc import Mapping, Sequence

from clara.conversation.message import Citation
from clara.conversation.texts import Texts
from clara.knowledge.procedure import Certainty
from clara.retrieval.passage import Hit

# More than four facts is more than a person reads on a phone; the next question brings the others.
MAX_FACTS = 4
# A fact of the same procedure joins the best one when its fused score comes this near.
NEAR = 0.6
# Editors put the fact that most people need first: what that is worth against the fused score of 0..1.8.
FIRST_FACT = 0.3
# Unicode's first strong isolate and its end: without them the full stop of "733,60 € al mes." jumps before the amount.
ISOLATE, END_ISOLATE = "\u2068", "\u2069"


def choose(hits: Sequence[Hit]) -> list[Hit]:
    """Pick the facts to show: the best ones of the best one's section, in the editor's order, then near ones.

    The last is the one to drop when there is no room for all.
    """
    best = hits[0]
    near = [hit for hit in hits if hit.passage.document_id == best.passage.document_id and hit.score >= NEAR * best.score]
    same = [hit for hit in near if hit.passage.section == best.passage.section]
    same.sort(key=lambda hit: hit.score + FIRST_FACT / hit.passage.metadata["place"], reverse=True)
    others = [hit for hit in near if hit.passage.section != best.passage.section]
    kept = same[:MAX_FACTS]
    kept.sort(key=lambda hit: int(hit.passage.metadata["place"]))
    return [*kept, *others][:MAX_FACTS]


class ExtractiveWriter:
    """Writes a reply from evidence alone, in WhatsApp's format, within a number of characters."""

    def __init__(self, texts: Texts, names: Mapping[str, Mapping[str, str]]) -> None:
        self._texts = texts
        self._names = names

    def write(self, hits: Sequence[Hit], language: str, room: int) -> tuple[str, tuple[Citation, ...]]:
        """Give the text and its citations. Facts are dropped from the end until the text fits `room` characters."""
        chosen = choose(hits)
        while True:
            text, citations = self._compose(chosen, language)
            if len(text) <= room or len(chosen) == 1:
                return text, citations
            chosen.pop()

    def _compose(self, chosen: Sequence[Hit], language: str) -> tuple[str, tuple[Citation, ...]]:
        document = chosen[0].passage.document_id
        citations = tuple(_citation(number, hit) for number, hit in enumerate(chosen, 1))
        said = [
            f"• {self._caution(hit, language)}{self._quoted(hit.passage.text, language)} [{citation.mark}]"
            for hit, citation in zip(chosen, citations, strict=True)
        ]
        sources = [
            f"[{citation.mark}] {self._texts.say(language, 'source')}: {self._quoted(citation.source_url, language)} "
            f"({self._texts.say(language, 'checked_on', date=shown_date(citation.verified_on, language))})"
            for citation in citations
        ]
        parts = [
            self._texts.say(language, "answer_intro", procedure=self._names[document][language]),
            "\n".join(said),
            "\n".join(sources),
            self._texts.say(language, "spanish_quotes"),
            f"_{self._texts.say(language, 'verify')}_",
        ]
        return "\n\n".join(part for part in parts if part), citations

    def _caution(self, hit: Hit, language: str) -> str:
        passage = hit.passage.metadata
        secondary = passage["certainty"] == Certainty.SECONDARY and not any(source["official"] for source in passage["sources"])
        return f"{self._texts.say(language, 'secondary')} " if secondary else ""

    def _quoted(self, text: str, language: str) -> str:
        """Keep Spanish lines in order inside a text that runs from right to left."""
        return f"{ISOLATE}{text}{END_ISOLATE}" if self._texts.direction(language) == "rtl" else text


def _citation(number: int, hit: Hit) -> Citation:
    passage, source = hit.passage, hit.passage.metadata["sources"][0]
    return Citation(f"C{number}", passage.id, passage.document_id, passage.section, source["url"], source["seen_on"])


def shown_date(iso: str, language: str) -> str:
    """Write a day or a month as people read it: 07/08/2026, 07/2026; Chinese puts the year first."""
    parts = iso.split("-")
    return "-".join(parts) if language == "zh" else "/".join(reversed(parts))
