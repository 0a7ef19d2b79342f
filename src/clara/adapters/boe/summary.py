"""A day's summary of the gazette, in every shape in which it comes.

The current service gives XML and JSON, the former one another XML, which people have turned into JSON in their own ways. All of
them are the same tree of issue, section, department, heading and item under different names, and JSON made from XML cannot tell
one thing from a list of one. So both are brought into one tree, and that is walked to its ends: through whatever stands between
the levels ("texto" may wrap any of them), and whether a level is there or not.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final, NoReturn
from urllib.parse import urljoin, urlsplit
from xml.etree.ElementTree import Element

from clara.adapters.boe.item import ITEM_ID, MOST_LEVELS, NOTHING_FOUND, day_of, plain, read_json, read_xml
from clara.editorial.gazette.issues import Day, GazetteFormatError, GazetteUnavailableError, Issue, Item, NoIssueError

# The largest recorded summary has 210 kB; the current service's JSON of the same day would have about twice as much.
MAX_SUMMARY_BYTES: Final = 5_000_000
SITE: Final = "https://www.boe.es"

WHAT: Final = "summary"
NOTHING: Final = "404"
# What names and texts are called in the shapes, once written small and without underscores.
_TEXT: Final = "texto"
_LEVELS: Final = {"seccion": "section", "departamento": "department", "epigrafe": "heading"}
_CODES: Final = ("codigo", "num")
_DATES: Final = (("fechapublicacion", "%Y%m%d"), ("fechainv", "%Y/%m/%d"), ("fecha", "%d/%m/%Y"))
_SUMMARY_ID: Final = re.compile(r"BOE-S-\d{4}-\d{1,9}")

Tree = Mapping[str, Any]


def read_summary(content: bytes, asked: date | None = None) -> Day:
    """Read a day's summary, XML or JSON, whole. `asked` is the day that it must be of.

    Raises NoIssueError when the body says that there is none, GazetteUnavailableError when it says that the service is out,
    GazetteFormatError when anything of it cannot be read, or an id in it belongs to no item that was found.
    """
    tree = _tree_of(content)
    if complaint := _complaint(tree):
        _refuse(complaint)
    body = _body(tree)
    about = _child(body, "metadatos") or _child(body, "meta")
    publication = _text(about.get("publicacion", about.get("pub")))
    if publication and publication != "BOE":
        raise GazetteFormatError(WHAT, f"is of the gazette {publication!r}, not of the BOE")
    day = _day(about)
    if asked not in {None, day}:
        raise GazetteFormatError(WHAT, f"is of {day}, though {asked} was asked for")
    issues = tuple(_issue(issue, f"issue {place}") for place, issue in enumerate(_each(body.get("diario")), start=1))
    _complete(body, issues)
    return Day(day, issues)


def says_nothing(content: bytes) -> bool:
    """Whether an answer is the gazette's own word that there is nothing, and not somebody else's page."""
    try:
        complaint = _complaint(_tree_of(content))
    except GazetteFormatError:
        return False
    return complaint is not None and complaint.code == NOTHING


@dataclass(frozen=True, slots=True)
class _Complaint:
    code: str
    words: str


def _complaint(tree: Tree) -> _Complaint | None:
    """Give what an answer complains of, if it does: the current service in a status, the former one in an error."""
    outer = _child(tree, "response") or tree
    if "error" in outer:
        words = _text(_child(outer, "error").get("descripcion")) or _text(outer["error"])
        return _Complaint(NOTHING if NOTHING_FOUND.search(words) else "error", words)
    status = _child(outer, "status")
    code = _text(status.get("code"))
    return _Complaint(code, _text(status.get(_TEXT))) if "status" in outer and code != "200" else None


def _refuse(complaint: _Complaint) -> NoReturn:
    if complaint.code == NOTHING:
        raise NoIssueError(complaint.words or "the gazette has no issue of this day")
    if re.fullmatch(r"5\d\d", complaint.code):
        raise GazetteUnavailableError(f"the gazette answered {complaint.code}: {complaint.words}")
    raise GazetteFormatError(WHAT, f"is the error {complaint.code or 'without a code'}: {complaint.words}")


def _tree_of(content: bytes) -> Tree:
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start in (b"{", b"["):
        found = _named(read_json(content, WHAT, MAX_SUMMARY_BYTES))
        if not isinstance(found, Mapping):
            raise GazetteFormatError(WHAT, "is a list, not a summary")
        return found
    root = read_xml(content, WHAT, MAX_SUMMARY_BYTES)
    return {_short(root.tag): _from_xml(root)}


def _from_xml(element: Element) -> Tree:
    """Bring an element into the shape of the JSON: attributes and children by name, children as lists."""
    tree: dict[str, Any] = {_short(name): value for name, value in element.attrib.items()}
    for child in element:
        tree.setdefault(_short(child.tag), [])
        if isinstance(tree[_short(child.tag)], list):
            tree[_short(child.tag)].append(_from_xml(child))
    if text := plain(element.text):
        tree.setdefault(_TEXT, text)
    return tree


def _named(value: Any, level: int = 0) -> Any:  # noqa: ANN401  whatever JSON may hold
    """Write the names in JSON small and without underscores, and lift attributes that a converter has put aside."""
    if level > MOST_LEVELS:
        raise GazetteFormatError(WHAT, f"is nested more than {MOST_LEVELS} levels deep")
    if isinstance(value, list):
        return [_named(entry, level + 1) for entry in value]
    if not isinstance(value, dict):
        return value
    tree: dict[str, Any] = {}
    for name, entry in value.items():
        if name in {"$", "@attributes"} and isinstance(entry, dict):
            tree.update(_named(entry, level + 1))
        else:
            tree[_short(name)] = _named(entry, level + 1)
    return tree


def _short(name: object) -> str:
    written = str(name).rsplit("}", 1)[-1].lstrip("@$#").lower().replace("_", "")
    return written if written not in {"", "content", "text", "value"} else _TEXT


def _each(value: Any) -> list[Any]:  # noqa: ANN401  whatever JSON may hold
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:  # noqa: ANN401  whatever JSON may hold
    """Give the text of a value that may be one, or hold one beside its attributes, or be a list of one."""
    while isinstance(value, Mapping) or (isinstance(value, list) and len(value) == 1):
        value = value.get(_TEXT) if isinstance(value, Mapping) else value[0]
    return plain(str(value)) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _child(tree: Any, name: str) -> Tree:  # noqa: ANN401  whatever JSON may hold
    found = _each(tree.get(name)) if isinstance(tree, Mapping) else []
    return found[0] if found and isinstance(found[0], Mapping) else {}


def _body(tree: Tree) -> Tree:
    """Find the summary, which the shapes wrap in different ways, or not at all."""
    for path in (("response", "data", "sumario"), ("data", "sumario"), ("sumario",), ()):
        body = tree
        for name in path:
            body = _child(body, name)
        if "diario" in body:
            return body
    raise GazetteFormatError(WHAT, "holds no issue (diario)")


def _day(about: Tree) -> date:
    for name, form in _DATES:
        if found := day_of(_text(about.get(name)), form):
            return found
    raise GazetteFormatError(f"{WHAT}, metadata", "tells no day")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the tree an item was found."""

    section: str = ""
    department: str = ""
    heading: str = ""

    def within(self, level: str, tree: Tree) -> "_Place":
        """Go one level down, where the tree says how it is called."""
        name = _text(tree.get("nombre"))
        if level == "section":
            code = next((code for key in _CODES if (code := _text(tree.get(key)))), "")
            return _Place(section=code or name)
        return replace(self, **{level: name})


