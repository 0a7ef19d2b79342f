"""Sentences that situate passages: indexed with them, never their text, and a failure costs one sentence."""

import pytest

from clara.adapters.models.local import LocalTokenCounter
from clara.retrieval.passage import Passage
from clara_lab.bench.prompts import ChatPrompt, ChatUnavailableError, Completion
from clara_lab.bench.writers import by_extract, by_model, enriched

LAW = Passage("a2", "c", "k", "law", "", ("Law", "Article 2"), "It lasts three months.", "en")
PLAIN = Passage("p1", "c", "k", "p1", "", ("Mercury (planet)",), "It is the smallest one.", "en")


class Echo:
    """Says what it was asked; fails for the words in `failing`."""

    name = "echo"

    def __init__(self, failing: str = "") -> None:
        self.asked: list[ChatPrompt] = []
        self._failing = failing

    def complete(self, prompt: ChatPrompt) -> Completion:
        self.asked.append(prompt)
        if self._failing and self._failing in prompt.user:
            raise ChatUnavailableError("is busy")
        return Completion("  About\n three months. ")


def test_the_sentence_is_indexed_and_the_text_stays() -> None:
    """It ends the heading path, on one line."""
    (made,) = enriched([LAW], {}, by_model(Echo(), 50)).passages
    assert made.heading == ("Law", "Article 2", "About three months.")
    assert made.text == LAW.text
    assert made.indexed_text.splitlines() == ["Law > Article 2 > About three months.", LAW.text]


def test_a_model_sees_the_parent_document_where_there_is_one() -> None:
    """With a parent it reads the document, without one the title."""
    model = Echo()
    enriched([LAW, PLAIN], {"a2": "The whole law."}, by_model(model, 50))
    of_law, of_plain = (prompt.user for prompt in model.asked)
    assert "The whole law." in of_law
    assert "Mercury (planet)" in of_plain
    assert "<document>" not in of_plain
    assert {prompt.max_tokens for prompt in model.asked} == {50}


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_failure_costs_one_sentence(at_once: int) -> None:
    """The passage stays as it was, in its place, and is named."""
    passages = [LAW, PLAIN, LAW]
    made = enriched(passages, {}, by_model(Echo("smallest"), 50), at_once=at_once)
    assert [passage.id for passage in made.passages] == ["a2", "p1", "a2"]
    assert made.passages[1] == PLAIN
    assert made.failures == {"p1": "is busy"}


def test_progress_counts_every_passage() -> None:
    """A person sees how far it is."""
    seen: list[tuple[int, int]] = []
    enriched([LAW, PLAIN], {}, by_model(Echo(), 5), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


def test_extracts_need_no_model() -> None:
    """How the parent begins, unless the passage is that; the title in plain words; and never more than was asked for."""
    counter = LocalTokenCounter()
    situate = by_extract(counter, 20)
    assert situate(LAW, "This law is about leases. It has two articles.") == "This law is about leases."
    assert situate(LAW, "It lasts three months. And more.") == ""
    assert situate(PLAIN, "") == "Mercury"
    assert situate(LAW, "") == ""
    short = by_extract(counter, 2)(LAW, "This law is about leases and about very much more than that. It ends.")
    assert 0 < counter.count(short) <= 2
