"""What people may wish about themselves and of the last answer: understood by rules over phrases, in every served language.

A wish is understood when a sentence says it and nothing else: every word belongs to the wish or changes nothing. That is
what keeps "borra mis datos del padrón" and "olvidé mi cita" apart from "borra mis datos". A sentence that says more than a
wish to be forgotten leaves a doubt, and a doubt is for asking, not for erasing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import StrEnum
from itertools import chain, product
from pathlib import Path
from typing import Any, Final

from clara.language.packs import read_with_packs
from clara.language.phrases import Phrase, Phrases, outside
from clara.language.tokens import words

# Where one sentence ends and another begins; a comma only parts a sentence that is no wish as a whole.
_SENTENCES: Final = re.compile(r"[.!?…;:\n。！？；：؟؛¡¿]+")
_CLAUSES: Final = re.compile(r"[,，、،–—()-]+")
_CLASS: Final = re.compile(r"\{(\w+)\}")
# What a way to say a wish is made of: its name in the data, and the kind of phrase that it is.
PARTS: Final = (("verbs", "verb"), ("about", "about"))
_QUESTIONS: Final = re.compile(r"[^.!?…;:\n。！？；：؟؛¡¿]+(?=[?？؟])")
# Skin tones, the wish for colour, and what joins emoji: none of it changes what a thumb says.
SHAPING: Final = frozenset("\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff\ufe0f\u200d")
# Who says more than this besides the wish has something else on the mind as well.
MOST_BESIDES: Final = 12
# A sentence with more other words than this is about something else, and its words met by chance.
MOST_BETWEEN: Final = 6
# A message of more words than this is a story, and whoever tells one is not asking for this alone.
LONGEST: Final = 60
# Characters by which most messages of more words are known for what they are: cutting 4,096 of them whole took .2 s in Chinese.
BEGINNING: Final = 10 * LONGEST


Classes = Mapping[str, Sequence[str]]


class Wish(StrEnum):
    """What a person may wish.

    DOUBT is what may be a wish to be forgotten, CONFIRM says again that it is one. YES and DECLINE answer a question of ours.
    """

    ERASE = "erase"
    DOUBT = "doubt"
    CONFIRM = "confirm"
    YES = "yes"
    DECLINE = "decline"
    EXPORT = "export"
    DO_NOT_REMEMBER = "do_not_remember"
    REMEMBER = "remember"
    STOP = "stop"
    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    WRONG = "wrong"


# What is not understood of a message that names somebody else who holds data.
DELICATE: Final = frozenset({Wish.ERASE, Wish.EXPORT, Wish.DO_NOT_REMEMBER, Wish.DOUBT})


class _Spoken:
    """How one language says one wish: in whole phrases, or with a verb and what it is about, by ways that go together."""

    def __init__(self, said: Mapping[str, Any], fillers: Sequence[tuple[Phrase, str]], classes: Classes) -> None:
        ways = said.get("ways", ())
        held = {"whole": said["whole"]}
        held |= {f"{kind}{number}": way[part] for number, way in enumerate(ways) for part, kind in PARTS}
        wishes = ((phrase, kind) for kind, phrases in held.items() for phrase in _phrases(phrases, classes))
        self.phrases = Phrases(chain(fillers, wishes), tuple)
        self.ways = len(ways)

    def said(self, kinds: Set[str]) -> bool:
        """Whether these kinds of phrases say the wish."""
        return "whole" in kinds or any({f"verb{way}", f"about{way}"} <= kinds for way in range(self.ways))

    def fills(self, stretch: Phrase) -> bool:
        """Whether the stretch can be cut into phrases that say the wish, and nothing else, in any way at all."""
        reached: dict[int, set[frozenset[str]]] = {0: {frozenset()}}
        for start in range(len(stretch)):
            known = reached.pop(start, None)
            if known is None:
                if not reached:
                    return False
                continue
            for end, kinds in self.phrases.all_at(stretch, start):
                reached.setdefault(end, set()).update(held.union(kinds) for held in known)
        return any(self.said(kinds) for kinds in reached.get(len(stretch), ()))

    def besides(self, stretch: Phrase) -> Phrase | None:
        """Give the words beside the wish, none where it is not said; phrases are taken from the left, the longest first."""
        found = self.phrases.found(stretch)
        kinds = {kind for _, _, held in found for kind in held}
        return tuple(outside(stretch, ((start, end) for start, end, _ in found))) if self.said(kinds) else None


class _Language:
    """How one language says all wishes; what rights.json holds."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        classes = document["classes"]
        fillers = [(phrase, "filler") for phrase in _phrases(document["fillers"], classes)]
        self.spoken = {Wish(name): _Spoken(said, fillers, classes) for name, said in document["wishes"].items()}
        self.elsewhere = Phrases((phrase, True) for phrase in document["elsewhere"])
        self.negations = frozenset(word for phrase in document["negations"] for word in words(phrase))
        self.reasons = Phrases((phrase, True) for phrase in document["reasons"])

    def says(self, wish: Wish, stretch: Phrase) -> bool:
        """Whether a stretch says the wish and nothing else but why."""
        spoken = self.spoken[wish]
        first = next((start for start, _ in self.reasons.spans(stretch)), 0)
        return any(spoken.fills(part) for part in (stretch, stretch[:first]) if part)

    def mentions(self, stretch: Phrase) -> bool:
        """Whether a stretch says a wish to be forgotten among other things, and does not deny it."""
        besides = self.spoken[Wish.ERASE].besides(stretch)
        return besides is not None and len(besides) <= MOST_BETWEEN and not self.negations & set(besides)


