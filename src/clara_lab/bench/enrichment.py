"""Situating passages: one sentence each that says where it belongs, indexed with it and never shown."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from clara.ingestion.links import QUALIFIER
from clara.language.sentences import sentence_ends
from clara.retrieval.passage import Passage
from clara.retrieval.tokens import TokenCounter, furthest
from clara_lab.bench.prompts import TEXTS, ChatModel, ChatPrompt, ChatUnavailableError
from clara_lab.bench.record import EventLog, read_events

# Of a parent document a model is given at most so much; about 25,000 tokens, which every served model of today reads.
PARENT_CHARACTERS = 100_000

_TEXTS = TEXTS["situating"]
# Gives the sentence for a passage and the text of its parent document, empty when it has none. Raises ChatUnavailableError.
Situate = Callable[[Passage, str], str]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Enriched:
    """Passages with their sentences, in order, and the ids of those that got none, with a short reason each."""

    passages: tuple[Passage, ...]
    failures: Mapping[str, str]


def enriched(
    passages: Sequence[Passage],
    parents: Mapping[str, str],
    situate: Situate,
    *,
    at_once: int = 1,
    progress: Progress = lambda _done, _total: None,
) -> Enriched:
    """Add a sentence to the heading of every passage; `parents` has the texts of parent documents by passage.

    A passage whose sentence cannot be had stays as it was, and is named.
    """
    failures: dict[str, str] = {}

    def sentence(passage: Passage) -> str:
        try:
            return " ".join(situate(passage, parents.get(passage.id, "")[:PARENT_CHARACTERS]).split())
        except ChatUnavailableError as error:
            failures[passage.id] = str(error)
            return ""

    done: list[Passage] = []
    with ThreadPoolExecutor(at_once, "enricher") as pool:
        for passage, said in zip(passages, pool.map(sentence, passages), strict=True):
            done.append(replace(passage, heading=(*passage.heading, said)) if said else passage)
            progress(len(done), len(passages))
    return Enriched(tuple(done), failures)


def by_model(model: ChatModel, max_tokens: int) -> Situate:
    """Let a model write the sentence: from the parent document where there is one, else from the title."""

    def situate(passage: Passage, parent: str) -> str:
        title = " > ".join(passage.heading)
        asked = _TEXTS["of_a_document" if parent else "of_a_title"]
        prompt = asked.format(parent=parent, title=title, text=passage.text)
        return model.complete(ChatPrompt(_TEXTS["system"], prompt, max_tokens)).text

    return situate


def by_extract(counter: TokenCounter, max_tokens: int) -> Situate:
    """Take the sentence from the texts themselves, which needs no service.

    With a parent document, it is how that begins: what its pieces leave out is mostly said there. Without one, nothing is known
    that the passage does not say itself but a plainer title: what is in brackets only tells titles apart.
    """

    def situate(passage: Passage, parent: str) -> str:
        if parent:
            opening = parent[: (sentence_ends(parent) or [0])[0]]
            said = "" if passage.text.startswith(opening) else opening
        else:
            title = passage.heading[-1] if passage.heading else ""
            said = plain if (plain := QUALIFIER.sub("", title)) != title else ""
        if counter.count(said) <= max_tokens:
            return said
        return said[: furthest(0, len(said), lambda end: counter.count(said[:end]) <= max_tokens)]

    return situate


def remembered(situate: Situate, file: Path, log: EventLog) -> Situate:
    """Take the sentences that a file has, and add each new one to its log; a line that was cut short is asked for again."""
    lines = read_events(file).events
    known: dict[str, str] = {line["key"]: line["sentence"] for line in lines if {"key", "sentence"} <= line.keys()}

    def remembering(passage: Passage, parent: str) -> str:
        key = hashlib.sha256("\0".join((*passage.heading, passage.text, parent)).encode("utf-8", "replace")).hexdigest()
        if key not in known:
            known[key] = situate(passage, parent)
            log.write("sentence", key=key, sentence=known[key])
        return known[key]

    return remembering
