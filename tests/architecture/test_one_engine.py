"""Text is understood in one place: `clara/language` holds the one fold, word, matcher, speller, detector and reader."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = {str(file.relative_to(ROOT / "src")): file.read_text("utf-8") for file in sorted((ROOT / "src").rglob("*.py"))}

# What is done in one module, by the expression that gives it away; other modules that hold it, each with its reason.
ENGINES = {
    "one fold": (
        r"unicodedata\.normalize\(|\.casefold\(",
        {
            "clara/language/fold.py": "the fold",
            "clara/retrieval/cache/semantic.py": "which accents a question may lack: of the last syllable none",
            "clara/ingestion/links.py": "each letter of a stored name keeps its place",
            "clara/knowledge/law/labels.py": "keys of provisions are stored, and must not change",
            "clara/channels/twilio/signature.py": "names of fields, not text",
            "clara/adapters/treesitter/cutter.py": "endings of files",
            "clara/adapters/treesitter/reader.py": "endings of files",
            "clara_lab/bench/answers.py": "the published definition of F1",
            "clara_lab/bench/dataset.py": "labels of data sets",
            "clara_lab/models/transport.py": "answers of services",
            "clara_lab/parquet/storage.py": "names of headers",
            "clara_lab/runner/peers.py": "names of files",
            "clara_lab/runner/run.py": "names of files",
        },
    ),
    "one word": (
        r"u3400",
        {
            "clara/language/tokens.py": "the word",
            "clara/language/detection.py": "the blocks of scripts",
        },
    ),
    "one cut into words": (
        r"re\.(?:findall|finditer|split)\(r?f?\"(?:\\w\+|\[\^\\W[^\"]*\+|\\W\+)\"|compile\(r?f?\"(?:\\w\+|\[\^\\W[^\"|]*\]\+)\"",
        {"clara_lab/makers/mutations.py": "cases that are written once, and must stay as they are"},
    ),
    "one matcher": (r"ahocorasick", {"clara/ingestion/links.py": "tens of thousands of names at once, over whole corpora"}),
    "one speller": (r"rapidfuzz|[Ll]evenshtein", {"clara/language/spelling.py": "the speller"}),
    "one finder of identity data": (
        r"stdnum|phonenumbers",
        {
            "clara/language/identity_data.py": "the finder",
            "clara_lab/makers/masking_cases.py": "control letters of invented numbers",
        },
    ),
}
# Classes and functions that stand for an engine: each is defined once, in this module.
HOMES = {
    "fold": "clara/language/fold.py",
    "folded": "clara/language/fold.py",
    "words": "clara/language/tokens.py",
    "length": "clara/language/tokens.py",
    "Token": "clara/language/tokens.py",
    "Phrases": "clara/language/phrases.py",
    "WordPattern": "clara/language/phrases.py",
    "Speller": "clara/language/spelling.py",
    "squeezed": "clara/language/spelling.py",
    "sentence_ends": "clara/language/sentences.py",
    "LanguageDetector": "clara/language/detection.py",
    "masked": "clara/language/identity_data.py",
    "may_identify": "clara/language/identity_data.py",
    "Reader": "clara/language/figures/reader.py",
    "NumberWords": "clara/language/figures/lexicon.py",
    "HeldFigures": "clara/language/figures/agreement.py",
}
# Other things of the same name, which understand no text.
NAMESAKES = {
    ("folded", "clara/knowledge/law/labels.py"),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_done_in_one_place(engine: str) -> None:
    """A second fold, word or matcher would understand the same message otherwise."""
    sign, known = ENGINES[engine]
    assert {name for name, source in SOURCES.items() if re.search(sign, source)} == set(known)


def _defined(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name


def test_what_understands_text_has_one_home() -> None:
    """Each engine is defined once."""
    found = {(name, file) for file, source in SOURCES.items() for name in _defined(source) if name in HOMES}
    assert found - NAMESAKES == set(HOMES.items())
