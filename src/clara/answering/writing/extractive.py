"""The extractive writer: the best facts, short, each with its mark, source and date. No AI service."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from clara.answering.message import Citation
from clara.answering.writing.frame import Framing, Shape, Written, citation_of, is_flagged, is_secondary, shown_date
from clara.knowledge.passages import fact_of, place_of
from clara.retrieval.passage import Hit, Passage

# More than four facts is more than a person reads on a phone; the next question brings the others.
MAX_FACTS = 4
# A fact of the same procedure joins the best one when its fused score comes this near.
NEAR = 0.6
# Editors put the fact that most people need first: what that is worth against the fused score of 0..1.8.
FIRST_FACT = 0.3
# An answer is first tried with every warning.
TERSE = Shape(cautioned=True, brief=True, terse=True)
SHAPES = (Shape(quotes=True, cautioned=True), Shape(quotes=True, cautioned=True, brief=True))


def choose(hits: Sequence[Hit]) -> list[Hit]:
    """Pick the facts to show: the best one, others of its section in the editor's order, then near ones.

    The last is the one to drop when there is no room for all.
    """
    best = hits[0]
    near = [hit for hit in hits if hit.passage.document_id == best.passage.document_id and hit.score >= NEAR * best.score]
    same = [hit for hit in near if hit.passage.section == best.passage.section]
    same.sort(key=lambda hit: hit.score + FIRST_FACT / place_of(hit.passage), reverse=True)
    others = [hit for hit in near if hit.passage.section != best.passage.section]
    kept = same[:MAX_FACTS]
    kept.sort(key=lambda hit: (hit.passage.id != best.passage.id, place_of(hit.passage)))
    return [*kept, *others][:MAX_FACTS]


def _fewer(chosen: Sequence[Hit], best: Hit) -> list[list[Hit]]:
    """Give the facts, then one fewer each time, down to the best one alone."""
    kept = [list(chosen)]
    while len(kept[-1]) > 1:
        last = max(place for place, hit in enumerate(kept[-1]) if hit.passage.id != best.passage.id)
        kept.append([*kept[-1][:last], *kept[-1][last + 1 :]])
    return kept


class ExtractiveWriter:
    """Writes a reply from evidence alone, in WhatsApp's format, within a number of characters.

    What it says of a fact is what the catalogue says of it, whatever a search brought under its name. `authorities` say by
    procedure who is responsible: who to ask where a fact has ended.
    """

    def __init__(self, framing: Framing, authorities: Mapping[str, str] | None = None) -> None:
        self.framing = framing
        self._authorities = authorities or {}

    def answer(self, question: str, hits: Sequence[Hit], language: str, room: int) -> Written:
        """Give what `write` gives; the question changes nothing."""
        del question
        text, citations = self.write(hits, language, room)
        return Written(text, citations, {"writer": "extractive"})

    def write(self, hits: Sequence[Hit], language: str, room: int) -> tuple[str, tuple[Citation, ...]]:
        """Give the text and its citations, of `room` characters at most; neither when the catalogue knows none of the hits.

        Facts are dropped from the end, the best one never, until the text fits; when not even that one fits with what limits
        it, any other found fact of the procedure that does is said alone. The shortest text is given when nothing fits. Of what
        has ended is said that it has, and where to ask.
        """
        known = self.framing.known(hits)
        if not known:
            return "", ()
        chosen = choose(known)
        fewer = _fewer(chosen, known[0])
        alone = [[hit] for hit in known if hit.passage.document_id == chosen[0].passage.document_id]
        too_long: list[tuple[str, tuple[Citation, ...]]] = []
        attempts = ((shape, self.framing.limited(facts)) for shape, facts in self._attempts(fewer, alone))
        for shape, facts in chain.from_iterable(map(self._reachable, attempts)):
            text, citations = self._compose(facts, language, shape)
            if len(text) <= room:
                return text, citations
            too_long.append((text, citations))
        return min(too_long, key=lambda written: len(written[0]))

    def _attempts(self, fewer: list[list[Hit]], alone: list[list[Hit]]) -> Iterator[tuple[Shape, list[Hit]]]:
        """Give what to try to say, and how, the best first."""
        best = fewer[-1]
        for shape in SHAPES:
            yield from ((shape, facts) for facts in fewer)
            if shape is SHAPES[0] and any(is_flagged(hit.passage) for hit in self.framing.limited(best)):
                yield TERSE, best  # a warning is never what costs the fact that was asked for
            yield from ((shape, facts) for facts in alone)

    def _reachable(self, attempt: tuple[Shape, list[Hit]]) -> Iterator[tuple[Shape, list[Hit]]]:
        """Try facts of which one has ended with the fact that says where to ask, then without it."""
        shape, facts = attempt
        if any(self.framing.ended(hit.passage) for hit in facts):
            contact = self.framing.contact_of(facts[0].passage.document_id)
            if contact is not None and contact.id not in {hit.passage.id for hit in facts}:
                yield shape, [*facts, Hit(contact, 0.0)]
        yield attempt

    def _compose(self, chosen: Sequence[Hit], language: str, shape: Shape) -> tuple[str, tuple[Citation, ...]]:
        cited = [(citation_of(number, hit.passage), hit.passage) for number, hit in enumerate(chosen, 1)]
        said = "\n".join(
            f"• {self._caution(passage, language)}{self.framing.quoted(passage.text, language)} [{citation.mark}]"
            for citation, passage in cited
        )
        text = self.framing.framed(f"{said}{self._who(cited, language)}", cited, language, shape)
        return text, tuple(citation for citation, _ in cited)

    def _caution(self, passage: Passage, language: str) -> str:
        say = self.framing.texts.say
        last = fact_of(passage).validity.last if self.framing.ended(passage) else None
        ended = say(language, "ended", date=shown_date(last.isoformat(), language)) if last else ""
        second_hand = say(language, "secondary") if is_secondary(passage) else ""
        return "".join(f"{caution} " for caution in (ended, second_hand) if caution)

    def _who(self, cited: Sequence[tuple[Citation, Passage]], language: str) -> str:
        """Say who is responsible where something has ended."""
        document = cited[0][1].document_id
        if document not in self._authorities or not any(self.framing.ended(passage) for _, passage in cited):
            return ""
        return f"\n\n{self.framing.responsible(document, self._authorities[document], language)}"
