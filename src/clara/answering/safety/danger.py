"""Danger before anything else: who may die or be hurt gets the number to call, whatever else is down.

A trained model reads the letters and, where there is one, the vector of the turn; phrases that leave no doubt can only add to
what it hears. What is told is fixed text. Nothing here needs a database or a network.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault
from clara.knowledge.hotlines import read_hotlines
from clara.language.packs import pack_file, read_packs
from clara.language.phrases import Phrases
from clara.language.tokens import words
from clara.retrieval.classifier import NONE, TextClassifier
from clara.retrieval.ports import Vector

# Longer than any message that WhatsApp lets through (4,096 characters); beyond that somebody tries out the machine.
MAX_READ: Final = 5_000
# A message longer than this is read in pieces as well, by its letters: one sentence of danger is lost in a page. Questions of
# the evaluation have up to 310 characters, and three of four training messages under 200.
PIECE: Final = 300
# Neighbours share so much that no sentence of usual length is cut in two.
SHARED: Final = 100
# More numbers than these are not read by somebody who is afraid.
MOST_NAMED: Final = 3
# Characters of a whole reply, and of the line that names a kind beside another one: a phone shows some 1,000 at once.
LONGEST_WHOLE: Final = 950
LONGEST_LINE: Final = 120
# A second kind is named where it holds so much of what is heard, and the emergency leads from there on: who may die in minutes
# calls for help before anything.
ALSO: Final = 0.25
EMERGENCY_LEADS: Final = 0.35
# In a conversation a kind that help was told for is so many times as probable as the message alone makes it.
TOLD: Final = 3.0
# Signs that say danger without a word.
_SIGNS: Final = re.compile("[\U0001f52a\U0001f5e1\U0001f52b\U0001fa78\U0001f198]")


class DangerKind(StrEnum):
    """A kind of danger."""

    EMERGENCY = "emergency"
    SUICIDE = "suicide"
    MINOR = "minor"
    VIOLENCE = "violence"
    TRAFFICKING = "trafficking"
    DETENTION = "detention"
    EVICTION = "eviction"


class AlarmLevel(IntEnum):
    """How sure it is that somebody is in danger.

    SURE: help is the reply. LIKELY: help stands above the reply. HINT: alone it changes nothing, twice it is worth a question.
    """

    REST = 0
    HINT = 1
    LIKELY = 2
    SURE = 3


# Who writes nothing but "SOS" may want help with papers; who writes nothing but that he wants to die does not.
_ALONE: Final = {"emergency": AlarmLevel.LIKELY}


@dataclass(frozen=True, slots=True)
class Alarm:
    """What is heard in a text: how surely, and the kinds, whose help comes first being first."""

    level: AlarmLevel = AlarmLevel.REST
    kinds: tuple[DangerKind, ...] = ()

    @property
    def raised(self) -> bool:
        """Whether help must stand in the reply."""
        return self.level >= AlarmLevel.LIKELY


CALM: Final = Alarm()


@dataclass(frozen=True, slots=True)
class Help:
    """What one language says: the whole reply by kind, and the one line that names a kind above or beside something else."""

    whole: Mapping[DangerKind, str]
    line: Mapping[DangerKind, str]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From which probability of danger (0..1) each level begins."""

    hint: float
    likely: float
    sure: float

    def level(self, danger: float) -> AlarmLevel:
        """Give the level of a probability."""
        return AlarmLevel(sum(danger >= least for least in (self.hint, self.likely, self.sure)))


