"""Deciding what an ingestion has to change: pure comparison of digests, so that a dry run is free."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from clara.ingestion.ports import StoredDigests
from clara.retrieval.passage import COLUMNS, Passage


def digest_of(passage: Passage) -> str:
    """Digest everything that is stored of a passage."""
    stored = {name: getattr(passage, name) for name in COLUMNS} | {"metadata": passage.stored_metadata}
    content = json.dumps(stored, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def text_digest_of(passage: Passage) -> str:
    """Digest the text that is embedded."""
    return hashlib.sha256(passage.indexed_text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to write, what of it to embed anew, what to drop, and how much stays as it is. Ids are passage ids."""

    write: tuple[Passage, ...]
    embed: frozenset[str]
    drop: frozenset[str]
    kept: int

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.write and not self.drop


def plan_changes(stored: StoredDigests, wanted: Sequence[Passage]) -> Plan:
    """Compare what is stored with what is wanted; touch nothing."""
    write: list[Passage] = []
    embed: set[str] = set()
    for passage in wanted:
        fresh_text = stored.vectors.get(passage.id) != text_digest_of(passage)
        if fresh_text:
            embed.add(passage.id)
        if fresh_text or stored.passages.get(passage.id) != digest_of(passage):
            write.append(passage)
    drop = frozenset(stored.passages.keys() - {passage.id for passage in wanted})
    return Plan(tuple(write), frozenset(embed), drop, len(wanted) - len(write))
