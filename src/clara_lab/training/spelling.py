"""Gathering the words that spelling is mended with: those of the catalogue and the typical questions, and how frequent any is.

    python -m clara_lab.training.spelling

Writes data/spelling.npz. The frequencies are those of wordfreq (in requirements-dev.lock).
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from math import log10
from typing import Any, Final

import click
import numpy as np
import wordfreq

from clara.knowledge.catalogue import Catalogue, read_catalogue
from clara.knowledge.questions import OUTSIDE
from clara.language.phrases import every
from clara.language.spelling import RARER, UNKNOWN, Sounds, hashed, read_sounds
from clara.language.tokens import words
from clara.settings import resources

# A word that stands in fewer questions than this is a slip, or nothing that somebody else would ask about.
KNOWN: Final = 4
# Letters of the shortest word that is wanted.
SHORTEST: Final = 2
# The Zipf scale counts by thousand millions of words.
SCALE: Final = 1e9
# Facts are Spanish, and the names of procedures stand in every other language too.
SPANISH: Final = "es"


def spoken(catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """Give (language, text) of everything that people say or read of what is held."""
    for question in catalogue.questions:
        if question.procedure != OUTSIDE:
            yield question.language, question.text
    for procedure in catalogue.procedures.values():
        for language, name in procedure.name.items():
            yield from ((language, name) for _ in range(KNOWN))
        yield from ((SPANISH, fact.text) for section in procedure.sections for fact in section.facts)


def frequencies(language: str) -> dict[str, float]:
    """Give the frequency of every listed word on the Zipf scale, without accents and capitals."""
    if language not in wordfreq.available_languages("best"):
        return {}
    summed: dict[str, float] = defaultdict(float)
    for word, share in wordfreq.get_frequency_dict(language, "best").items():
        if len(parts := words(word)) == 1:
            summed[parts[0]] += share
    return {word: log10(share * SCALE) for word, share in summed.items() if share * SCALE >= 1}


def wanted_of(counts: Mapping[str, int], listed: Mapping[str, float], sounds: Sounds) -> dict[str, float]:
    """Give the words that a misspelt one may be meant to be, on the Zipf scale.

    What stands in typical questions as it sounds is none: of words that sound alike those count that are about as frequent as
    the most frequent one, by the lists where one of them stands there, since questions are full of misspellings on purpose.
    """
    total = sum(counts.values())
    often = {
        word: log10(count / total * SCALE)
        for word, count in counts.items()
        if count >= KNOWN and len(word) >= SHORTEST and word.isalpha()
    }
    alike: dict[str, list[str]] = defaultdict(list)
    for word in often:
        alike[sounds.key(word)].append(word)
    wanted: dict[str, float] = {}
    for group in alike.values():
        by_lists = max(listed.get(word, 0.0) for word in group) >= UNKNOWN
        known = {word: listed.get(word, 0.0) if by_lists else often[word] for word in group}
        most = max(known.values())
        wanted |= {word: max(often[word], listed.get(word, 0.0)) for word in group if most - known[word] < RARER}
    return wanted


def arrays_of(catalogue: Catalogue, sounds: Mapping[str, Sounds]) -> dict[str, Any]:
    """Give the arrays of every language (see `clara.language.spelling.SpellingLexicon`)."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for language, text in spoken(catalogue):
        counts[language].update(words(text))
    names = {word for one in catalogue.procedures.values() for said in (*every(one.vocabulary), *one.name.values())
             for word in words(said)}  # fmt: skip
    arrays: dict[str, Any] = {}
    for language, sound in sounds.items():
        listed = frequencies(language)
        for word, frequency in frequencies(SPANISH).items():
            if word in names:
                listed[word] = max(listed.get(word, 0.0), frequency)
        wanted = wanted_of(counts[language], listed, sound)
        real = sorted({hashed(word): frequency for word, frequency in listed.items() if frequency >= UNKNOWN}.items())
        lines = (f"{word}\t{sound.key(word)}\t{frequency:.2f}" for word, frequency in sorted(wanted.items()))
        arrays[f"{language}_words"] = np.array("\n".join(lines))
        arrays[f"{language}_hashes"] = np.array([name for name, _ in real], dtype=np.uint32)
        arrays[f"{language}_zipf"] = np.array([round(10 * frequency) for _, frequency in real], dtype=np.uint8)
        click.echo(f"{language}: {len(wanted)} words of {len(counts[language])}, {len(real)} listed", err=True)
    return arrays


def main() -> None:
    """Write data/spelling.npz."""
    data = resources() / "data"
    target = data / "spelling.npz"
    np.savez_compressed(target, **arrays_of(read_catalogue(data, with_questions=True), read_sounds(data)))
    click.echo(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
