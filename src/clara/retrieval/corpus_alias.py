"""Names and what stands behind them: a name that is asked may lead to another corpus, which holds one version of it."""

from dataclasses import dataclass
from typing import Final

# What divides the name that is asked from the version that holds it ("clara@7"), and from a copy for one question
# ("clara~1f3a"). No corpus of an operator's own can be called so.
VERSION, COPY = "@", "~"
DIVIDERS: Final = (VERSION, COPY)


@dataclass(frozen=True, slots=True)
class Standing:
    """The corpus that is searched under a name.

    `version` grows with every change of its passages, None when there is no such corpus or nothing is known of it. `model`
    is the one it is searched by, `publication` the number of what put it there; None where it stands for itself.
    """

    physical: str
    version: str | None = None
    model: str | None = None
    publication: int | None = None


def version_name(name: str, publication: int) -> str:
    """Name the corpus that holds one version of what is asked under a name."""
    return f"{name}{VERSION}{publication}"


def name_of(physical: str) -> str:
    """Give the name under which a corpus is asked, or would be."""
    for divider in DIVIDERS:
        physical = physical.partition(divider)[0]
    return physical
