"""Cutting one program into units: where each starts and ends, its name, documentation, and what it calls."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import PurePosixPath

from tree_sitter import Node

from clara.adapters.treesitter.grammars import BY_SUFFIX, FUNCTIONS, HOLDER, Grammar, parser_of
from clara.ingestion.programs import ProgramUnit, Reason, Skipped

_GENERICS = re.compile(r"<[^<>]*>")
_LAST_NAME = re.compile(r"[\w$]+(?=\W*$)")


def last_name(text: str) -> str:
    """Give the last identifier: of "self.store.get" it is "get", of "*Store[K]" "Store"."""
    bare = re.sub(r"\[[^\[\]]*\]$", "", _GENERICS.sub("", text.strip()))
    found = _LAST_NAME.search(bare)
    return found[0] if found else ""


def last_row(node: Node) -> int:
    """Give the row on which a node ends; one that takes its line break along ends on its own line."""
    end = node.end_point
    return end.row - (end.column == 0 and end.row > node.start_point.row)


def beside_code(comment: Node) -> bool:
    """Tell whether a comment stands behind code on the same line: it then speaks of that."""
    above = comment.prev_sibling
    return above is not None and last_row(above) == comment.start_point.row and above.is_named


def body_of(node: Node) -> Node | None:
    """Give the body of a unit: its own, or that of the function that it names."""
    for name in ("body", "value", "right"):
        found = node.child_by_field_name(name)
        if found is not None:
            return found if name == "body" else found.child_by_field_name("body") or found
    return None


def docstring(block: Node | None) -> Node | None:
    """Give the text that stands first in a body of Python."""
    for node in block.named_children if block is not None else ():
        if node.type == "comment":
            continue
        first = node.named_children[0] if node.type == "expression_statement" and node.named_children else None
        return node if first is not None and first.type == "string" else None
    return None


def opening(root: Node, grammar: Grammar) -> list[Node]:
    """Give what is said at the top of a file: its docstring, or the comments before anything else.

    Comments that stand right above a unit are that unit's, so there must be a blank line or an import after them.
    """
    if grammar.docstrings:
        found = docstring(root)
        return [found] if found is not None else []
    comments: list[Node] = []
    for node in root.named_children:
        if node.type not in grammar.comments:
            apart = not comments or node.type in grammar.imports or node.start_point.row > last_row(comments[-1]) + 1
            return comments if apart else []
        if comments and node.start_point.row > last_row(comments[-1]) + 1:
            return comments
        comments.append(node)
    return comments


def rows_of_errors(root: Node) -> list[tuple[int, int]]:
    """Give the first and last row of the outermost errors below the root, in their order."""
    found: list[tuple[int, int]] = []
    waiting = list(root.children)
    while waiting:
        node = waiting.pop()
        if node.is_error:
            found.append((node.start_point.row, last_row(node)))
        elif node.has_error:
            waiting += node.children
    return sorted(found)


# Of something that calls everything, the first names count.
MOST_CALLS = 100
# Above this share of lines in errors of the parser, what was cut beside them is chance.
MOST_FAULTY = 0.5
# The end of what is called says its name; a chain of calls is as long as all before it.
LONGEST_CALLEE = 200

# The signs of comments, and those of a docstring.
_SIGNS = re.compile(r"^[ \t]*(?://[/!]?|/\*[*!]?|\*/|\*(?!/)|#+)?[ \t]?|[ \t]*\*/[ \t]*$", re.MULTILINE)
_QUOTES = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$")
_NOTICE = re.compile(r"copyright|licen[sc]e|SPDX|^!|-\*-|eslint|@ts-|jshint", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


@dataclass(slots=True)
class Cut:
    """A node that is a unit: its place in bytes, with what stands before it and belongs to it; `inner` are units in it."""

    node: Node
    kind: str
    scope: tuple[str, ...]
    name: str
    start: int
    end: int
    documentation: str
    holes: list[tuple[int, int]] = field(default_factory=list)
    inner: list["Cut"] = field(default_factory=list)


def cut(path: str, source: str) -> tuple[list[ProgramUnit], list[Skipped]]:
    """Cut a program; `path` tells its language. A file that does not parse gives no unit and says so.

    A function with a syntax error is left out and named by its line; those beside it stay.
    """
    return _Program(path, source).units()


class _Program:
    def __init__(self, path: str, source: str) -> None:
        self._path = path
        self._grammar: Grammar = BY_SUFFIX[PurePosixPath(path).suffix.casefold()]
        self._source = source.encode("utf-8", "replace")
        self._root = parser_of(PurePosixPath(path).suffix.casefold()).parse(self._source).root_node
        self._faulty: list[Skipped] = []

    def units(self) -> tuple[list[ProgramUnit], list[Skipped]]:
        top, every = self._cuts()
        top.sort(key=lambda one: one.start)
        if self._root.has_error:
            errors = rows_of_errors(self._root)
            if not every or sum(last - first + 1 for first, last in errors) > MOST_FAULTY * (last_row(self._root) + 1):
                return [], [Skipped(self._path, Reason.UNPARSABLE)]
            if not self._faulty and errors:  # so much is wrong with it that nobody sees what it was
                self._faulty.append(Skipped(f"{self._path}:{errors[0][0] + 1}", Reason.FAULTY))
        whole = self._file(top)
        return [*([whole] if whole else []), *(self._unit(one) for one in every)], self._faulty

    def _cuts(self) -> tuple[list[Cut], list[Cut]]:
        """Give the units that stand in no other, and all of them in their order."""
        top: list[Cut] = []
        every: list[Cut] = []
        waiting: list[tuple[Node, tuple[str, ...], Cut | None, bool]] = [(self._root, (), None, False)]
        while waiting:
            node, scope, outer, in_type = waiting.pop()
            made = self._cut(node, scope, in_type=in_type)
            if made is not None:
                if made.kind in FUNCTIONS and node.has_error:
                    self._faulty.append(Skipped(f"{self._path}:{node.start_point.row + 1}", Reason.FAULTY))
                    continue
                every.append(made)
                (outer.inner if outer else top).append(made)
                if made.kind in FUNCTIONS:
                    continue
                scope, outer, in_type = (*made.scope, made.name), made, True
            elif (named := self._grammar.holders.get(node.type)) is not None:
                scope = (*scope, last_name(self._text_of(node.child_by_field_name(named))))
                in_type = named == "type"
            waiting += [(child, scope, outer, in_type) for child in reversed(node.named_children)]
        return top, sorted(every, key=lambda one: (one.start, -one.end))

    def _cut(self, node: Node, scope: tuple[str, ...], *, in_type: bool) -> Cut | None:
        kind, name = self._kind_and_name(node)
        if kind == HOLDER or not name:
            return None
        if receiver := self._text_of(node.child_by_field_name(self._grammar.receiver)) if self._grammar.receiver else "":
            scope = (*scope, last_name(receiver.rstrip(") ")))
        if kind == "function" and in_type:
            kind = "method"
        outermost = self._outermost(node)
        start, comments = self._before(outermost)
        made = Cut(node, kind, tuple(filter(None, scope)), name, start, outermost.end_byte, comments)
        if self._grammar.docstrings and (said := docstring(node.child_by_field_name("body"))) is not None:
            made.documentation = "\n".join(filter(None, (comments, self._documentation([said]))))
            made.holes.append((said.start_byte, said.end_byte))
        return made

    def _kind_and_name(self, node: Node) -> tuple[str, str]:
        kind = self._grammar.kinds.get(node.type, HOLDER)
        if kind in FUNCTIONS and kind != "macro" and node.child_by_field_name("body") is None:
            return HOLDER, ""  # said but not done: part of its interface
        if kind == "type" and (held := node.child_by_field_name("type")) is not None:
            kind = held.type.removesuffix("_type") if held.type in {"struct_type", "interface_type"} else kind
        if fields := self._grammar.assigned.get(node.type):
            value = node.child_by_field_name(fields[1])
            named = node.child_by_field_name(fields[0])
            if value is None or value.type not in self._grammar.values or named is None:
                return HOLDER, ""
            return "function", last_name(self._text_of(named))
        return kind, self._text_of(node.child_by_field_name("name")) if kind else ""

    def _outermost(self, node: Node) -> Node:
        """Give the node with what is wrapped around it alone: decorators, `export`, `const`."""
        named = self._grammar.kinds.keys() | self._grammar.assigned.keys()
        while (parent := node.parent) is not None and parent.type in self._grammar.wrappers:
            if sum(child.type in named for child in parent.named_children) > 1:
                break
            node = parent
        return node

    def _before(self, node: Node) -> tuple[int, str]:
        """Give where attributes before a node start, and the comments that stand right above it."""
        comments: list[Node] = []
        start, row = node.start_byte, node.start_point.row
        above = node.prev_sibling
        while above is not None and above.type in self._grammar.comments | self._grammar.attributes:
            if last_row(above) < row - 1 or beside_code(above):
                break
            row = above.start_point.row
            if above.type in self._grammar.comments:
                comments.insert(0, above)
            else:
                start = above.start_byte
            above = above.prev_sibling
        return start, self._documentation(comments)

    def _documentation(self, nodes: Sequence[Node]) -> str:
        raw = "".join(self._slice(node.start_byte, node.end_byte).rstrip("\n") + "\n" for node in nodes)
        bare = (
            _QUOTES.sub("", raw.strip())
            if self._grammar.docstrings and not raw.lstrip().startswith("#")
            else _SIGNS.sub("", raw)
        )
        return cleandoc(bare).strip()

    def _unit(self, made: Cut) -> ProgramUnit:
        body = body_of(made.node)
        signature = self._short(made)
        begins = body.start_byte if body is not None else made.start + len(signature.encode())
        holes = [*made.holes, *((one.start, one.end) for one in made.inner)]
        shown = self._without(begins, made.end, sorted(holes), {one.start: self._short(one) for one in made.inner})
        return ProgramUnit(
            kind=made.kind,
            name=made.name,
            qualified=".".join((*made.scope, made.name)),
            language=self._grammar.language,
            path=self._path,
            first=self._source.count(b"\n", 0, made.start) + 1,
            last=last_row(made.node) + 1,
            signature=" ".join(signature.split()),
            documentation=made.documentation,
            body=shown,
            calls=self._calls(made.node),
        )

    def _short(self, made: Cut) -> str:
        """Give all before the body on one line; of a type in one piece its first line."""
        body = body_of(made.node)
        text = self._slice(made.start, body.start_byte if body is not None else made.end)
        return " ".join(text.split()) if body is not None else text.split("\n", 1)[0]

    def _file(self, top: Sequence[Cut]) -> ProgramUnit | None:
        """Make the unit of a file itself: what is said at its top, and what stands in it outside of every unit."""
        said = opening(self._root, self._grammar)
        documentation = self._documentation(said)
        if _NOTICE.search(documentation):
            documentation = ""
        aside = self._grammar.imports | self._grammar.comments | self._grammar.attributes
        starts, ends = [one.start for one in top], [one.end for one in top]
        left_out = [
            (node.start_byte, node.end_byte)
            for node in self._root.named_children
            if node in said or node.type in aside or bisect_right(ends, node.start_byte) < bisect_left(starts, node.end_byte)
        ]
        body = self._without(0, len(self._source), left_out, {})
        if not documentation and not any(character.isalnum() for character in body):
            return None
        stem = PurePosixPath(self._path).stem
        last = last_row(self._root) + 1
        return ProgramUnit("module", stem, "", self._grammar.language, self._path, 1, last, "", documentation, body)

    def _without(self, start: int, end: int, holes: Sequence[tuple[int, int]], instead: dict[int, str]) -> str:
        """Give a stretch of the source without its holes, each with what stands there instead; blank lines are closed up."""
        pieces: list[str] = []
        for begin, stop in holes:
            if begin >= start:
                pieces += [self._slice(start, begin), instead.get(begin, "")]
                start = stop
        return _BLANK_LINES.sub("\n", "".join([*pieces, self._slice(start, max(start, end))])).strip("\n").rstrip()

    def _calls(self, node: Node) -> tuple[str, ...]:
        found: dict[str, None] = {}
        waiting = [node]
        while waiting and len(found) < MOST_CALLS:
            one = waiting.pop()
            named = self._grammar.calls.get(one.type)
            if named and (callee := one.child_by_field_name(named)) is not None:
                start = max(callee.start_byte, callee.end_byte - LONGEST_CALLEE)
                if name := last_name(self._slice(start, callee.end_byte)):
                    found[name] = None
            waiting += reversed(one.named_children)
        return tuple(found)

    def _text_of(self, node: Node | None) -> str:
        return self._slice(node.start_byte, node.end_byte) if node is not None else ""

    def _slice(self, start: int, end: int) -> str:
        return self._source[start:end].decode("utf-8", "replace")
