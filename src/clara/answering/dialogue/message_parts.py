"""What is asked in a message: the sentence of a story that carries the question, and each of several questions. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from clara.answering.dialogue.phrasebook import Phrasebook, PhraseKind
from clara.language.sentences import sentence_ends
from clara.language.tokens import length, located, texts_of, words

_ASKED: Final = re.compile(r"[?？؟]")
# Behind these a clause may begin: commas of every script, line breaks, the number of an item.
_PAUSE: Final = re.compile(r"[,;:]\s+|[،，；、\n]\s*|(?<!\d)\d{1,2}[.)]\s+|[?？؟]+\s*")
# A sentence with fewer words than this says too little to be asked alone ("¿y eso?").
LEAST_WORDS: Final = 3
# A word that asks leads a clause when so few stand before it ("y también cómo"); shorter ones ("que") join sentences.
BEGINNING: Final = 2
SHORTEST_LEAD: Final = 3
_ACCENTED: Final = re.compile(r"[áéíóúàèòâêô]", re.IGNORECASE)
# The number of the next item of a list.
_ITEM: Final = re.compile(r"(?<!\d)\d{1,2}[.)]\s*$")
# In a message of fewer words than this the question is not looked for apart: the model was taught such messages whole.
STORY: Final = 30
# In a message of more words than this only a question mark makes a question: stories are full of what people want.
SHORT: Final = 50
# More than three things in one reply are more than a person reads.
MOST_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class Asking:
    """Finds the questions in a message: by question marks, by the words that ask, and by what people say they want."""

    books: Mapping[str, Phrasebook]

    def focus(self, text: str, language: str) -> tuple[str, ...]:
        """Give the last sentence that asks, and the same with the one before; nothing of a short message or one sentence."""
        said = sentences(text) if length(text) >= STORY else []
        if len(said) <= 1:
            return ()
        asking = [place for place, one in enumerate(said) if _ASKED.search(one)]
        asking = asking or [place for place, one in enumerate(said) if self._asks(one, language)]
        asking = [place for place in asking if length(said[place]) >= LEAST_WORDS]
        if not asking:
            return ()
        last = asking[-1]
        around = " ".join(said[max(0, last - 1) : last + 1])
        return tuple(dict.fromkeys(one for one in (said[last], around) if one != text))

    def parts(self, text: str, language: str) -> tuple[str, ...]:
        """Give the stretches of a text that each end with something asked; fewer than two of a message that asks one thing."""
        brief = length(text) <= SHORT
        parts: list[str] = []
        start = 0
        for begin, end in self._clauses(text, language):
            clause = text[begin:end]
            if _ASKED.search(clause) or (brief and self._demands(clause, language, follows=bool(parts), last=end == len(text))):
                parts.append(text[start:end].strip())
                start = end
        if len(parts) > 1 and length(text[start:]) >= LEAST_WORDS:
            parts[-1] = f"{parts[-1]} {text[start:].strip()}"
        parts = list(dict.fromkeys(part for part in parts if length(part) >= LEAST_WORDS))
        return tuple(parts[:MOST_PARTS]) if len(parts) > 1 else ()

    def _demands(self, clause: str, language: str, *, follows: bool, last: bool) -> bool:
        """Whether something is asked for in a clause without a question mark.

        So is the last thing said after a question, where it goes on from that ("and the card for the doctor").
        """
        if _ITEM.search(clause):
            return length(clause) > LEAST_WORDS
        if self._asks(clause, language) or self.books[language].wants.spans(words(clause)):
            return True
        goes_on = self.books[language].following.at(words(clause), 0)
        return follows and last and goes_on is not None and PhraseKind.OPENER in goes_on[1]

    def _clauses(self, text: str, language: str) -> Iterator[tuple[int, int]]:
        """Give (start, end) of each clause: up to a pause, the end of a sentence, or a word that begins something more."""
        tokens = located(text)
        said = texts_of(tokens)
        openers = self.books[language].following
        cuts = {match.end() for match in _PAUSE.finditer(text)} | set(sentence_ends(text))
        cuts |= {tokens[start].start for start, _, kinds in openers.found(said) if start and PhraseKind.OPENER in kinds}
        begin = 0
        for end in sorted(cuts | {len(text)}):
            if text[begin:end].strip():
                yield begin, end
            begin = end

    def _asks(self, text: str, language: str) -> bool:
        """Whether words that ask stand in a text; one that may also say nothing with an accent, or at its beginning."""
        tokens = located(text)
        for start, end, kinds in self.books[language].following.found(texts_of(tokens)):
            if PhraseKind.ASK in kinds:
                written = text[tokens[start].start : tokens[end - 1].end]
                leads = start <= BEGINNING and len(written) > SHORTEST_LEAD
                if PhraseKind.LIGHT not in kinds or leads or _ACCENTED.search(written):
                    return True
        return False


def sentences(text: str) -> list[str]:
    """Cut a text into its sentences."""
    ends = sentence_ends(text)
    cut = (text[start:end].strip() for start, end in zip([0, *ends], ends, strict=False))
    return [one for one in cut if one]
