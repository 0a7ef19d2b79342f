"""Follow-ups: whether a message hangs on what was said before, and the whole question that it stands for.

Rules over the phrasebooks of data/languages, pure: the same message after the same turns is always understood alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from clara.answering.dialogue.phrasebook import Phrasebook, PhraseKind
from clara.answering.message import Past, ReplyStatus
from clara.knowledge.keyword_tier import NamedProcedures
from clara.knowledge.places import Places
from clara.language.phrases import outside
from clara.language.tokens import length, words

# After this many seconds a message begins anew: people come back the next day with another matter.
MEMORY: Final = 30 * 60
# What is longer tells its own story: the longest of 113 follow-ups in ten languages has 8 words.
LONGEST: Final = 14
# A message without a word of its own may be this long.
LIGHT_LONGEST: Final = 10
# Words of its own that a message may have and still hang: after "y" or with "it" few, after "y si" more.
OWN_WORDS: Final = 2
OWN_WORDS_OF_CONDITION: Final = 5
# From this probability on a message is about another procedure even unnamed ("me han cortado la luz" .88, "y el alquiler?"
# .96); conditions that hang stay below ("y si no tengo pasaporte" .42, "y si trabajo?" .23).
ELSEWHERE: Final = 0.6
# And from this one on it is about nothing in the catalogue ("y como renuevo el dni" .95).
OUTSIDE: Final = 0.75
# "¿y si ...?" and "what if ...?" nearly always go on: only a near certainty that another procedure is meant says otherwise.
ELSEWHERE_IF: Final = 0.85
NEVER: Final = 2.0
# A message that leans on nothing goes on when it is this short and speaks of nothing known ("me pueden decir que no?").
BARE_LONGEST: Final = 6
ELSEWHERE_BARE: Final = 0.45
OUTSIDE_BARE: Final = 0.5
# Questions that stay in force carry at most so many of their phrases into the next one.
MOST_CARRIED: Final = 2
# Of an earlier question that led to nothing this much is asked again together with what follows.
MOST_REPEATED: Final = 300

# So many first letters of a place's name stay when its ending changes with the case.
STEM: Final = 4

# Replies after which the subject is still what it was.
_PASSING: Final = frozenset(
    {
        *(ReplyStatus.COMMAND, ReplyStatus.UNREADABLE, ReplyStatus.LIMITED, ReplyStatus.CALMED),
        *(ReplyStatus.FEEDBACK, ReplyStatus.URGENT, ReplyStatus.RIGHTS),
    }
)

# What a text is about: the chance of each likely procedure, and that of none.
Topics = Callable[[str], tuple[Mapping[str, float], float]]


# What kinds of thing a text asks for, in the words of the passages ("plazos"). A short question and a long name are found by
# the name; with these words the right section was cited for 316 of 340 follow-ups in four languages, without for 284.
Matters = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Certainties:
    """How probable another procedure, or none, must be so that a message is about that."""

    elsewhere: float
    outside: float


LEANING: Final = Certainties(ELSEWHERE, OUTSIDE)
BARE: Final = Certainties(ELSEWHERE_BARE, OUTSIDE_BARE)


@dataclass(frozen=True, slots=True)
class Reading:
    """A message as its phrases: of which kinds, how many words of its own (`own`), what it asks and for whom.

    `what_if` says that it begins with "¿y si" rather than with a bare "si". `before` and `beside` are the words on both sides
    of the first "con", "with", "mientras".
    """

    first: frozenset[PhraseKind]
    kinds: frozenset[PhraseKind]
    own: int
    asks: tuple[str, ...]
    people: tuple[str, ...]
    what_if: bool
    before: str
    beside: str

    @property
    def leans(self) -> bool:
        """Whether it goes on from something, or points at it."""
        return bool(self.first & {PhraseKind.OPENER, PhraseKind.CONDITION}) or PhraseKind.POINTER in self.kinds


def recent(past: Sequence[Past]) -> list[Past]:
    """Give the turns young enough to hang on, newest first."""
    return [earlier for earlier in past if earlier.age <= MEMORY]


def last_subject(past: Sequence[Past]) -> Past | None:
    """Give the last turn that was about something: greetings and the like leave the subject as it was."""
    return next((earlier for earlier in recent(past) if earlier.status not in _PASSING), None)


@dataclass(frozen=True, slots=True)
class Following:
    """Tells follow-ups from new questions, and makes of a follow-up a question that stands alone."""

    books: Mapping[str, Phrasebook]
    names: Mapping[str, Mapping[str, str]]
    named: NamedProcedures
    topics: Topics
    places: Places
    matters: Matters

    def resolve(self, question: str, past: Sequence[Past], language: str) -> str:
        """Give what is asked: the question itself, or the one that it stands for after these turns."""
        last = self.subject(past)
        if last is None or not self.hangs(question, last, language):
            return question
        if last.document_id is None:
            return f"{last.question[:MOST_REPEATED]} {question}"
        return self.whole(question, past, last.document_id, language)

    def subject(self, past: Sequence[Past]) -> Past | None:
        """Give the turn whose subject is still spoken of: a follow-up that found nothing has not changed it."""
        subjects = [earlier for earlier in recent(past) if earlier.status not in _PASSING]
        for earlier, before in pairwise(subjects):
            if earlier.document_id is not None or not self.hangs(earlier.question, before, earlier.language):
                return earlier
        return subjects[-1] if subjects else None

    def hangs(self, question: str, last: Past, language: str) -> bool:
        """Whether a message only makes sense after the last turn."""
        size = length(question)
        if not 0 < size <= LONGEST:
            return False
        named = self.named.find(question)
        reading = self.read(question, language)
        if named:
            # "¿y si cobro el paro?" asks nothing more than a bare question word, as "qué papeles" does.
            supposed = reading.what_if and all(length(ask) <= 1 for ask in reading.asks)
            only_beside = self.named.find(reading.beside) and not self.named.find(reading.before)
            beside = supposed or (reading.leans and only_beside)  # "¿y puedo cobrarlo con el paro?"
            return last.document_id not in named and reading.own <= sum(named.values()) and bool(beside)
        if reading.own == 0:
            return size <= LIGHT_LONGEST and self._says_something(reading, question)
        most, certain = _bounds(reading, size)
        return reading.own <= most and not self._elsewhere(question, last, certain)

    def whole(self, question: str, past: Sequence[Past], document: str, language: str) -> str:
        """Make a question that stands alone: the procedure, what is asked about it, and the place and person kept.

        What the message says itself replaces what was said before; what was said of another procedure is never kept.
        """
        reading = self.read(question, language)
        same = self._same(past, document)
        carried = (self.asks_of(earlier.question, earlier.language) for earlier in same)
        asks = () if reading.asks else next(filter(None, carried), ())
        said = f"{' '.join(asks)}{'. ' if asks else ''}{question}"
        kept: list[str] = []
        if self.places.territory_of(question) is None:
            places = (self.places.territory_of(earlier.question) for earlier in same)
            kept += [place.name for place in places if place is not None][:1]
        if not reading.people and PhraseKind.SITUATION not in reading.kinds:
            people = (self.read(earlier.question, earlier.language).people for earlier in same)
            kept += next(filter(None, people), ())[:1]
        kept += self.matters(said)
        whole = f"{self.names[document][language]}: {said}"
        return f"{whole} ({', '.join(kept)})" if kept else whole

    def asks_of(self, question: str, language: str) -> tuple[str, ...]:
        """Give the phrases with which a question asks, without what it is about."""
        asks = self.read(question, language).asks
        longer = [ask for ask in asks if length(ask) > 1]  # where one says what is asked, bare question words say nothing
        return tuple(dict.fromkeys(longer or asks))[:MOST_CARRIED]

    def read(self, question: str, language: str) -> Reading:
        """Read a message in its language, or in one that knows all of its words: people mix them."""
        own = self._reading(question, language)
        if own.own == 0:
            return own
        others = (self._reading(question, other) for other in self.books if other != language)
        return next((reading for reading in others if reading.own == 0), own)

    def _reading(self, question: str, language: str) -> Reading:
        book = self.books[language]
        said = book.apart(words(question))
        found = book.following.found(said)
        spans = [(start, end) for start, end, _ in found]
        kinds = [_kinds(labels, start) for start, _, labels in found]
        place = self.places.territory_of(question)
        names = frozenset(word for name in (place.name, *place.aliases) for word in words(name)) if place else frozenset[str]()
        left = [word for word in outside(said, spans) if not _known(word, names)]
        gap = "" if language == "zh" else " "
        phrases = [gap.join(said[start:end]) for start, end in spans]
        first = kinds[0] if spans and spans[0][0] == 0 else frozenset()
        sets = (span for span, of in zip(spans, kinds, strict=True) if PhraseKind.JOIN in of)
        start, end = next(sets, (len(said), len(said)))
        return Reading(
            first=first,
            kinds=frozenset().union(*kinds),
            own=length(" ".join(left)),
            asks=tuple(phrase for phrase, of in zip(phrases, kinds, strict=True) if PhraseKind.ASK in of),
            people=tuple(phrase for phrase, of in zip(phrases, kinds, strict=True) if PhraseKind.PERSON in of),
            what_if=PhraseKind.CONDITION in first and spans[0][1] > 1,
            before=gap.join(said[:start]),
            beside=gap.join(said[end:]),
        )

    def _says_something(self, reading: Reading, question: str) -> bool:
        """Whether there is anything in it to go on from: "no" alone has nothing, an age has."""
        told = reading.kinds - {PhraseKind.LIGHT, PhraseKind.JOIN} or any(character.isdecimal() for character in question)
        return bool(told) or self.places.territory_of(question) is not None

    def _elsewhere(self, question: str, last: Past, certain: Certainties) -> bool:
        documents, outside = self.topics(question)
        other = max((chance for name, chance in documents.items() if name != last.document_id), default=0.0)
        return other >= certain.elsewhere or outside >= certain.outside

    def _same(self, past: Sequence[Past], document: str) -> list[Past]:
        """Give the turns about a procedure, newest first, back to the last change of topic."""
        same: list[Past] = []
        for earlier in recent(past):
            if earlier.document_id == document:
                same.append(earlier)
            elif earlier.status not in _PASSING and earlier.status is not ReplyStatus.CLARIFIED:
                break
        return same


def _bounds(reading: Reading, size: int) -> tuple[int, Certainties]:
    """Give how many words of its own a message that hangs may have, and how sure its own subject would have to be."""
    if PhraseKind.CONDITION in reading.first:
        return OWN_WORDS_OF_CONDITION, Certainties(ELSEWHERE_IF, NEVER) if reading.what_if else LEANING
    if reading.leans:
        return OWN_WORDS, LEANING
    return (1 if size <= BARE_LONGEST else 0), LEANING if reading.asks else BARE


def _kinds(labels: Sequence[str], start: int) -> frozenset[PhraseKind]:
    """Give what a phrase may be: an article points at nothing, and "and" joins only what has something before it."""
    kinds = {PhraseKind(label) for label in labels}
    if PhraseKind.LIGHT in kinds:
        kinds.discard(PhraseKind.POINTER)
    if start == 0:
        kinds.discard(PhraseKind.JOIN)
    return frozenset(kinds)


def _known(word: str, place: frozenset[str]) -> bool:
    """Whether a word is a number or names the place; Slavic languages change the end of names."""
    return word.isdecimal() or any(word == name or (len(name) > STEM and word[:STEM] == name[:STEM]) for name in place)
