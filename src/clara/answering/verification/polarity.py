"""Whether a statement says no where its evidence does, and only there.

In the language of the facts the words that are denied are compared. In another language only this can be seen without a
model: whether anything is denied at all.
"""

from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from clara.language.figures.lexicon import Lexicon, Polarity
from clara.language.tokens import Token, texts_of

PLAIN: Final = frozenset({Polarity.NEGATION, Polarity.EXCEPTION})
# So many letters tell one Spanish word from another, whatever its ending.
STEM: Final = 5
_END: Final = "|"
_PAUSES: Final = frozenset('.,;:()!?¿¡«»"\n')


def kinds_in(tokens: Sequence[Token], lexicon: Lexicon) -> frozenset[Polarity]:
    """Give the ways in which a text says no; idioms that only look like it do not count."""
    return frozenset(lexicon.polarity.meanings(texts_of(tokens))) - {Polarity.IDIOM}


Key = tuple[str, ...]


# What cannot stand for each other: "al menos" and "como máximo", "antes" and "después".
Bound = tuple[str, str]
# Between a bound and its number stand an article and a unit at most.
_BESIDE: Final = 3
OPPOSITE: Final[Mapping[str, str]] = {"least": "most", "most": "least", "before": "after", "after": "before"}


def bounds_in(tokens: Sequence[Token], lexicon: Lexicon) -> frozenset[Bound]:
    """Give the bounds that a text names: alone, with the number beside it, and with the words before and behind it."""
    found: set[Bound] = set()
    for start, end, (name, *_) in lexicon.bounds.found(texts_of(tokens)):
        if name not in OPPOSITE:
            continue
        behind, before = tokens[end : end + _BESIDE], tokens[max(0, start - _BESIDE) : start][::-1]
        number = next((token.text for token in [*behind, *before] if token.digits), "")
        after = next((f">{stem}" for token in behind if (stem := _stem(token, lexicon))), "")
        prior = next((f"<{stem}" for token in before if (stem := _stem(token, lexicon))), "")
        found |= {(name, ""), (name, number), (name, after), (name, prior)}
    return frozenset(found)


def turned(said: frozenset[Bound], held: frozenset[Bound]) -> str | None:
    """Name a bound that is said where the evidence has its opposite: beside the same number or word, or nothing else."""
    for name, number in sorted(said):
        opposite = (OPPOSITE[name], number)
        if opposite in held and (name, number) not in held and (number or opposite not in said):
            return f"{name} {number}".strip()
    return None


@dataclass(frozen=True, slots=True)
class Denials:
    """What a text in the language of the facts denies, and what it says plainly: words and pairs of words, as stems.

    `open` is what follows farther behind a denial in its clause, which may reach it or not, with what that denial denies.
    """

    denied: frozenset[Key]
    plain: frozenset[Key]
    open: Mapping[Key, frozenset[Key]]


def denials_in(tokens: Sequence[Token], lexicon: Lexicon) -> Denials:
    """Read what is denied: the next word of meaning behind each word that says no; what comes later in the clause is open."""
    denied: set[Key] = set()
    plain: set[Key] = set()
    reached: dict[Key, frozenset[Key]] = {}
    clauses = (list(clause) for pause, clause in groupby(tokens, lambda token: token.text in _PAUSES) if not pause)
    for clause in clauses:
        stems = [(place, stem) for place, token in enumerate(clause) if (stem := _stem(token, lexicon))]
        said = texts_of(clause)
        behind = [place + 1 for place in range(len(said)) if _says_no(said, place, lexicon)]
        before: set[Key] = set()
        for place, (at, stem) in enumerate(stems):
            since = stems[place - 1][0] if place else -1
            following = stems[place + 1][1] if place + 1 < len(stems) else _END
            keys = _keys(stem, following, lexicon) | ({(f"<{stems[place - 1][1]}", stem)} if place else set())
            if bisect(behind, since) < bisect(behind, at):
                denied.update(keys)
                before.update(keys)
            elif before:
                reached.update({key: frozenset(before) for key in keys})
            else:
                plain.update(keys)
    return Denials(frozenset(denied), frozenset(plain), reached)


def _keys(stem: str, following: str, lexicon: Lexicon) -> set[Key]:
    """Give what stands for a word: itself, alone and with the next; a word that is everywhere ("hay") only with the next."""
    return {(stem, following)} if stem in lexicon.auxiliary else {(stem,), (stem, following)}


def together(held: Iterable[Denials]) -> Denials:
    """Give what several texts deny and say."""
    every = list(held)
    reached = {key: before for one in every for key, before in one.open.items()}
    denied = frozenset[Key]().union(*(one.denied for one in every))
    return Denials(denied, frozenset[Key]().union(*(one.plain for one in every)), reached)


def lost(said: Denials, held: Denials) -> str | None:
    """Name what is said plainly though the evidence only denies it."""
    only_denied = held.denied - held.plain
    in_reach = {key for key, before in said.open.items() if before <= held.denied} - said.denied
    return _first(only_denied & ((said.plain | in_reach) - said.denied))


def added(said: Denials, held: Denials) -> str | None:
    """Name what is denied though the evidence only says it plainly."""
    in_reach = {key for key, before in held.open.items() if before <= said.denied}
    return _first((said.denied - said.plain - held.denied) & (held.plain | in_reach))


def _first(stems: Iterable[tuple[str, ...]]) -> str | None:
    return next((" ".join(words) for words in sorted(stems)), None)


def _says_no(said: Sequence[str], place: int, lexicon: Lexicon) -> bool:
    found = lexicon.polarity.one_at(said, place)
    if found is not None and found[0] is Polarity.IDIOM and found[1] - place > 1:
        return said[place] in {"no", "sin"} and said[place + 1] not in {"contributiva", "obstante", "embargo", "solo"}
    return found is not None and found[0] in PLAIN


def _stem(token: Token, lexicon: Lexicon) -> str | None:
    word = token.text
    if token.digits or word in lexicon.auxiliary:
        return word
    says = lexicon.polarity.one_at([word], 0)
    if not word.isalpha() or word in lexicon.stop or (says is not None and says[0] in PLAIN):
        return None
    return word[:STEM]
