"""What each grammar calls its functions, classes, comments and calls: `grammars.json`, so that another language is data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Final

from pydantic import TypeAdapter
from tree_sitter import Language, Parser

from clara.ingestion.programs import UnreadableProgramsError

# A unit that is not a function: what stands in it is cut on its own.
FUNCTIONS: Final = frozenset({"function", "method", "macro"})
# A node that holds units and is none.
HOLDER: Final = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language of a wheel. Every text is the name of a node or a field of its grammar.

    `kinds` says what a node is, `holders` are those in which units stand under their name and which are none. `assigned` are
    nodes that give a name to a function: the fields of name and value; `values` are such functions. `wrappers` belong to the
    unit that they hold, such as decorators; `attributes` stand before it as its comments do. `calls` has the field of what is
    called. `imports` are left out of a file's own text. `receiver` is the field of the type that a method is of, where it
    stands apart. `docstrings`: the first text in a body is its documentation. `parsers` has the wheel's function by suffix.
    """

    language: str
    wheel: str
    parsers: Mapping[str, str]
    kinds: Mapping[str, str]
    calls: Mapping[str, str]
    comments: frozenset[str] = frozenset({"comment"})
    holders: Mapping[str, str] = field(default_factory=dict)
    assigned: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    values: frozenset[str] = frozenset()
    wrappers: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    receiver: str = ""
    docstrings: bool = False


GRAMMARS: Final = TypeAdapter(tuple[Grammar, ...]).validate_json((files(__package__) / "grammars.json").read_bytes())
BY_SUFFIX: Final = {suffix: grammar for grammar in GRAMMARS for suffix in grammar.parsers}


@cache
def parser_of(grammar_suffix: str) -> Parser:
    """Make the parser for files with this suffix. Raises UnreadableProgramsError when its wheel is not installed."""
    grammar = BY_SUFFIX[grammar_suffix]
    try:
        wheel = import_module(grammar.wheel)
    except ImportError as error:
        wanted = f"{grammar.language} needs {grammar.wheel.replace('_', '-')}"
        raise UnreadableProgramsError(f"{wanted}, which is not installed; pip install 'clara-tramites[code]'") from error
    return Parser(Language(getattr(wheel, grammar.parsers[grammar_suffix])()))
