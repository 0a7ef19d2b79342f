"""How a corpus is searched: the numbers of the hybrid search that depend on what kind of text it holds."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from clara.errors import Invalid

HYBRID = "hybrid"  # the strategy that the statement follows by itself


@dataclass(frozen=True, slots=True)
class Profile:
    """The weights of one kind of corpus, each measured by the ablation.

    `dense` and `lexical` weigh the two legs; `by_ranks` fuses their ranks (reciprocal rank fusion) instead of their scores;
    `by_coverage` weighs the lexical leg by the share of the question's words that the best passage has, which is small when
    the question is in another language.
    `links` is the share of a hit's score that the passages it names gain, `named` what a passage gains when the question says
    its name; 0 turns a leg off. `language` is that of passages which do not say theirs; `code` splits identifiers.
    `strategy` orders the candidates (a name of `options.strategies`); `deduplicate` leaves out passages that say the same,
    `once_each` all but the best of those that were cut from one text.
    `collections` are asked one after the other, each with the least cosine that counts, lowered by the factor `relaxing` when
    nothing reaches it; without any, all collections are searched at once. `pool` passages of each leg are fused: 50 + 50 gave
    the measured quality, more only costs time. `rank_constant` is that of reciprocal rank fusion (60: Cormack, Clarke and
    Büttcher, 2009).
    """

    name: str = "procedures"
    dense: float = 0.7
    lexical: float = 0.3
    by_ranks: bool = False
    by_coverage: bool = False
    links: float = 0.0
    named: float = 0.0
    language: str = "es"
    strategy: str = HYBRID
    deduplicate: bool = False
    once_each: bool = False
    collections: Mapping[str, float] = field(default_factory=dict)
    relaxing: float = 0.98
    pool: int = 50
    rank_constant: int = 60

    @property
    def plain(self) -> bool:
        """Whether the statement alone is the whole search: nothing of `options` is needed."""
        return self.strategy == HYBRID and not (self.deduplicate or self.once_each or self.collections)

    @property
    def follows_names(self) -> bool:
        """Whether names and links are worth keeping for this kind of corpus."""
        return self.links > 0 or self.named > 0


class ProfileError(Invalid):
    """A profile is unknown or has faults. The message names the file, the profile and the remedy."""


def read_profiles(file: Path) -> dict[str, Profile]:
    """Read every profile of a file. Raises ProfileError."""
    try:
        stored = json.loads(file.read_text("utf-8"))
        return {name: _profile(name, values) for name, values in stored["profiles"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProfileError(f"{file.name}: {error}; restore the file from the repository") from error


def _profile(name: str, values: Mapping[str, object]) -> Profile:
    known = {one.name for one in fields(Profile)} - {"name"}
    if unknown := values.keys() - known - {"about"}:
        msg = f"profile {name} has unknown fields: {', '.join(sorted(unknown))}; known are {', '.join(sorted(known))}"
        raise ValueError(msg)
    given = {key: value for key, value in values.items() if key != "about"}
    for key, value in given.items():
        usual = getattr(Profile(), key)
        if type(value) is not type(usual) and (type(value), type(usual)) != (int, float):
            raise ValueError(f"profile {name}: {key} is {value!r}; it must be like {usual!r}")
    return Profile(name=name, **given)  # type: ignore[arg-type]