@dataclass(frozen=True, slots=True, eq=False)
class Danger:
    """Hears danger in any served language, and says whom to call.

    `phrases` tell of danger wherever they stand, `alone` where it is the whole message; both give kinds.
    """

    model: TextClassifier
    phrases: Phrases[str]
    alone: Phrases[str]
    helps: Mapping[str, Help]
    with_vector: Thresholds = field(init=False)
    by_letters: Thresholds = field(init=False)

    def __post_init__(self) -> None:
        """Take the thresholds that the training chose. Raises KeyError, TypeError where the model has none."""
        for name in ("with_vector", "by_letters"):
            object.__setattr__(self, name, Thresholds(**self.model.about["thresholds"][name]))

    def hear(self, text: str, vector: Vector | None = None, told: Collection[DangerKind] = ()) -> Alarm:
        """Tell how surely a text tells of danger, and of which kinds; without its vector by the letters alone.

        `told` are kinds that the person was told help for a moment ago.
        """
        read = text[:MAX_READ]
        heard = [self._judged(read, vector, told), self.phrased(read)]
        if len(read) > PIECE:
            heard += [self._judged(piece, None, told) for piece in pieces(read)]
        level = max(alarm.level for alarm in heard)
        kinds = dict.fromkeys(kind for alarm in sorted(heard, key=lambda one: -one.level) for kind in alarm.kinds)
        return Alarm(level, tuple(kinds)[:MOST_NAMED]) if level else CALM

    def recognise(self, text: str) -> tuple[DangerKind, ...]:
        """Give the kinds of danger that must be helped with, by the letters alone; none when there is none."""
        alarm = self.hear(text)
        return alarm.kinds if alarm.raised else ()

    def reply(self, kinds: Sequence[DangerKind], language: str) -> str:
        """Say what to do about the first kind, and name whom to call about the next ones. Raises IndexError without a kind."""
        said, lead = self.helps[language], kinds[0]
        others = [said.line[kind] for kind in kinds[1:MOST_NAMED]]
        return "\n\n".join([said.whole[lead], *(["\n".join(others)] if others else [])])

    def lines(self, kinds: Sequence[DangerKind], language: str) -> str:
        """Say whom to call, in a line for each kind, for above a reply."""
        said = self.helps[language].line
        return "\n".join(said[kind] for kind in dict.fromkeys((*kinds[: MOST_NAMED - 1], DangerKind.EMERGENCY)))

    def phrased(self, text: str) -> Alarm:
        """Hear phrases that leave no doubt, messages that are nothing but a cry for help, and signs."""
        said = words(text)
        found = [(AlarmLevel.SURE, meaning) for meaning in self.phrases.meanings(said)]
        found += [(_ALONE.get(meaning, AlarmLevel.SURE), meaning) for meaning in self.alone.entries.get(tuple(said), ())]
        if _SIGNS.search(text):
            found.append((AlarmLevel.LIKELY, DangerKind.EMERGENCY))
        level = max((level for level, _ in found), default=AlarmLevel.REST)
        return Alarm(level, tuple(dict.fromkeys(DangerKind(kind) for _, kind in found)))

    def _judged(self, text: str, vector: Vector | None, told: Collection[DangerKind] = ()) -> Alarm:
        """Hear what the model hears."""
        shares = self.model.shares(text, vector)
        danger = 1 - shares[NONE]
        thresholds = self.by_letters if vector is None else self.with_vector
        level = thresholds.level(danger)
        if not level:
            return CALM
        if told:
            weighed = {kind: shares[kind] * (TOLD if kind in told else 1.0) for kind in DangerKind}
            shares = {kind: share * danger / sum(weighed.values()) for kind, share in weighed.items()}
        ranked = sorted(DangerKind, key=lambda kind: -shares[kind])
        held = [kind for kind in ranked if shares[kind] >= ALSO * danger] or ranked[:1]
        if shares[DangerKind.EMERGENCY] >= EMERGENCY_LEADS * danger:
            held = [DangerKind.EMERGENCY, *(kind for kind in held if kind is not DangerKind.EMERGENCY)]
        return Alarm(level, tuple(held))


def pieces(text: str) -> list[str]:
    """Cut a text into pieces that overlap, the first and the last one first: there one cries for help."""
    cut = [text[start : start + PIECE] for start in range(0, max(1, len(text) - SHARED), PIECE - SHARED)]
    return [cut[0], *cut[:0:-1][:1], *cut[1:-1]]


def read_danger(folder: Path, model: TextClassifier) -> Danger:
    """Read danger.json of every pack below `folder`, for a trained model. Raises DataError naming every fault of every file."""
    return Danger(model, *read_said(folder))


def read_said(folder: Path) -> tuple[Phrases[str], Phrases[str], dict[str, Help]]:
    """Read what leaves no doubt, what is a cry for help alone, and the help that is said. Raises DataError."""
    lines = read_hotlines(folder)
    documents, faults = read_packs(folder, "danger")
    said: dict[str, list[tuple[str, str]]] = {"sure": [], "alone": []}
    helps: dict[str, Help] = {}
    for language, document in documents.items():
        file = pack_file(language, "danger")
        filled, lacking = lines.fill(document, file)
        faults += lacking or _too_long(filled["texts"], file)
        whole, line = ({kind: filled["texts"][kind][shape] for kind in DangerKind} for shape in ("whole", "line"))
        helps[language] = Help(whole, line)
        for name, phrases in said.items():
            phrases += [(phrase, kind) for kind, held in filled["phrases"][name].items() for phrase in held]
    if faults:
        raise DataError(faults)
    return Phrases(said["sure"]), Phrases(said["alone"]), helps


def _too_long(texts: Mapping[str, Mapping[str, str]], file: str) -> Iterator[Fault]:
    """Find texts that are too long to be read by somebody who is afraid, with their numbers in them."""
    for kind, said in texts.items():
        for shape, longest in (("whole", LONGEST_WHOLE), ("line", LONGEST_LINE)):
            if len(said[shape]) > longest:
                yield Fault(file, f"$.texts.{kind}.{shape}", f"is longer than {longest} characters; shorten it")
