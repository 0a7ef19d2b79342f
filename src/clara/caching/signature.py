"""Whether two texts ask the same thing, told from keyed digests of their words.

Vectors cannot tell it: "my wife is pregnant" and "my wife is not pregnant" are neighbours. Two texts are the same question
when, but for capitals, accents, articles and courtesy, the same words stand in the same order. There are two exceptions: a
phrase such as "for ..." may stand first or last, and a question word at the end of one ("Python use indentation to define
what?") may stand for one long word of a statement ("... to define blocks.").
"""

import re
import unicodedata
from dataclasses import dataclass, field

from clara.caching.keys import Keys
from clara.caching.neutral_words import NO_WORDS, WORDS, Words

# A written number is one token, so that 1-5 and 1.5 differ. Signs that tell amounts apart are tokens, stops are not.
_TOKEN = re.compile(r"\d+(?:[.,:/–-]\d+)+|[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+|[^\w\s]")
_SIGNS = frozenset("%‰&#@*")
_STOP_AND_MORE = re.compile(r"\s*[,.;:!?¡¿…،؛؟。，！？]+\s*\w")
_ASKED = re.compile(r"[?؟]")  # NFKC has turned the wide one into the first
# People leave accents out. On the last syllable they tell tenses, persons and words apart (trabajo and trabajó, retraite and
# retraité, avó and avô) and stay; so do ñ, ç and every mark of another script.
_ACCENT = re.compile(r"([aeiou])[\u0300-\u0303\u0306\u0308](?!e?s?$)|([st])[\u0326\u0327]")
_ANY_ACCENT = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")
# A shorter word may be an acronym, and with fewer words in common two sentences are hardly the same one.
_ORDINARY_LETTERS = 5
_COMMON_WORDS = 4


@dataclass(frozen=True, slots=True)
class Word:
    """One word as a keyed digest. Words are equal when their digests are, whatever else is known of them."""

    digest: bytes
    asking: bool = field(default=False, compare=False)
    joint: bool = field(default=False, compare=False)
    ordinary: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Signature:
    """The words of a text that carry its meaning, in order, and whether it has a question mark. Nothing of it is readable."""

    words: tuple[Word, ...]
    asked: bool

    @property
    def bags(self) -> tuple[int, int]:
        """Give a number for the words in any order, and one for all but the last.

        Two signatures of the same question agree in the first or in the second; that hardly any others do makes a memory
        quick to search.
        """
        numbers = [int.from_bytes(word.digest[:8], "big") for word in self.words]
        return sum(numbers) % 2**64, sum(numbers[:-1]) % 2**64


def signature_of(text: str, language: str | None, keys: Keys) -> Signature:
    """Give the signature of a text. In a language that is unknown or None every word counts."""
    known = WORDS.get(language or "", NO_WORDS)
    text = known.courtesy.sub(" ", unicodedata.normalize("NFKC", text))
    words = [
        _word(match.group(), bool(_STOP_AND_MORE.match(text, match.end())), known, keys)
        for match in _TOKEN.finditer(text)
        if _counts(match.group()) and match.group().casefold() not in known.articles
    ]
    return Signature(tuple(words), bool(_ASKED.search(text)))


def same_question(one: Signature, other: Signature) -> bool:
    """Whether both ask the same; a text without any word that counts asks nothing."""
    if not one.words or not other.words:
        return False
    if one.words == other.words or _turned(one.words, other.words):
        return True
    return _asks_for_the_end(one, other) or _asks_for_the_end(other, one)


def _counts(token: str) -> bool:
    return token[0].isalnum() or token in _SIGNS or unicodedata.category(token) in {"Sc", "Sm", "So"}


def _word(written: str, stopped: bool, known: Words, keys: Keys) -> Word:
    small = unicodedata.normalize("NFC", written.casefold())
    decomposed = unicodedata.normalize("NFD", small)
    plain = _ANY_ACCENT.sub("", decomposed)
    folded = plain if plain in known.asking else unicodedata.normalize("NFC", _ACCENT.sub(r"\1\2", decomposed))
    negation = small in known.negations
    asking = folded in known.asking
    # "No, I have a contract" is not "I have no contract": before a stop a negation is another word.
    digest = keys.digest("word", folded, "stopped" if negation and stopped else "")
    common = len(written) >= _ORDINARY_LETTERS and written.isalpha() and not written.isupper()
    return Word(digest, asking, small in known.joints, common and not (asking or negation))


def _turned(one: tuple[Word, ...], other: tuple[Word, ...]) -> bool:
    if len(one) != len(other):
        return False
    for cut in range(1, len(one)):
        # The phrase that changed places opens one of the two texts. A joint that stands twice leaves open which belongs where:
        # "I live in A, work in B" and "in B I live, in A work".
        opens = any(word.joint and one.count(word) == 1 for word in (one[0], one[cut]))
        if opens and one[cut:] + one[:cut] == other:
            return True
    return False


def _asks_for_the_end(question: Signature, statement: Signature) -> bool:
    *shared, last = question.words
    *told, answer = statement.words
    return (
        last.asking
        and answer.ordinary
        and shared == told
        and len(shared) >= _COMMON_WORDS
        and not statement.asked
        and not any(word.asking for word in told)
    )
