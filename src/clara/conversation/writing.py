"""The extractive writer: the best facts, short, each with its mark, source and date. No AI service."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from clara.conversation.message import Citation
from clara.conversation.texts import Texts
from clara.knowledge.placing import holds_on, madrid_today
from clara.knowledge.procedure import Certainty
from clara.retrieval.passage import Hit, Passage

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
    """Writes a reply from evidence alone, in WhatsApp's format, within a number of characters.

    `passages` are all that may be said: a fact is never said without the facts that limit it.
    """

    def __init__(
        self,
        texts: Texts,
        names: Mapping[str, Mapping[str, str]],
        passages: Iterable[Passage] = (),
        today: Callable[[], date] = madrid_today,
    ) -> None:
        self._texts = texts
        self._names = names
        self._today = today
        self._passages = {passage.id: passage for passage in passages}

    def write(self, hits: Sequence[Hit], language: str, room: int) -> tuple[str, tuple[Citation, ...]]:
        """Give the text and its citations, of `room` characters at most.

        Facts are dropped from the end until the text fits; when not even the first fits with what limits it, any other found
        fact of the procedure that does is said alone. The shortest text is given when nothing fits.
        """
        chosen = choose(hits)
        fewer = [chosen[:count] for count in range(len(chosen), 0, -1)]
        alone = [[hit] for hit in hits if hit.passage.document_id == chosen[0].passage.document_id]
        too_long: list[tuple[str, tuple[Citation, ...]]] = []
        for facts in (*fewer, *alone):
            text, citations = self._compose(self._limited(facts), language)
            if len(text) <= room:
                return text, citations
            too_long.append((text, citations))
        return min(too_long, key=lambda written: len(written[0]))

    def _limited(self, chosen: Sequence[Hit]) -> list[Hit]:
        """Put behind each fact the facts that limit it, and behind those what limits them; each is said once."""
        said: dict[str, Hit] = {}
        waiting = list(reversed(chosen))
        while waiting:
            hit = waiting.pop()
            if said.setdefault(hit.passage.id, hit) is hit:
                names = hit.passage.metadata.get("conditions", ())
                limits = [self._passages[name] for name in names if name in self._passages]
                waiting += [Hit(passage, hit.score) for passage in reversed(limits) if holds_on(passage, self._today())]
        return list(said.values())

    def _compose(self, chosen: Sequence[Hit], language: str) -> tuple[str, tuple[Citation, ...]]:
        document = chosen[0].passage.document_id
        citations = tuple(_citation(number, hit) for number, hit in enumerate(chosen, 1))
        said = [
            f"• {self._caution(hit, language)}{self._quoted(hit.passage.text, language)} [{citation.mark}]"
            for hit, citation in zip(chosen, citations, strict=True)
        ]
        parts = [
            self._texts.say(language, "answer_intro", procedure=self._names[document][language]),
            "\n".join(said),
            "\n".join(self._sources(citations, language)),
            self._texts.say(language, "spanish_quotes"),
            f"_{self._texts.say(language, 'verify')}_",
        ]
        return "\n\n".join(part for part in parts if part), citations

    def _sources(self, citations: Sequence[Citation], language: str) -> list[str]:
        """Give each page with its date once, behind the marks of all facts from it: an address is most of a short answer."""
        marks: dict[tuple[str, str], list[str]] = {}
        for citation in citations:
            marks.setdefault((citation.source_url, citation.verified_on), []).append(f"[{citation.mark}]")
        return [
            f"{' '.join(cited)} {self._texts.say(language, 'source')}: {self._quoted(url, language)} "
            f"({self._texts.say(language, 'checked_on', date=shown_date(day, language))})"
            for (url, day), cited in marks.items()
        ]

    def _caution(self, hit: Hit, language: str) -> str:
        passage = hit.passage.metadata
        secondary = passage["certainty"] == Certainty.SECONDARY and not any(source["official"] for source in passage["sources"])
        return f"{self._texts.say(language, 'secondary')} " if secondary else ""

    def _quoted(self, text: str, language: str) -> str:
        """Keep Spanish lines in order inside a text that runs from right to left."""
        return f"{ISOLATE}{text}{END_ISOLATE}" if self._texts.direction(language) == "rtl" else text


def _citation(number: int, hit: Hit) -> Citation:
    passage, sources = hit.passage, hit.passage.metadata["sources"]
    source = next((source for source in sources if source["official"]), sources[0])
    return Citation(f"C{number}", passage.id, passage.document_id, passage.section, source["url"], source["seen_on"])


def shown_date(iso: str, language: str) -> str:
    """Write a day or a month as people read it: 07/08/2026, 07/2026; Chinese puts the year first."""
    parts = iso.split("-")
    return "-".join(parts) if language == "zh" else "/".join(reversed(parts))