class _Message:
    """A message cut into comparable words: by sentences, and by clauses of sentences. `asked` are the questions among them."""

    def __init__(self, text: str) -> None:
        sentences = _SENTENCES.split(text)
        self.words = tuple(words(text))
        self.sentences = _cut(sentences)
        self.clauses = _cut(clause for piece in sentences for clause in _CLAUSES.split(piece))
        self.asked = _cut(_QUESTIONS.findall(text))


class Wishes:
    """Recognises wishes. Emoji that mean one are the same in every language."""

    def __init__(self, documents: Mapping[str, Mapping[str, Any]], signs: Mapping[str, Sequence[str]]) -> None:
        self._languages = {language: _Language(document) for language, document in documents.items()}
        self._signs = {sign: Wish(wish) for wish, held in signs.items() for sign in held}

    def recognise(self, text: str, preferred: str, wanted: Sequence[Wish]) -> tuple[Wish, str] | None:
        """Give (wish, language) of a message: the first wanted wish that it says; the preferred language wins for each."""
        if sign := self._signs.get(_bare(text)):
            return (sign, preferred) if sign in wanted else None
        if len(words(text[:BEGINNING])) > LONGEST:
            return None
        message = _Message(text)
        if not 0 < len(message.words) <= LONGEST:
            return None
        order = tuple(dict.fromkeys((preferred, *self._languages)))
        for wish, language in product(wanted, order):
            other = wish in DELICATE and self._held_elsewhere(message, preferred, language)
            if not other and self._says(message, wish, self._languages[language]):
                return wish, language
        if Wish.DOUBT in wanted:
            return next(((Wish.DOUBT, language) for language in order if self._doubtful(message, preferred, language)), None)
        return None

    def _says(self, message: _Message, wish: Wish, known: _Language) -> bool:
        if wish is Wish.ERASE:
            return self._wants_to_be_forgotten(message, known)
        rest = [sentence for sentence in message.sentences if not known.says(wish, sentence)]
        return len(rest) < len(message.sentences) and all(self._idle(sentence, wish, known) for sentence in rest)

    def _wants_to_be_forgotten(self, message: _Message, known: _Language) -> bool:
        """Whether one sentence, or one clause, is the wish, and the rest neither asks something nor is a story."""
        for stretches in (message.sentences, message.clauses):
            rest = [stretch for stretch in stretches if not known.says(Wish.ERASE, stretch)]
            if len(rest) < len(stretches) and sum(map(len, rest)) <= MOST_BESIDES:
                return not any(stretch in message.asked for stretch in rest)
        return False

    def _idle(self, stretch: Phrase, wish: Wish, known: _Language) -> bool:
        """Whether a stretch is nothing but words that change nothing."""
        found = known.spoken[wish].phrases.found(stretch)
        return sum(end - start for start, end, kinds in found if kinds == ("filler",)) == len(stretch)

    def _doubtful(self, message: _Message, preferred: str, language: str) -> bool:
        """Whether a wish to be forgotten is said among other things, or beside somebody else who holds data."""
        known = self._languages[language]
        if self._held_elsewhere(message, preferred, language):
            return any(known.says(Wish.ERASE, sentence) for sentence in message.sentences)
        return any(known.mentions(sentence) for sentence in message.sentences)

    def _held_elsewhere(self, message: _Message, *languages: str) -> bool:
        """Whether the message names somebody else who holds data."""
        return any(self._languages[language].elsewhere.spans(message.words) for language in languages)


def _cut(pieces: Iterable[str]) -> list[Phrase]:
    return [said for piece in pieces if (said := tuple(words(piece)))]


def _bare(text: str) -> str:
    """Give an emoji without what colours and shapes it, and once where it is repeated."""
    return "".join(dict.fromkeys(sign for sign in text if not sign.isspace() and sign not in SHAPING))


def _phrases(phrases: Iterable[str], classes: Classes) -> Iterator[Phrase]:
    """Give each phrase with every choice for its {classes}: "{my} {thing}" is "my data", "my number", "our data", ..."""
    for phrase in phrases:
        pieces = _CLASS.split(phrase)
        choices = [[words(one) for one in (classes[piece] if place % 2 else (piece,))] for place, piece in enumerate(pieces)]
        yield from (tuple(chain.from_iterable(chosen)) for chosen in product(*choices))


def read_wishes(folder: Path) -> Wishes:
    """Read rights.json of every pack below `folder`, and the emoji. Raises DataError naming every fault of every file."""
    signs, documents = read_with_packs(folder, "rights/signs.json", "rights_signs", "rights")
    return Wishes(documents, signs["signs"])
