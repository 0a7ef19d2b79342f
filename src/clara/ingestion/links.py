"""Links between passages: who names whom. One multi-pattern match over all texts, linear in their length."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import ahocorasick

from clara.language.fold import spaced
from clara.retrieval.names import MOST_CHARACTERS, SHORTEST_NAME, normalised, says
from clara.retrieval.passage import Passage

# "Mercury (planet)" is written "Mercury" in running text.
QUALIFIER = re.compile(r"\s*\([^)]*\)$")
# Of a passage that lists everything, only the first names count; in 15,825 encyclopedia passages none names more than 14.
MOST_LINKS = 50


def names_of(passage: Passage) -> list[str]:
    """Give the names under which other texts may speak of a passage.

    Those in `metadata["names"]`, else the title of its document when it is the document's first passage; a title with a
    qualifier in brackets also without it. What is too long to be a name is none.
    """
    given = passage.metadata.get("names")
    if isinstance(given, list | tuple):
        return [name for name in given if isinstance(name, str) and len(name) <= MOST_CHARACTERS]
    if not passage.heading or passage.metadata.get("index", 0) != 0 or len(passage.heading[0]) > MOST_CHARACTERS:
        return []
    title = passage.heading[0]
    return list(dict.fromkeys([title, QUALIFIER.sub("", title)]))


def linked(passages: Sequence[Passage]) -> frozenset[tuple[str, str]]:
    """Give (id of a passage, id of a passage that it names) for every passage whose text names another one."""
    named: dict[str, list[tuple[str, str]]] = {}
    for passage in passages:
        for name in names_of(passage):
            if len(normalised(name)) >= SHORTEST_NAME:
                named.setdefault(normalised(name), []).append((name, passage.id))
    if not named:
        return frozenset()
    patterns = ahocorasick.Automaton()
    for name in named:
        patterns.add_word(name, name)
    patterns.make_automaton()
    return frozenset(_edges(passages, patterns, named))


def _edges(
    passages: Iterable[Passage], patterns: "ahocorasick.Automaton", named: Mapping[str, Sequence[tuple[str, str]]]
) -> Iterator[tuple[str, str]]:
    for passage in passages:
        text = spaced(passage.text)
        targets = dict.fromkeys(
            target
            for said, name in _longest(text, patterns)
            for written, target in named[name]
            if target != passage.id and says(said, written)
        )
        yield from ((passage.id, target) for target in list(targets)[:MOST_LINKS])


def _longest(text: str, patterns: "ahocorasick.Automaton") -> Iterator[tuple[str, str]]:
    """Give the whole-word matches that lie in no longer one, as written and as named.

    "New York City" does not name New York.
    """
    folded = text.casefold()
    # Some letters fold to two, such as ß: where each folded letter came from.
    places = range(len(text)) if len(folded) == len(text) else [at for at, one in enumerate(text) for _ in one.casefold()]
    found = [(end - len(name) + 1, end, name) for end, name in patterns.iter(folded)]
    reached = -1
    for start, end, name in sorted(found, key=lambda match: (match[0], -match[1])):
        whole = not folded[start - 1 : start].isalnum() and not folded[end + 1 : end + 2].isalnum()
        if whole and end > reached:
            reached = end
            yield text[places[start] : places[end] + 1], name