def _issue(issue: Any, place: str) -> Issue:  # noqa: ANN401  whatever JSON may hold
    if not isinstance(issue, Mapping):
        raise GazetteFormatError(f"{WHAT}, {place}", "is no issue")
    summary = _child(issue, "sumariodiario") or _child(issue, "sumarionbo")
    number = _text(issue.get("numero", issue.get("nbo")))
    found = _text(summary.get("identificador", summary.get("id")))
    return Issue(number, found, tuple(_items(issue, _Place(), f"{WHAT}, {place}")))


def _items(tree: Any, where: _Place, place: str) -> Iterator[Item]:  # noqa: ANN401  whatever JSON may hold
    if isinstance(tree, list):
        for number, entry in enumerate(tree, start=1):
            yield from _items(entry, where, f"{place} {number}")
    elif isinstance(tree, Mapping):
        for name, value in tree.items():
            if name == "item":
                yield from (_item(entry, where, f"{place}, item {n}") for n, entry in enumerate(_each(value), start=1))
            elif level := _LEVELS.get(name):
                for number, entry in enumerate(_each(value), start=1):
                    inside = where.within(level, entry) if isinstance(entry, Mapping) else where
                    yield from _items(entry, inside, f"{place}, {name} {number}")
            else:
                yield from _items(value, where, place)


def _item(tree: Any, where: _Place, place: str) -> Item:  # noqa: ANN401  whatever JSON may hold
    if not isinstance(tree, Mapping):
        raise GazetteFormatError(place, "is no item")
    found = _text(tree.get("identificador", tree.get("id")))
    if not ITEM_ID.fullmatch(found):
        raise GazetteFormatError(place, f"has no id of the gazette ({found[:40]!r})")
    title = _text(tree.get("titulo"))
    if not title:
        raise GazetteFormatError(f"{place} ({found})", "has no title")
    return Item(
        id=found,
        section=where.section,
        department=where.department,
        heading=where.heading,
        title=title,
        url_html=_address(tree.get("urlhtml", tree.get("urlhtm"))) or f"{SITE}/diario_boe/txt.php?id={found}",
        url_xml=_address(tree.get("urlxml")) or f"{SITE}/diario_boe/xml.php?id={found}",
        url_pdf=_address(tree.get("urlpdf")),
    )


def _address(value: Any) -> str:  # noqa: ANN401  whatever JSON may hold
    """Give an address of the gazette's own site, empty for any other: these are shown to people as links."""
    try:
        found = urljoin(SITE, _text(value)) if _text(value) else ""
        parts = urlsplit(found)
    except ValueError:
        return ""
    return found if parts.scheme in {"http", "https"} and parts.netloc in {"www.boe.es", "boe.es"} else ""


def _complete(body: Tree, issues: tuple[Issue, ...]) -> None:
    """Hold the ids that stand anywhere in the summary against the items found: what was not understood is not left out."""
    found = [item.id for issue in issues for item in issue.items]
    if not found:
        raise GazetteFormatError(WHAT, "holds no item at all")
    if doubled := [name for name, times in Counter(found).items() if times > 1]:
        raise GazetteFormatError(WHAT, f"holds {doubled[0]} more than once")
    if lost := sorted(_ids(body) - set(found)):
        raise GazetteFormatError(WHAT, f"{len(lost)} of {len(lost) + len(found)} items stand where none is known: {lost[0]}")


def _ids(value: Any) -> set[str]:  # noqa: ANN401  whatever JSON may hold
    if isinstance(value, Mapping):
        return set().union(*(_ids(entry) for entry in value.values())) if value else set()
    if isinstance(value, list):
        return set().union(*(_ids(entry) for entry in value)) if value else set()
    return {value} if isinstance(value, str) and ITEM_ID.fullmatch(value) and not _SUMMARY_ID.fullmatch(value) else set()
