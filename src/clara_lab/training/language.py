"""Training the model that tells the language of a message, on what data/ holds in the served languages and in others.

    python -m clara_lab.training.language

Writes data/detection/model.npz and prints how many messages by people whom the model did not know it takes for what they are.
Needs scikit-learn (in requirements-dev.lock), no embedder, and some minutes.
"""

import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
import numpy as np

from clara.data_files import TEXT, DataError, Fault, read_data, read_lines, record
from clara.knowledge.catalogue import read_catalogue
from clara.language.detection import LanguageDetector, by_script, said_in
from clara.language.fold import accented
from clara.language.packs import read_languages, read_packs
from clara.language.tokens import length, words
from clara.quality.answers import counted, interval
from clara.retrieval.classifier import read_classifier
from clara.settings import resources
from clara_lab.training.classifier import by_letters_of, digest_of, read_examples, train, write_model

# Twice the buckets of other models, and n-grams with their marks besides, because rare ones tell too: of 1,643 texts of a
# matter that is none of ours, in eight languages, .94 were right; .92 with half as many buckets and without marks.
BUCKETS: Final = 1 << 15
# Authors whose examples of danger are never learned from: the model is judged by them.
HELD_OUT: Final = frozenset({"a25", "a26", "a27", "a28"})
# Of questions and messages at most so many a language, so that Spanish, with 15,000, does not outweigh the others: 6,000 took
# longer and told no better.
MOST: Final = 4000
# How often each example counts, which loosens the penalty: 8 and 30 were alike.
COUNT: Final = 8.0
# Of each text, so many cuttings of a few words besides, because short messages are the hard ones; more where there are few.
CUTTINGS: Final = 3
CUTTINGS_OF_FEW: Final = 6
FEW: Final = 800
# Words of a cutting, each as likely as it is often here.
LENGTHS: Final = (1, 2, 2, 3, 3, 4, 5, 6)
# Each word of a language is an example, and so many of them in a row that nobody said: frequent words tell so much of a
# sentence that little is learned of the others. With them, of the same 1,643 texts .05 more were right in Spanish, .03 in
# Catalan and French, .01 fewer in English and Portuguese.
ROW: Final = 4
SEED: Final = 7
# What counts as a short message in the report.
SHORT_WORDS: Final = 3
# Files of each pack with what people and Clara say.
PACKS: Final = ("texts", "following", "danger", "rights", "reading")
_WORD: Final = re.compile(r"(?<!\w)[^\W\d_](?:[^\W\d_]|['’·-](?=[^\W\d_])){2,}(?!\w)")
_PLACEHOLDER: Final = re.compile(r"\{[^}]*\}")


@dataclass(frozen=True, slots=True)
class Others:
    """Languages without other examples: what is said in them; and the served one that those are answered in which are not."""

    texts: Mapping[str, Sequence[str]]
    answered_in: Mapping[str, str]


def read_others(folder: Path) -> Others:
    """Read detection/others.json of the data folder. Raises DataError."""
    languages = read_data(folder, "detection/others.json", "detection_others")["languages"]
    answered = {name: one["answered_in"] for name, one in languages.items() if "answered_in" in one}
    served = read_languages(folder)
    if faults := [
        Fault("detection/others.json", f"$.languages.{name}", "must be served or answered in a language that is, not both")
        for name in languages
        if (name in served) is (answered.get(name) in served)
    ]:
        raise DataError(faults)
    return Others({name: one["texts"] for name, one in languages.items()}, answered)


def corpus_of(folder: Path, others: Others) -> dict[str, list[str]]:
    """Give the texts of each language, without what the script alone decides; phrases and words first."""
    drawn = random.Random(SEED)  # noqa: S311 - the same cuttings every time
    found: dict[str, list[str]] = defaultdict(list)
    for language, texts in _phrases(folder):
        found[language] += texts
    for language, known in read_data(folder, "detection/words.json", "detection_words")["words"].items():
        found[language] += [*known, *(" ".join(drawn.sample(known, drawn.choice((2, 3, 4, 5)))) for _ in known)]
    for language, told in others.texts.items():
        found[language] += told
    for language, said in _messages(folder).items():
        kept = [text for text in dict.fromkeys(said) if _told_by_letters(text)]
        found[language] += drawn.sample(kept, min(len(kept), MOST))
    return {
        language: [text for text in dict.fromkeys(texts) if _told_by_letters(text)]
        for language, texts in sorted(found.items())
        if language != "zh"
    }


def examples_of(corpus: Mapping[str, Sequence[str]], neutral: frozenset[str]) -> list[tuple[str, str]]:
    """Give (text, language) of each text, its cuttings and its words, of which none is made of `neutral` words alone."""
    drawn = random.Random(SEED)  # noqa: S311 - the same cuttings every time
    examples: list[tuple[str, str]] = []
    for language, texts in corpus.items():
        often = CUTTINGS if len(texts) > FEW else CUTTINGS_OF_FEW
        for text in texts:
            examples.append((said_in(text), language))
            pieces = said_in(text).split()
            for size in drawn.choices(LENGTHS, k=often):
                start = drawn.randrange(max(len(pieces) - size, 0) + 1)
                cutting = " ".join(pieces[start : start + size])
                own = language == "es" or any(len(word) > 1 and word not in neutral for word in words(cutting))
                if size < len(pieces) and own and _told_by_letters(cutting):
                    examples.append((cutting, language))
        known = _words_of(texts, frozenset() if language == "es" else neutral)
        drawn.shuffle(known)
        rows = [" ".join(known[start : start + ROW]) for start in range(0, len(known), ROW)]
        examples += [(text, language) for text in (*known, *rows)]
    return examples


