"""What each grammar calls its functions, classes, comments and calls: a table, so that another language is data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from tree_sitter import Language, Parser

from clara.ingestion.programs import UnreadableProgramsError

# A unit that is not a function: what stands in it is cut on its own.
FUNCTIONS = frozenset({"function", "method", "macro"})
# A node that holds units and is none.
HOLDER = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language of a wheel. Every text but the suffixes is the name of a node or a field of its grammar.

    `kinds` says what a node is, `holders` are those in which units stand under their name and which are none. `assigned` are
    nodes that give a name to a function: the fields of name and value; `values` are such functions. `wrappers` belong to the
    unit that they hold, such as decorators; `attributes` stand before it as its comments do. `calls` has the field of what is
    called. `imports` are left out of a file's own text. `receiver` is the field of the type that a method is of, where it
    stands apart. `docstrings`: the first text in a body is its documentation. `entry` is the wheel's function.
    """

    language: str
    wheel: str
    suffixes: tuple[str, ...]
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
    entry: str = "language"


JAVASCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "method",
    "class_declaration": "class",
}
JAVASCRIPT_CALLS = {"call_expression": "function", "new_expression": "constructor"}
JAVASCRIPT_ASSIGNED = {
    "variable_declarator": ("name", "value"),
    "field_definition": ("property", "value"),
    "public_field_definition": ("name", "value"),
    "assignment_expression": ("left", "right"),
}
JAVASCRIPT_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
JAVASCRIPT_WRAPPERS = frozenset({"export_statement", "lexical_declaration", "variable_declaration", "expression_statement"})
TYPESCRIPT = {
    **JAVASCRIPT,
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "enum_declaration": "enum",
    "type_alias_declaration": "type",
}


def _typescript(entry: str, *suffixes: str) -> Grammar:
    return Grammar(
        "typescript",
        "tree_sitter_typescript",
        suffixes,
        TYPESCRIPT,
        JAVASCRIPT_CALLS,
        holders={"internal_module": "name"},
        assigned=JAVASCRIPT_ASSIGNED,
        values=JAVASCRIPT_VALUES,
        wrappers=JAVASCRIPT_WRAPPERS,
        attributes=frozenset({"decorator"}),
        imports=frozenset({"import_statement"}),
        entry=entry,
    )


GRAMMARS = (
    Grammar(
        "python",
        "tree_sitter_python",
        (".py", ".pyi"),
        {"function_definition": "function", "class_definition": "class"},
        {"call": "function"},
        wrappers=frozenset({"decorated_definition"}),
        imports=frozenset({"import_statement", "import_from_statement", "future_import_statement"}),
        docstrings=True,
    ),
    Grammar(
        "javascript",
        "tree_sitter_javascript",
        (".js", ".mjs", ".cjs", ".jsx"),
        JAVASCRIPT,
        JAVASCRIPT_CALLS,
        assigned=JAVASCRIPT_ASSIGNED,
        values=JAVASCRIPT_VALUES,
        wrappers=JAVASCRIPT_WRAPPERS,
        imports=frozenset({"import_statement"}),
    ),
    _typescript("language_typescript", ".ts", ".mts", ".cts"),
    _typescript("language_tsx", ".tsx"),
    Grammar(
        "go",
        "tree_sitter_go",
        (".go",),
        {"function_declaration": "function", "method_declaration": "method", "type_spec": "type", "type_alias": "type"},
        {"call_expression": "function"},
        wrappers=frozenset({"type_declaration"}),
        imports=frozenset({"import_declaration", "package_clause"}),
        receiver="receiver",
    ),
    Grammar(
        "java",
        "tree_sitter_java",
        (".java",),
        {
            "method_declaration": "method",
            "constructor_declaration": "method",
            "class_declaration": "class",
            "interface_declaration": "interface",
            "annotation_type_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
        },
        {"method_invocation": "name", "object_creation_expression": "type"},
        comments=frozenset({"line_comment", "block_comment"}),
        imports=frozenset({"import_declaration", "package_declaration"}),
    ),
    Grammar(
        "rust",
        "tree_sitter_rust",
        (".rs",),
        {
            "function_item": "function",
            "struct_item": "struct",
            "union_item": "struct",
            "enum_item": "enum",
            "trait_item": "trait",
            "type_item": "type",
            "macro_definition": "macro",
        },
        {"call_expression": "function", "macro_invocation": "macro"},
        comments=frozenset({"line_comment", "block_comment"}),
        holders={"impl_item": "type", "mod_item": "name"},
        attributes=frozenset({"attribute_item"}),
        imports=frozenset({"use_declaration", "extern_crate_declaration"}),
    ),
)
BY_SUFFIX = {suffix: grammar for grammar in GRAMMARS for suffix in grammar.suffixes}


@cache
def parser_of(grammar_suffix: str) -> Parser:
    """Make the parser for files with this suffix. Raises UnreadableProgramsError when its wheel is not installed."""
    grammar = BY_SUFFIX[grammar_suffix]
    try:
        wheel = import_module(grammar.wheel)
    except ImportError as error:
        wanted = f"{grammar.language} needs {grammar.wheel.replace('_', '-')}"
        msg = f"{wanted}, which is not installed; pip install 'clara-tramites[code]'"
        raise UnreadableProgramsError(msg) from error
    return Parser(Language(getattr(wheel, grammar.entry)()))
