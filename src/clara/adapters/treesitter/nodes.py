"""Small questions to a tree: where a body starts, what is a docstring, how much of it is errors."""

import re

from tree_sitter import Node

from clara.adapters.treesitter.grammars import Grammar

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
