"""Understanding a question before the search: which procedures, sections and facts it is about, and whether it is about any."""

from collections.abc import Callable
from dataclasses import replace
from math import exp

from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.questions import OUTSIDE
from clara.retrieval.hybrid import Understand
from clara.retrieval.intent import Intent
from clara.retrieval.passage import Query
from clara.retrieval.ports import Vector

# By how much a procedure's odds grow when the question names it. On the 180 in-scope questions of development.jsonl: right
# procedure first .961 with 1, .967 to .972 with e^2 and e^3, .961 with e^5.
NAMED_ODDS = exp(2)
# By how much they shrink when the question holds a phrase that only looks like its name ("no paro de toser"). Not tuned:
# large enough to overrule the model. Cross-validated refusals went from .974 to .983, answers stayed at .979.
LOOKALIKE_ODDS = exp(4)
# A procedure or section less likely than this adds nothing but rows to look at.
LEAST = 0.02
# What certainty about the procedure and about the section weigh against the fused score of 0..1. Flat on the development
# questions: procedure .96-.99 from 1 to 2; section .82-.84 (dev), .55-.64 (development.jsonl) from .25 to .8.
DOCUMENT_WEIGHT = 1.5
SECTION_WEIGHT = 0.5
# What certainty about the passage weighs. On development questions, with 0, 0.5 and 1: answers that hold the right fact 57, 58,
# 58 of 60; first section right .712, .723, .712; the same facts in other languages .89, .85, .81.
PASSAGE_WEIGHT = 0.5

Recognise = Callable[[str, Vector | None], Intent]


def understanding(recognise: Recognise, named: NamedProcedures) -> Understand:
    """Add to a query what it is probably about."""

    def understand(query: Query, vector: Vector | None) -> Query:
        intent = recognise(query.text, vector)
        odds = dict(intent.documents)
        for name in named.find(query.text):
            odds[name] = odds.get(name, LEAST) * NAMED_ODDS
        for name in named.resembled(query.text):
            odds[name] = odds.get(name, LEAST) / LOOKALIKE_ODDS
        total = sum(odds.values()) or 1.0
        likely = {name: value / total for name, value in odds.items()}
        outside = likely.pop(OUTSIDE, 0.0)
        documents = {name: DOCUMENT_WEIGHT * value for name, value in likely.items() if value >= LEAST}
        sections = {
            pair: SECTION_WEIGHT * value for pair, value in intent.sections.items() if pair[0] in documents and value >= LEAST
        }
        passages = {
            name: PASSAGE_WEIGHT * likely[document] * value
            for (document, name), value in intent.passages.items()
            if document in documents and value >= LEAST
        }
        return replace(query, documents=documents, sections=sections, passages=passages, outside=outside)

    return understand
