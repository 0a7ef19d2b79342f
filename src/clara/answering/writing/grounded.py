"""The grounded writer: a language model writes from the chosen facts, and nothing it wrote is said unproved.

Whatever goes wrong - no model, no time, a draft that does not hold - the extractive writer answers instead.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Final

from clara.answering.ports import ModelUnavailableError, Prompt, TextModel
from clara.answering.writing.extractive import ExtractiveWriter, choose
from clara.answering.writing.frame import Shape, Written, citation_of
from clara.answering.writing.gates import MARK
from clara.answering.writing.prompt import Evidence, Prompts, again, evidence_of, prompt_of, with_addresses
from clara.answering.writing.reviewer import Review, Reviewer, Sentence, answers, mended
from clara.language.identity_data import masked
from clara.retrieval.passage import Hit

# A reply is there within 12 s; the search before and the sending behind take up to 4 of them.
SECONDS: Final = 8.0
# With less time left than this no second draft is asked for: the served models take 1 to 2 s for so short a text.
AGAIN: Final = 2.5
# In less room than this no model says anything useful.
LEAST_ROOM: Final = 150


@dataclass(frozen=True, slots=True)
class Grounding:
    """How to write with a model. `places` are the names of territories by code; `seconds` are for both drafts together."""

    prompts: Prompts
    places: Mapping[str, str]
    seconds: float = SECONDS
    clock: Callable[[], float] = perf_counter


class GroundedWriter:
    """Writes with a language model, reviewed; else as the extractive writer does."""

    def __init__(self, extractive: ExtractiveWriter, model: TextModel, reviewer: Reviewer, grounding: Grounding) -> None:
        self._extractive = extractive
        self._framing = extractive.framing
        self._model = model
        self._reviewer = reviewer
        self._grounding = grounding

    def by(self, model: TextModel) -> "GroundedWriter":
        """Give the same writer with another model."""
        return GroundedWriter(self._extractive, model, self._reviewer, self._grounding)

    def answer(self, question: str, hits: Sequence[Hit], language: str, room: int) -> Written:
        """Give an answer of `room` characters at most. The trace says who wrote it and what was wrong with drafts, by kind."""
        known = self._framing.known(hits)
        evidence = self._evidence(known) if known else None
        if evidence is not None and any(self._framing.ended(passage) for _, passage in evidence.cited):
            return self._quoted(question, known, language, room, {"why": "ended"})  # no model says what held once
        if evidence is None:
            return self._quoted(question, hits, language, room, {"why": "not in the catalogue"})
        space = room - len(self._framing.framed("", evidence.cited, language, Shape(quotes=True))) - 2
        if space < LEAST_ROOM:
            return self._quoted(question, known, language, room, {"why": "no room"})
        asked = masked(question)
        prompt = prompt_of(self._grounding.prompts, asked, evidence, language, space)
        trace: dict[str, Any] = {"model": self._model.name, "drafts": 0}
        reviews = self._drafts(prompt, evidence, language, asked, trace)
        ready = [review for review in reversed(reviews) if answers(review, evidence)]
        for review in ready or [mended(review, evidence) for review in reversed(reviews)]:
            if answers(review, evidence) and (written := self._fitting(review, evidence, language, room)) is not None:
                return replace(written, trace={"writer": "model", **trace, "quoted": review.quoted})
        why = trace.pop("why", "not proved")
        return self._quoted(question, known, language, room, {**trace, "why": why})

    def _drafts(self, prompt: Prompt, evidence: Evidence, language: str, asked: str, trace: dict[str, Any]) -> list[Review]:
        """Ask for a draft, and once more when the first loses what it should say; give their reviews."""
        reviews: list[Review] = []
        faults: Counter[str] = Counter()
        started = self._grounding.clock()
        wanted: Prompt | None = prompt
        while wanted is not None and len(reviews) <= 1:
            left = self._grounding.seconds - (self._grounding.clock() - started)
            if left < (AGAIN if reviews else 0):
                break
            try:
                draft = self._model.write(wanted, left)
            except ModelUnavailableError:
                trace["why"] = "unavailable"
                break
            review = self._reviewer.review(draft, evidence, language, asked)
            reviews.append(review)
            faults.update([*(kind for _, kind in review.removed), *review.whole])
            wanted = None if answers(review, evidence) and not review.lost else self._once_more(prompt, draft, review, evidence)
        trace |= {"drafts": len(reviews), "faults": dict(faults)}
        return reviews

    def _once_more(self, prompt: Prompt, draft: str, review: Review, evidence: Evidence) -> Prompt:
        missing = {limit for mark in review.marks for limit in evidence.limits.get(mark, ())} - review.marks
        problems = [(sentence.text, kind) for sentence, kind in review.removed]
        problems += [("", kind) for kind in review.whole]
        problems += [(f"[{mark}]", "condition") for mark in sorted(missing)]
        return again(self._grounding.prompts, prompt, draft[: 2 * LEAST_ROOM * 10], problems)

    def _evidence(self, known: Sequence[Hit]) -> Evidence:
        chosen = self._framing.limited(choose(known))
        cited = [(citation_of(number, hit.passage), hit.passage) for number, hit in enumerate(chosen, 1)]
        limits = {passage.id: [limit.id for limit in self._framing.limits_of(passage)] for _, passage in cited}
        said = {passage.id for _, passage in cited}
        main = known[0].passage.id if known[0].passage.id in said else cited[0][1].id
        return evidence_of(cited, limits, main, self._grounding.places)

    def _fitting(self, review: Review, evidence: Evidence, language: str, room: int) -> Written | None:
        """Frame the kept sentences; where they do not fit, leave out the last ones as long as the rest still answers."""
        while answers(review, evidence):
            written = self._framed(review, evidence, language)
            if len(written.text) <= room:
                return written
            review = replace(review, kept=review.kept[:-1])
        return None

    def _framed(self, review: Review, evidence: Evidence, language: str) -> Written:
        order = list(dict.fromkeys(mark for sentence in review.kept for mark in sentence.marks))
        marks = {mark: f"C{number}" for number, mark in enumerate(order, 1)}
        by_mark = {citation.mark: (citation, passage) for citation, passage in evidence.cited}
        cited = [(replace(by_mark[mark][0], mark=marks[mark]), by_mark[mark][1]) for mark in order]
        kept = [self._isolated(sentence, evidence, language) for sentence in review.kept]
        said = MARK.sub(lambda match: f"[{marks[f'C{match[1]}']}]", replace(review, kept=tuple(kept)).text)
        said = with_addresses(said, {name: self._framing.quoted(url, language) for name, url in evidence.addresses.items()})
        if review.partly:
            said = f"{said}\n\n{self._framing.texts.say(language, 'part_unknown')}"
        text = self._framing.framed(said, cited, language, Shape(quotes=any(sentence.quotes for sentence in kept)))
        return Written(text, tuple(citation for citation, _ in cited))

    def _isolated(self, sentence: Sentence, evidence: Evidence, language: str) -> Sentence:
        """Keep a quoted fact in order, its addresses with it, inside a text that runs from right to left."""
        if not sentence.quotes:
            return sentence
        bare = self._framing.quoted(MARK.sub("", with_addresses(sentence.text, evidence.addresses)).strip(), language)
        return replace(sentence, text=f"{bare} [{sentence.marks[0]}]")

    def _quoted(self, question: str, hits: Sequence[Hit], language: str, room: int, trace: Mapping[str, Any]) -> Written:
        written = self._extractive.answer(question, hits, language, room)
        return replace(written, trace={**written.trace, **trace})
