"""Refusing a query that cannot be meant, before anything is computed for it: every fault named at once."""

import re
import reprlib
import unicodedata
from collections.abc import Iterator, Mapping

from clara.errors import Invalid
from clara.retrieval.passage import Found, Query, Retrieve

# More than the bundled embedder reads of most texts. DevMatrix's 500 would refuse honest questions that tell a situation first.
MAX_CHARACTERS = 2_000
# DevMatrix.
MIN_LIMIT, MAX_LIMIT = 1, 100
# A filter names a few exact values; these bounds only keep a request from being a list of everything.
MAX_VALUES = 20
MAX_VALUE_CHARACTERS = 200
# Keys of metadata that may be filtered by: DevMatrix's white list, and what a piece of a program is.
FILTER_KEYS = frozenset(
    {
        "language",
        "file_path",
        "approved",
        "tags",
        "indexed_at",
        "code_length",
        "author",
        "task_type",
        "source",
        "framework",
        "collection",
        "source_collection",
        "kind",
    }
)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
# Unicode calls these letters, symbols or marks, and they show nothing: Hangul fillers, the blank Braille pattern.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Mn", "Zl", "Zp", "Zs"})
_NOT_UNICODE = "is not valid Unicode; re-encode as UTF-8"


class InvalidQueryError(Invalid, ValueError):
    """The query was refused; `faults` has a sentence for each reason: the field, its value shortened, what is allowed.

    The question's text is never quoted, because messages are logged.
    """

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def validate(query: Query, allowed_filters: frozenset[str] = FILTER_KEYS) -> None:
    """Check what was asked, types included, since it may come from JSON. Raises InvalidQueryError and nothing else.

    No word is forbidden: values travel as parameters of a statement, never as a part of it, so a list of SQL words would
    protect nothing and refuse who asks for the "union" of two things.
    """
    faults = (
        *_faults_of_text(query.text),
        *_faults_of_limit(query.limit),
        *_faults_of_name("corpus", query.corpus),
        *_faults_of_collections(query.collections),
        *_faults_of_filters(query.filters, allowed_filters),
    )
    if faults:
        raise InvalidQueryError(faults)


def validated(retrieve: Retrieve, allowed_filters: frozenset[str] = FILTER_KEYS) -> Retrieve:
    """Retrieve only for valid queries. Raises InvalidQueryError, and what `retrieve` raises."""

    def checking(query: Query) -> Found:
        validate(query, allowed_filters)
        return retrieve(query)

    return checking


def _faults_of_text(text: object) -> Iterator[str]:
    if not isinstance(text, str):
        yield f"text = {_shown(text)} is no text; give the question as a string"
        return
    if not _is_unicode(text):
        yield f"text {_NOT_UNICODE}"
    elif not any(map(_is_visible, text)):
        yield f"text is blank ({len(text)} characters, none of them visible); write the question"
    if len(text) > MAX_CHARACTERS:
        yield f"text has {len(text)} characters; shorten it to {MAX_CHARACTERS}"


def _faults_of_limit(limit: object) -> Iterator[str]:
    if type(limit) is not int or not MIN_LIMIT <= limit <= MAX_LIMIT:  # True is an int too, and never meant as 1
        yield f"limit = {_shown(limit)}; give a whole number from {MIN_LIMIT} to {MAX_LIMIT}"


def _faults_of_name(field: str, name: object) -> Iterator[str]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"{field} = {_shown(name)}; give 1 to 63 characters of a-z, 0-9, _ and -, the first of them a letter or a digit"


def _faults_of_collections(collections: object) -> Iterator[str]:
    if not isinstance(collections, tuple):
        yield f"collections = {_shown(collections)}; give a tuple of names"
        return
    for name in collections:
        yield from _faults_of_name("collections", name)


def _faults_of_filters(filters: object, allowed: frozenset[str]) -> Iterator[str]:
    if not isinstance(filters, Mapping):
        yield f"filters = {_shown(filters)}; give a mapping of keys to tuples of values"
        return
    for key, values in filters.items():
        if key not in allowed:
            yield f"filters has the unknown key {_shown(key)}; allowed are {', '.join(sorted(allowed)) or 'none'}"
        else:
            yield from _faults_of_values(f"filters[{key}]", values)


def _faults_of_values(field: str, values: object) -> Iterator[str]:
    if not isinstance(values, tuple) or not 1 <= len(values) <= MAX_VALUES:
        yield f"{field} = {_shown(values)}; give a tuple of 1 to {MAX_VALUES} values"
        return
    for value in values:
        if not isinstance(value, str) or len(value) > MAX_VALUE_CHARACTERS:
            yield f"{field} has the value {_shown(value)}; give text of at most {MAX_VALUE_CHARACTERS} characters"
        elif not _is_unicode(value):
            yield f"{field} has the value {_shown(value)}, which {_NOT_UNICODE}"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def _is_visible(character: str) -> bool:
    return character not in _BLANK and unicodedata.category(character) not in _INVISIBLE_CATEGORIES


def _shown(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer of more digits than Python writes out
        return f"a very large {type(value).__name__}"
