"""Reviewing what a model wrote, sentence by sentence: what may stay, what is wrong with the rest, whether it still answers.

Pure, and without a model: a sentence stays when no gate stops it and the proof finds in the facts it cites what it says.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from clara.answering.verification.prover import Prover
from clara.answering.writing.gates import MARK, Gates
from clara.answering.writing.prompt import NOT_KNOWN, TOKEN, Evidence
from clara.language.detection import LanguageDetector
from clara.language.figures.lexicon import SPANISH
from clara.language.sentences import sentence_ends
from clara.language.tokens import words
from clara.retrieval.quotation import visible

# More than this is no WhatsApp message, whatever is in it, and not worth the time of reviewing.
MOST: Final = 6_000
# A guess of the language from fewer words is noise.
TELLING_WORDS: Final = 6
_BULLET: Final = re.compile(r"^\s*(?:[•*–—-]|\d{1,2}[.)])\s+")
_SEVERAL: Final = re.compile(r"\[\s*C\d{1,2}(?:\s*[,;]\s*C\d{1,2})+\s*\]")
_MARKS_BEHIND: Final = re.compile(r"([.!?…。！？؟]+)\s*((?:\s*\[C\d{1,2}\])+)")
# How Unicode calls the letters of a script of pack.json.
_LETTERS: Final = {"latin": "LATIN", "cyrillic": "CYRILLIC", "arabic": "ARABIC", "han": "CJK"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a draft, with its marks. `line` is the line it stands in; `quotes` says that it is a fact, word by word."""

    text: str
    line: int
    bullet: bool
    marks: tuple[str, ...]
    quotes: bool = False


@dataclass(frozen=True, slots=True)
class Review:
    """What became of a draft. `removed` are sentences with the kind of their fault; `whole` what is wrong with all of it.

    `partly` says that the model found no answer to a part of the question, `quoted` how many facts we added as quotations.
    """

    kept: tuple[Sentence, ...]
    removed: tuple[tuple[Sentence, str], ...]
    whole: tuple[str, ...] = ()
    partly: bool = False
    quoted: int = 0

    @property
    def marks(self) -> frozenset[str]:
        """The facts that the kept sentences cite."""
        return frozenset(mark for sentence in self.kept for mark in sentence.marks)

    @property
    def lost(self) -> bool:
        """Whether a fact was told only in sentences that had to go."""
        return any(not set(sentence.marks) <= self.marks for sentence, _ in self.removed)

    @property
    def text(self) -> str:
        """The kept sentences in their lines."""
        lines: dict[int, list[Sentence]] = {}
        for sentence in self.kept:
            lines.setdefault(sentence.line, []).append(sentence)
        return "\n".join(
            f"{'• ' if line[0].bullet else ''}{' '.join(sentence.text for sentence in line)}" for line in lines.values()
        )


class Reviewer:
    """Reviews drafts in any served language."""

    def __init__(self, gates: Gates, prover: Prover, detector: LanguageDetector) -> None:
        self._gates = gates
        self._prover = prover
        self._detector = detector

    def review(self, draft: str, evidence: Evidence, language: str, question: str) -> Review:
        """Take out of a draft what may not stay. `question` is as the model was shown it."""
        if len(draft) > MOST:
            return Review((), (), ("length",))
        sentences = cut(draft.replace(NOT_KNOWN, ""), evidence)
        wrong = [(sentence, self._fault(sentence, evidence, language)) for sentence in sentences]
        removed = [(sentence, fault) for sentence, fault in wrong if fault]
        kept, unproved, whole = self._proved([sentence for sentence, fault in wrong if not fault], evidence, language, question)
        if not self._speaks(" ".join(_prose(sentence.text) for sentence in kept if not sentence.quotes), language):
            whole = (*whole, "language")
        return Review(tuple(kept), (*removed, *unproved), whole, NOT_KNOWN in draft)

    def _fault(self, sentence: Sentence, evidence: Evidence, language: str) -> str | None:
        """Name what is wrong with one sentence before it is proved."""
        passages = evidence.passages
        if not sentence.marks or any(mark not in passages for mark in sentence.marks):
            return "mark" if MARK.search(sentence.text) else "unproved"
        cited = [passages[mark] for mark in sentence.marks]
        tokens = [token for token in evidence.addresses if any(token in evidence.texts[mark] for mark in sentence.marks)]
        faults = self._gates.faults(sentence.text, "es" if sentence.quotes else language, cited, tokens)
        if faults or sentence.quotes:
            return faults[0] if faults else None
        own = _without_quotations(MARK.sub(" ", sentence.text), [evidence.texts[mark] for mark in sentence.marks])
        if self._foreign(own, language):
            return "language"
        return None if self._prover.ties(own, cited, language) else "unanchored"

    def _proved(
        self, sentences: Sequence[Sentence], evidence: Evidence, language: str, question: str
    ) -> tuple[list[Sentence], list[tuple[Sentence, str]], tuple[str, ...]]:
        """Prove what is left until nothing is found wrong with it: what goes may have been the support of what stays."""
        kept, removed = list(sentences), list[tuple[Sentence, str]]()
        while kept:
            claims = {sentence.text: sentence for sentence in kept if not sentence.quotes}
            faults = self._prover.prove("\n".join(claims), evidence.passages, language, question) if claims else ()
            # Whether limiting facts are told is judged with the quotations, which are no claims: see `answers`.
            found = [(claims.get(_named(fault.sentence, claims)), fault.kind) for fault in faults if fault.kind != "condition"]
            wrong = {sentence.text: (sentence, kind) for sentence, kind in found if sentence is not None}
            if not wrong:
                return kept, removed, tuple(sorted({kind for _, kind in found}))
            removed += wrong.values()
            kept = [sentence for sentence in kept if sentence.text not in wrong]
        return kept, removed, ()

    def _speaks(self, prose: str, language: str) -> bool:
        """Whether a text is in a language. A Spanish one must share its words with the facts, which is the better test."""
        return language == SPANISH or len(words(prose)) < TELLING_WORDS or self._detector.detect(prose, language) == language

    def _foreign(self, sentence: str, language: str) -> bool:
        """Whether a sentence is in another language, or holds letters of another script than Latin and its own."""
        prose = _prose(sentence)
        letters = {character for character in prose if character.isalpha() and not character.isascii()}
        scripts = {unicodedata.name(letter, "?").split(" ")[0] for letter in letters} - {"MASCULINE", "FEMININE", "MODIFIER"}
        return bool(scripts - {"LATIN", _LETTERS[self._detector.scripts[language]]}) or not self._speaks(prose, language)


