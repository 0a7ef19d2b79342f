"""What the caches are good for: the figures behind `clara cache stats`."""

from collections.abc import Mapping
from typing import Any

from clara.retrieval.embedding_memory import MemoryStatistics
from clara.retrieval.metrics import Counters, summary

MEGABYTE = 1_000_000
MINUTE_MS = 60_000


def statistics(memory: MemoryStatistics, counters: Counters) -> dict[str, Any]:
    """Give the figures of the embedding memory and of the answers that a cache knew, as JSON."""
    retrieval = summary(counters)
    return {
        "embedding_memory": memory.as_json(),
        "answers": {name: retrieval[name] for name in ("retrievals", "cache", "rates")},
    }


def statistics_page(figures: Mapping[str, Any]) -> str:
    """Show `statistics` to a person."""
    memory, answers = figures["embedding_memory"], figures["answers"]
    rows = [
        ("entries", f"{memory['entries']:,}"),
        ("size on disk", f"{memory['bytes_on_disk'] / MEGABYTE:,.1f} MB"),
        ("hits", f"{memory['hits']:,} of {memory['hits'] + memory['misses']:,} ({memory['hit_rate']:.1%})"),
        ("time saved", f"{memory['saved_ms'] / MINUTE_MS:,.1f} minutes of embedding"),
        ("oldest entry", memory["oldest"] or "none"),
        *((f"  {used['digest']}", f"{used['uses']:,} uses, {used['model']}") for used in memory["most_used"]),
    ]
    layers = [(layer, f"{count:,}") for layer, count in answers["cache"].items()]
    layers += [("hit rate", f"{answers['rates']['cache_hit']:.1%} of {answers['retrievals']:,} retrievals")]
    return "\n".join(["Embedding memory", *_aligned(rows), "", "Answers by layer of the cache", *_aligned(layers)])


def _aligned(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"  {name:<{width}}  {value}" for name, value in rows]
