"""Cutting what is claimed into statements, and what a statement speaks of."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from clara.data_files import read_data
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.places import STATE, Places
from clara.knowledge.procedure import Procedure
from clara.language.figures.lexicon import SPANISH
from clara.language.phrases import Phrases, outside, signs
from clara.language.sentences import ABBREVIATIONS, sentence_ends
from clara.language.tokens import Token, texts_of, words
from clara.retrieval.passage import Passage

MARKS: Final = re.compile(r"\[\s*C\d{1,2}(?:\s*[,;]\s*C\d{1,2})*\s*\]")
_MARK: Final = re.compile(r"C\d{1,2}")
_LINK: Final = re.compile(r"\{\{[^{}\n]{1,12}\}\}")
_MARKS_BEHIND: Final = re.compile(rf"([.!?…。！？؟]+)((?:\s*{MARKS.pattern})+)")
_BULLET: Final = re.compile(r"^\s*(?:[•*–—▪·-]\s*)?(?:(?P<number>\d{1,2})[.)]\s+)?")
# Abbreviations before numbers and names in the served languages that the engine's list, made for Spanish, does not have.
_OTHERS: Final = "st ст п пп р г гг рр т тис тыс млн напр др см тел no nº n alin lit approx min p c арт م ص"
_SHORT: Final = ABBREVIATIONS | frozenset(_OTHERS.split())
# Stands for the blank before a mark while a line is cut: a private character, which no reply has.
_HELD: Final = "\ue000"
# A line that only announces what follows: "Para pedirlo necesitas:". Longer ones claim something.
_MOST_ANNOUNCING: Final = 12


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence. `text` is as it was written, `claim` the same without marks, links and its own number in a list."""

    text: str
    claim: str
    marks: tuple[str, ...]
    number: int | None = None

    @property
    def announces(self) -> bool:
        """Whether it only leads to what follows, or asks."""
        short = len(words(self.claim)) <= _MOST_ANNOUNCING and self.claim.endswith((":", "："))
        return short or self.claim.endswith(("?", "？", "؟"))


def statements(text: str) -> list[Statement]:
    """Cut a reply into its statements, line by line. Marks behind a full stop belong to the sentence before it."""
    found: list[Statement] = []
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        number = int(bullet["number"]) if bullet and bullet["number"] else None
        body = _MARKS_BEHIND.sub(r"\2\1", line[bullet.end() :] if bullet else line)
        body = re.sub(rf"\s+(?={MARKS.pattern})", _HELD, body)  # "etc.) [C1]" must not be cut before the mark
        for place, (start, end) in enumerate(pairwise([0, *sentence_ends(body, _SHORT)])):
            said = body[start:end].replace(_HELD, " ").strip()
            marks = tuple(dict.fromkeys(mark for group in MARKS.findall(said) for mark in _MARK.findall(group)))
            claim = " ".join(_LINK.sub(" ", MARKS.sub(" ", said)).split())
            claim = re.sub(r" (?=[.!?,;:。！？؟])", "", claim)
            if any(character.isalnum() for character in claim):
                found.append(Statement(said, claim, marks, number if place == 0 else None))
    return found


_IN_BRACKETS = re.compile(r"\s*[(（].*?[)）]")


class Subjects:
    """Finds names in statements. `bodies` has the names of offices by what they are called here."""

    def __init__(self, catalogue: Catalogue, bodies: Mapping[str, Sequence[str]]) -> None:
        self._places: Places = catalogue.places
        self._bodies = Phrases(((name, body) for body, names in bodies.items() for name in names), signs)
        procedures = catalogue.procedures.values()
        languages = {language for procedure in procedures for language in procedure.name}
        self._titles = Phrases(((title, True) for procedure in procedures for title in _titles(procedure)), signs)
        self._procedures = {language: Phrases(_names(procedures, language)) for language in languages}

    def procedures_in(self, text: str, language: str) -> frozenset[frozenset[str]]:
        """Give what each name of a procedure in a text may mean: the ids of those that have it."""
        known = self._procedures.get(language, self._procedures[SPANISH])
        meant: dict[tuple[int, int], set[str]] = {}
        for start, end, name in known.longest_first(words(text)):
            meant.setdefault((start, end), set()).add(name)
        return frozenset(frozenset(names) for names in meant.values())

    def without_titles(self, tokens: Sequence[Token]) -> list[Token]:
        """Leave out the names of procedures: what they say ("after", "minimum") is said of nothing."""
        return outside(tokens, self._titles.spans(texts_of(tokens)))

    def bodies_in(self, tokens: Sequence[Token]) -> frozenset[str]:
        """Give the offices that a text names."""
        return frozenset(self._bodies.meanings(texts_of(tokens)))

    def places_wrong(self, claim: str, passages: Sequence[Passage], evidence: str, question: str) -> Iterator[str]:
        """Name the places of which the cited facts do not speak: nobody names them, or the facts hold elsewhere."""
        named = self._places.named_in(claim)
        if named or question:
            held = {place.code for places in self._places.named_in(evidence) for place in places}
            asked = {place.code for places in self._places.named_in(question) for place in places}
            local = [passage.territory for passage in passages if passage.territory != STATE]
            for places in named:
                codes = {place.code for place in places}
                if not codes & held and not self._covers(local, codes) and (local or not codes & asked):
                    yield places[0].name
            if local and asked and not named and not self._covers(local, asked):
                yield ", ".join(local)

    def _covers(self, territories: Iterable[str], codes: Iterable[str]) -> bool:
        """Whether one of the places lies in one of the territories, or is around it."""
        inside = {wider for code in codes for wider in self._places.around(code)} - {STATE}
        around = {wider for territory in territories for wider in self._places.around(territory)} - {STATE}
        return any(territory in inside for territory in territories) or bool(around & set(codes))


def _names(procedures: Iterable[Procedure], language: str) -> Iterator[tuple[str, str]]:
    for procedure in procedures:
        for spoken in dict.fromkeys((language, SPANISH)):
            yield from ((title, procedure.id) for title in _titles(procedure, spoken))
            for phrase in procedure.vocabulary.get(spoken, ()):
                yield phrase, procedure.id


def _titles(procedure: Procedure, *languages: str) -> Iterator[str]:
    """Give the names of a procedure, with what stands in brackets and without."""
    for language in languages or procedure.name:
        if name := procedure.name.get(language):
            yield name
            yield _IN_BRACKETS.sub("", name)


def read_bodies(folder: Path) -> Mapping[str, Sequence[str]]:
    """Read `folder`/bodies.json. Raises DataError naming every fault."""
    document = read_data(folder, "bodies.json", "bodies")
    bodies: Mapping[str, Sequence[str]] = document["bodies"]
    return bodies
