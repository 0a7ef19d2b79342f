"""What differs between two states of a norm, provision by provision, and which figures went and came.

Cosmetic is what changes no word: blanks, typography, punctuation, the shape of quotes and of references. All else is
substantive. Tables are compared only where both states have any: one collection of norms leaves all of them out.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, Literal

from clara.knowledge.law.norm import PREAMBLE, Norm, Provision
from clara.language.figures.figure import Figure, FigureKind
from clara.language.figures.reader import spanish
from clara.language.fold import compatible
from clara.language.tokens import LETTERS

Weight = Literal["cosmetic", "substantive"]
IN_FORCE: Final = "vigencia"
# Numbers of paragraphs and articles are no figures that anybody is told.
_TOLD: Final = frozenset(FigureKind) - {FigureKind.PROVISION, FigureKind.NORM, FigureKind.FORM}
# A number with its stops and commas, a word, or a sign that carries meaning.
_WORD: Final = re.compile(rf"\d+(?:[.,:/]\d+)*|{LETTERS}|[%€<>=≤≥+±×]")
_SAME: Final = {
    "art": "artículo",
    "arts": "artículo",
    "artículos": "artículo",
    "núm": "número",
    "n": "número",
    "euros": "€",
    "euro": "€",
}
_SPELT: Final = ((re.compile(r"\bpor (?:ciento|100)\b"), "%"), (re.compile(r"[ºª°]"), ""), (re.compile(r"\[sic\]"), ""))


@dataclass(frozen=True, slots=True)
class ProvisionChange:
    """A provision that differs. `before` is None for a new one, `after` for one that is gone; "" is a repealed one."""

    key: str
    label: str
    weight: Weight
    before: str | None
    after: str | None
    figures_gone: frozenset[Figure] = frozenset()
    figures_new: frozenset[Figure] = frozenset()


def compare(old: Norm, new: Norm) -> tuple[ProvisionChange, ...]:
    """Give what differs between two states of one norm, in the order of the new one; provisions are matched by key."""
    tabled = has_tables(old) and has_tables(new)
    before, after = (_readable(norm, tabled=tabled) for norm in (old, new))
    keys = [*after, *(key for key in before if key not in after)]
    changes = [change for key in keys if (change := _change(before.get(key), after.get(key)))]
    if old.repealed != new.repealed:
        holds = [f"derogada desde el {norm.repealed}" if norm.repealed else "en vigor" for norm in (old, new)]
        changes.insert(0, ProvisionChange(IN_FORCE, "Vigencia de la norma", "substantive", holds[0], holds[1]))
    return tuple(changes)


def compare_lines(before: Sequence[str], after: Sequence[str]) -> tuple[Weight | None, frozenset[Figure], frozenset[Figure]]:
    """Weigh the difference of two texts, None when there is none, and give the figures of the changed lines that went and came.

    Only changed lines count: a period that stays in another paragraph of the article has gone from this one all the same.
    """
    if list(before) == list(after):
        return None, frozenset(), frozenset()
    old, new = (list(map(_words, lines)) for lines in (before, after))
    if list(chain.from_iterable(old)) == list(chain.from_iterable(new)):
        return "cosmetic", frozenset(), frozenset()
    held, kept = set(old), set(new)
    gone = _figures(line for line, words in zip(before, old, strict=True) if words not in kept)
    came = _figures(line for line, words in zip(after, new, strict=True) if words not in held)
    return "substantive", gone - came, came - gone


def has_tables(norm: Norm) -> bool:
    """Whether the source of a norm gives its tables at all."""
    return any(_is_row(line) for provision in norm.provisions for line in provision.text.split("\n"))


def shown(provision: Provision) -> str:
    """Write a provision as it is compared and shown: its title above its text."""
    return "\n".join(filter(None, (provision.title, provision.text)))


def _readable(norm: Norm, *, tabled: bool) -> dict[str, Provision]:
    """Give what binds, without the rows of tables where they cannot be compared."""
    return {
        one.key: one if tabled else replace(one, text="\n".join(line for line in one.text.split("\n") if not _is_row(line)))
        for one in norm.provisions
        if one.key != PREAMBLE
    }


def _is_row(line: str) -> bool:
    return line.startswith("|")


def _change(before: Provision | None, after: Provision | None) -> ProvisionChange | None:
    texts = ["" if one is None or one.repealed else shown(one) for one in (before, after)]
    weight, gone, came = compare_lines(*([line for line in text.split("\n") if line] for text in texts))
    either = after or before
    if either is None or (weight is None and before and after):
        return None
    return ProvisionChange(
        either.key, either.label, weight or "substantive", texts[0] if before else None, texts[1] if after else None, gone, came
    )


def _words(line: str) -> tuple[str, ...]:
    text = line.lower()
    for pattern, sign in _SPELT:
        text = pattern.sub(sign, text)
    return tuple(_SAME.get(word, word) for word in _WORD.findall(compatible(text)))


def _figures(lines: Iterable[str]) -> frozenset[Figure]:
    return frozenset(
        figure
        for line in lines
        for figure in spanish().values_in(line)
        if figure.kind in _TOLD and not (figure.kind is FigureKind.COUNT and figure.unit is None)
    )