def _pieces(line: str) -> list[str]:
    """Cut a line after its sentences; what has no word, like a mark behind an abbreviation, belongs to what stands before."""
    pieces: list[str] = []
    for start, end in pairwise([0, *sentence_ends(line)]):
        piece = line[start:end].strip()
        if words(MARK.sub("", piece)):
            pieces.append(piece)
        elif pieces:
            pieces[-1] = f"{pieces[-1]} {piece}"
    return pieces


def mended(review: Review, evidence: Evidence) -> Review:
    """Quote the facts that must be told and are not: the main one first, the limits of others behind them."""
    if review.whole or not review.kept:
        return review
    before = [evidence.main] if evidence.main not in review.marks else []
    told = [*before, *(mark for sentence in review.kept for mark in sentence.marks)]
    for mark in told:  # grows while it is read: limits have limits
        told += [limit for limit in evidence.limits.get(mark, ()) if limit not in told]
    quoted = [
        # A line of its own that quotes a fact; no draft has a line of that number.
        Sentence(f"«{evidence.texts[mark].rstrip('.')}» [{mark}]", -int(mark[1:]), bullet=True, marks=(mark,), quotes=True)
        for mark in dict.fromkeys(told)
        if mark not in review.marks
    ]
    return replace(review, kept=(*quoted[: len(before)], *review.kept, *quoted[len(before) :]), quoted=len(quoted))


def answers(review: Review, evidence: Evidence) -> bool:
    """Whether what is left answers: it tells the main fact, and no fact without those that limit it."""
    if review.whole or evidence.main not in review.marks:
        return False
    return all(set(evidence.limits.get(mark, ())) <= review.marks for mark in review.marks)


def cut(draft: str, evidence: Evidence) -> list[Sentence]:
    """Cut a draft into sentences, each with the marks behind it; a line that quotes a whole fact stays whole."""
    sentences: list[Sentence] = []
    # "[C1, C2]" becomes "[C1] [C2]".
    apart = _SEVERAL.sub(lambda marks: " ".join(f"[{mark}]" for mark in re.findall(r"C\d{1,2}", marks[0])), draft)
    for number, written in enumerate(visible(apart).splitlines()):
        line = _BULLET.sub("", written).strip()
        bullet = bool(_BULLET.match(written))
        if _quotes(line, evidence):
            sentences.append(Sentence(line, number, bullet, _marks(line), quotes=True))
            continue
        line = _MARKS_BEHIND.sub(lambda match: f" {match[2].strip()}{match[1]}", line)
        sentences += [Sentence(piece, number, bullet, _marks(piece)) for piece in _pieces(line)]
    return sentences


def _without_quotations(text: str, facts: Sequence[str]) -> str:
    """Take whole facts in quotation marks out of a sentence: what stands around them has to hold by itself."""
    for fact in facts:
        for quoted in (f"«{fact}»", f"«{fact.rstrip('.')}»", f"«{fact.rstrip('.')}.»"):
            text = text.replace(quoted, " ")
    return text


def _quotes(line: str, evidence: Evidence) -> bool:
    """Whether a line is nothing but one whole fact in quotation marks, with its mark."""
    marks, bare = _marks(line), MARK.sub("", line).strip().rstrip(".").strip()
    if len(marks) != 1 or not (bare.startswith("«") and bare.endswith("»")):
        return False
    return bare[1:-1].strip().rstrip(".") == evidence.texts.get(marks[0], "").rstrip(".")


def _marks(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"C{match[1]}" for match in MARK.finditer(text)))


def _named(said: str, claims: Mapping[str, Sentence]) -> str:
    """Find the sentence that a proof speaks of, which may have cut it otherwise."""
    plain = " ".join(said.split())
    if plain in claims:
        return plain
    return next((claim for claim in claims if plain and (plain in " ".join(claim.split()) or claim in plain)), "")


def _prose(text: str) -> str:
    return TOKEN.sub(" ", MARK.sub(" ", text))
