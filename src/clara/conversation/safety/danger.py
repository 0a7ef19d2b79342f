"""Danger before anything else: who may die or be hurt today gets the number to call, whatever else is down.

Only rules over words, read from data/danger: no database, no model, no network.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from clara.conversation.message import Reply, ReplyStatus, Turn
from clara.conversation.phrases.phrasing import PatternError, Phrasing
from clara.conversation.phrases.spelling import Spelling, plain_words
from clara.conversation.texts import LANGUAGES
from clara.knowledge.faults import DataError, Fault, read_languages
from clara.knowledge.hotlines import read_hotlines

# Longer than any message that WhatsApp lets through (4,096 characters); beyond that somebody tries out the machine.
MAX_READ: Final = 5_000
# As many words as such a message has in Chinese; single signs may stand for eighteen letters.
MAX_WORDS: Final = 2_000
# A language may know so many words fewer than the one that knows most, and still be the one that is written: the lists know few
# common words, and short ones belong to several languages.
MISSED: Final = 2
# More numbers than these are not read by somebody who is afraid.
MOST_NAMED: Final = 3
# Characters of a whole reply, and of the line that names a kind beside another one: a phone shows some 1,000 at once.
LONGEST_WHOLE: Final = 950
LONGEST_LINE: Final = 120
# What masks and what calms, beside the kinds of danger, in the files.
IDIOMS, CALM = "idioms", "calm"


class Kind(StrEnum):
    """A kind of danger, the most urgent first: the first one found leads the reply."""

    EMERGENCY = "emergency"
    SUICIDE = "suicide"
    MINOR = "minor"
    VIOLENCE = "violence"
    TRAFFICKING = "trafficking"
    DETENTION = "detention"
    EVICTION = "eviction"


@dataclass(frozen=True, slots=True)
class Help:
    """What one language says: the whole reply by kind, and the one line that names a kind beside another one."""

    whole: Mapping[Kind, str]
    line: Mapping[Kind, str]


class Danger:
    """Recognises danger in any served language, and says whom to call."""

    def __init__(self, phrasings: Sequence[Phrasing], helps: Mapping[str, Help]) -> None:
        self._phrasings, self._helps = tuple(phrasings), helps

    def recognise(self, text: str) -> tuple[Kind, ...]:
        """Give the kinds of danger that a text tells of, the most urgent first; none when it tells of none.

        Every language is tried, because people mix them; what is an idiom in one counts in none.
        """
        words = plain_words(text[:MAX_READ])[:MAX_WORDS]
        readings = [phrasing.read(words) for phrasing in self._phrasings]
        masked = {place for reading in readings for place in reading.covered(IDIOMS)}
        for reading in readings:
            reading.without(masked)
        calm = any(reading.means(CALM, guess=False) for reading in readings)
        # Typing errors are guessed in the language that is written: what is one there is a good word in another.
        known = max(reading.known for reading in readings) - MISSED
        found = {kind for reading in readings for kind in Kind if reading.means(kind, calm=calm, guess=reading.known >= known)}
        return tuple(kind for kind in Kind if kind in found)

    def reply(self, kinds: Sequence[Kind], language: str) -> str:
        """Say what to do about the first kind, and name whom to call about the next ones. Raises IndexError without a kind."""
        said, lead = self._helps[language], kinds[0]
        others = [said.line[kind] for kind in kinds[1:MOST_NAMED]]
        return "\n\n".join([said.whole[lead], *(["\n".join(others)] if others else [])])

    def answer(self, turn: Turn) -> Turn | Reply:
        """Answer somebody in danger at once; let everybody else pass."""
        text = turn.question or turn.message.text or ""
        if turn.shortened and turn.message.text:
            text = turn.message.text  # what was cut off may be the cry for help
        if not (kinds := self.recognise(text)):
            return turn
        said = self.reply(kinds, turn.language)
        return Reply(said, ReplyStatus.URGENT, turn.language, trace={"danger": [kind.value for kind in kinds]})


def read_danger(folder: Path) -> Danger:
    """Read `folder`/danger. Raises DataError naming every fault of every file."""
    lines = read_hotlines(folder)
    documents, faults = read_languages(folder, "danger", LANGUAGES)
    phrasings: list[Phrasing] = []
    helps: dict[str, Help] = {}
    for language, document in documents.items():
        filled, lacking = lines.fill(document, f"danger/{language}.json")
        faults += lacking or _too_long(filled["texts"], f"danger/{language}.json")
        helps[language] = _help(filled["texts"])
        try:
            phrasings.append(_phrasing(filled))
        except PatternError as error:
            faults.append(Fault(f"danger/{language}.json", "patterns", str(error)))
    if faults:
        raise DataError(faults)
    return Danger(phrasings, helps)


def _too_long(texts: Mapping[str, Mapping[str, str]], file: str) -> Iterator[Fault]:
    """Find texts that are too long to be read by somebody who is afraid, with their numbers in them."""
    for kind, said in texts.items():
        for shape, longest in (("whole", LONGEST_WHOLE), ("line", LONGEST_LINE)):
            if len(said[shape]) > longest:
                yield Fault(file, f"$.texts.{kind}.{shape}", f"is longer than {longest} characters; shorten it")


def _phrasing(document: Mapping[str, Any]) -> Phrasing:
    folds = [(said, alike) for said, alike in document["folds"]]
    spelling = Spelling(folds, document["short"], document["plain"], leet=document["leet"])
    patterns = {**document["patterns"], IDIOMS: document[IDIOMS], CALM: document[CALM]}
    return Phrasing(spelling, document["words"], patterns, document["denials"])


def _help(texts: Mapping[str, Any]) -> Help:
    return Help({kind: texts[kind]["whole"] for kind in Kind}, {kind: texts[kind]["line"] for kind in Kind})