@dataclass(frozen=True, slots=True)
class JudgedMessage:
    """A message by somebody whom the model did not know. `language` may be one that is not served."""

    text: str
    language: str
    manner: str


def read_judging(folder: Path) -> list[JudgedMessage]:
    """Give the messages to judge by: of the authors held out, and of eval/language of the project. Raises BatchError."""
    held = [one for one in read_examples(folder / "data" / "danger" / "examples") if one.author in HELD_OUT]
    own = read_lines(folder / "eval" / "language" / "judging.jsonl", dict.fromkeys(("text", "language", "manner"), TEXT))
    messages = [JudgedMessage(one.text, one.language, one.manner) for one in held]
    return [*messages, *(record(JudgedMessage, row) for row in own)]


def report(cases: Sequence[JudgedMessage], detector: LanguageDetector, answered_in: Mapping[str, str]) -> None:
    """Print how many are right, with Wilson's interval, of each language, manner and length."""
    found: list[tuple[str, bool]] = []
    for one in cases:
        right = detector.detect(one.text) == answered_in.get(one.language, one.language)
        groups = (
            f"language {one.language}",
            f"manner {one.manner or 'ordinary'}",
            "short" if length(one.text) <= SHORT_WORDS else "longer",
        )
        found += [(group, right) for group in groups]
    for group, (passed, total) in counted(found).items():
        least, most = interval(passed, total)
        click.echo(f"{group}: {passed} of {total}, {passed / total:.3f} [{least:.3f}, {most:.3f}]")


def _words_of(texts: Iterable[str], neutral: frozenset[str]) -> list[str]:
    """Give each word of three letters or more once, with its marks, without what has a digit in it."""
    found = dict.fromkeys(word for text in texts for word in _WORD.findall(accented(said_in(text))))
    return [word for word in found if not neutral.intersection(words(word))]


def neutral_of(folder: Path) -> frozenset[str]:
    """Give the words of the Spanish names of procedures, which are said in every language."""
    known = read_catalogue(folder).procedures.values()
    return frozenset(word for one in known for name in (*one.vocabulary.get("es", ()), one.name["es"]) for word in words(name))


def _told_by_letters(text: str) -> bool:
    return by_script(text) in {"latin", "cyrillic", "uk", "ru"}


def _messages(folder: Path) -> dict[str, list[str]]:
    """Give questions, examples and facts by language."""
    catalogue = read_catalogue(folder, with_questions=True)
    found: dict[str, list[str]] = defaultdict(list)
    for question in catalogue.questions:
        found[question.language].append(question.text)
    for matter in ("danger", "rights"):
        for example in read_examples(folder / matter / "examples"):
            if example.author not in HELD_OUT:
                found[example.language].append(example.text)
    for spoken in json.loads((folder / "scope" / "kinds.json").read_text("utf-8"))["examples"].values():
        for language, texts in spoken.items():
            found[language] += texts
    found["es"] += [fact.text for procedure in catalogue.procedures.values() for fact in procedure.facts]
    return found


def _phrases(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for pack in PACKS:
        documents, faults = read_packs(folder, pack)
        if faults:
            raise DataError(faults)
        for language, document in documents.items():
            told = (leaf for name, value in document.items() if name != "$schema" for leaf in _leaves(value))
            yield language, [line for leaf in told for line in _PLACEHOLDER.sub(" ", leaf).splitlines()]


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(inner)


def digest_of_corpus(corpus: Mapping[str, Iterable[str]]) -> str:
    """Digest the texts that a model learns from, so that a stale model is noticed."""
    return digest_of([(text, language) for language, texts in corpus.items() for text in texts])


def main() -> None:
    """Train on data/ and write data/detection/model.npz."""
    data = resources() / "data"
    others = read_others(data)
    corpus = corpus_of(data, others)
    examples = examples_of(corpus, neutral_of(data))
    click.echo(" ".join(f"{name} {count}" for name, count in Counter(name for _, name in examples).items()), err=True)
    features = by_letters_of([text for text, _ in examples], BUCKETS, marked=True)
    arrays, about = train(examples, features, "", np.full(len(examples), COUNT, dtype=np.float32))
    about |= {"answered_in": dict(others.answered_in), "marked": True, "trained_on": digest_of_corpus(corpus)}
    target = data / "detection" / "model.npz"
    write_model(target, arrays, about)
    scripts = {code: language.script for code, language in read_languages(data).items()}
    detector = LanguageDetector(scripts, read_classifier(target).shares, others.answered_in)
    learned = {accented(text) for text, _ in examples}
    unknown = [one for one in read_judging(resources()) if accented(said_in(one.text)) not in learned]
    report(unknown, detector, others.answered_in)


if __name__ == "__main__":
    main()
