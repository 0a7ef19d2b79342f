"""Reading a norm from Markdown: front matter, headings of any level, and text. What stands behind `>` is dropped.

Lines behind `>` are notes of the gazette and wordings that hold no more. Around them lie traps: a quoted heading or a table
that belongs to a repealed wording stands there without the sign; quoted headings of amending provisions are their text.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

from clara.knowledge.law.labels import Label, disposition_key, read_label, read_standing
from clara.knowledge.law.norm import Assembly, Norm, UnreadableNormError, is_structure, territory_of
from clara.language.figures.lexicon import SPANISH
from clara.language.figures.reader import spanish

# The largest of 64 norms, the Código Civil, has 1.1 MB.
LARGEST: Final = 20_000_000
_NEEDED: Final = ("title", "identifier")
_FIELD: Final = re.compile(r'(\w+): ?(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^"].*)?)')
_HEADING: Final = re.compile(r"(#{1,6}) (.+)")
_RULE: Final = re.compile(r"\|[-| :]+\|")  # between the head of a table and its rows
_QUOTE: Final = ('"', "«", "“")
_PLAIN_TITLE: Final = re.compile(r"(?:LIBRO [A-ZÉÁÍÓÚ]+|Subsección \d{1,2}\.ª.{0,200}|Sección \d{1,2}\.ª.{0,200})")
_PLAIN_ANNEX: Final = re.compile(r"(?:ANEXO|ANEJO)(?: [IVXLC]+(?:\.[IVXLC]+)*| \d{1,2}| [A-Z])?(?: bis| ter)?\.?")
_PLAIN_GROUP: Final = re.compile(r"DISPOSICI[OÓ]N(ES)? (ADICIONAL|TRANSITORIA|DEROGATORIA|FINAL)(?:ES|S)?\.?")
_AMENDING: Final = re.compile(r"<small>.{0,2000}?\b(BOE-A-\d{4}-\d{1,6})")
_REPEALED_NORM: Final = re.compile(r"Norma derogada, con efectos de(?:sde el)? (\d{1,2}) de ([a-z]+) de (\d{4})")


def read_markdown(text: str) -> Norm:
    """Read a norm. Raises UnreadableNormError, which names the line."""
    if len(text) > LARGEST:
        raise UnreadableNormError(f"the text has {len(text)} characters, more than the {LARGEST} of any norm; is it a norm?")
    lines = [_plain(line) for line in text.split("\n")]
    front, end = _front_matter(lines)
    reader = _NormReader(lines[end:])
    reader.read()
    provisions = reader.assembly.provisions()
    if not reader.assembly.begun:
        raise UnreadableNormError(
            f"line {end + 1}: {front['identifier']} holds no article, disposition or annex below its title"
        )
    return Norm(
        id=front["identifier"],
        title=front["title"],
        rank=front.get("rank", ""),
        department=front.get("department", ""),
        territory=territory_of(front.get("source", "")),
        eli=front.get("source", ""),
        url=front.get("url_html_consolidada") or f"https://www.boe.es/buscar/act.php?id={front['identifier']}",
        published=_day(front, "publication_date"),
        updated=_day(front, "last_updated"),
        in_force=None,
        repealed=reader.repealed or (_day(front, "last_updated") if front.get("status") == "repealed" else None),
        provisions=provisions,
    )


def _plain(line: str) -> str:
    return " ".join(line.replace("\ufeff", "").split())


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Give the fields above the text, and how many lines they take."""
    if lines[0] != "---":
        raise UnreadableNormError('line 1: a norm begins with front matter between two lines "---"')
    try:
        end = lines.index("---", 1)
    except ValueError:
        raise UnreadableNormError('line 1: the front matter has no end; close it with a line "---"') from None
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:end], 2):
        match = _FIELD.fullmatch(line)
        if line and match is None:
            raise UnreadableNormError(f'line {number}: front matter has one `name: "value"` a line')
        if match:
            value = match["quoted"] if match["quoted"] is not None else (match["bare"] or "")
            fields[match[1]] = re.sub(r"\\(.)", r"\1", value)
    if missing := [name for name in _NEEDED if not fields.get(name)]:
        raise UnreadableNormError(f"line {end + 1}: the front matter lacks {', '.join(missing)}")
    return fields, end + 1


def _day(front: Mapping[str, str], name: str) -> date | None:
    value = front.get(name, "")
    try:
        return date.fromisoformat(value) if value else None
    except ValueError:
        raise UnreadableNormError(f"the front matter's {name} is no day like 2026-07-31: {value[:40]!r}") from None


class _NormReader:
    """Goes through the lines of one norm."""

    def __init__(self, lines: list[str]) -> None:
        self.assembly = Assembly()
        self.repealed: date | None = None
        self._lines = lines
        headings = [_unquoted(match[2]) for line in lines if (match := _HEADING.fullmatch(line))]
        self._has_articles = any(
            label.key[0] == "a" and label.key[:2] != "an" for text in headings for label in read_label(text)
        )
        self._has_openings = self._has_articles or any(read_standing(text) for text in headings)
        self._noted = ""  # the notes above this line, while nothing else has come between
        self._group: str | None = None  # the kind of disposition that headings like "Primera." belong to

    def read(self) -> None:
        """Read all lines below the title."""
        for place, line in enumerate(self._lines):
            if not line or line.startswith("![") or _RULE.fullmatch(line):
                continue
            if line.startswith(">"):
                self._note(line)
            elif match := _HEADING.fullmatch(line):
                self._heading(match[1], _cleaned(match[2]), place)
            elif not (line.startswith("|") and self._in_repealed_wording()):
                self._paragraph(_cleaned(line))

    def _note(self, line: str) -> None:
        self._noted += line
        if match := _AMENDING.search(line):
            self.assembly.amended(match[1])

    def _in_repealed_wording(self) -> bool:
        """Whether the notes above end within a quotation: what follows without the sign still belongs to it."""
        noted = self._noted
        return bool(noted) and (
            noted.count('"') % 2 == 1 or noted.count("“") > noted.count("”") or noted.count("«") > noted.count("»")
        )

    def _heading(self, level: str, text: str, place: int) -> None:
        if text.startswith(_QUOTE):
            if self._noted:
                self._noted += text  # of a wording that holds no more: its text follows behind the sign
            else:
                self.assembly.add(text)
        elif labels := read_label(text):
            self._open(labels)
        elif standing := read_standing(text) if self._numbers_stand_alone() else None:
            self._open((self._standing(*standing),))
        elif is_structure(text):
            self._title(text)
        elif self.assembly.under_title and self._leads_to_opening(place) and not self.assembly.in_annex:
            self.assembly.enter(text)  # the second line of a title, or a title without a number
        elif level != "#" or self.assembly.begun:
            self._text(text)

    def _title(self, text: str) -> None:
        """Go under a title. An annex has titles of its own, which are its text, or holds a text with articles."""
        if self.assembly.in_annex:
            self.assembly.add(text)
        self._noted = ""
        self.assembly.enter(text)

    def _numbers_stand_alone(self) -> bool:
        return self._group is not None or not self._has_articles

    def _standing(self, number: int, title: str) -> Label:
        if self._group is None:
            return Label(f"ap{number}", f"Apartado {number}", title)
        return Label(disposition_key(self._group, str(number)), f"Disposición {self._group} {number}.ª", title)

    def _leads_to_opening(self, place: int) -> bool:
        following = next((line for line in self._lines[place + 1 :] if line), "")
        match = _HEADING.fullmatch(following)
        return match is not None and (is_structure(match[2]) or bool(read_label(_unquoted(match[2]))))

    def _paragraph(self, text: str) -> None:
        if match := _PLAIN_GROUP.fullmatch(text):
            kind = {"A": "adicional", "T": "transitoria", "D": "derogatoria", "F": "final"}[match[2][0]]
            self._open((Label(disposition_key(kind, "generales" if match[1] else ""), text.capitalize()),))
            self._group = kind
        elif _PLAIN_TITLE.fullmatch(text):
            self._title(text)
        elif _PLAIN_ANNEX.fullmatch(text) or not self._has_openings:
            labels = read_label(text)
            self._open(labels) if labels else self._text(text)
        else:
            self._text(text)

    def _open(self, labels: tuple[Label, ...]) -> None:
        self._noted, self._group = "", self._group if labels[0].key.startswith("d") else None
        self.assembly.open(labels)

    def _text(self, text: str) -> None:
        self._noted = ""
        if match := _REPEALED_NORM.match(text):
            self.repealed = _spelt(match)
        self.assembly.add(text)


def _spelt(match: re.Match[str]) -> date | None:
    try:
        return date(int(match[3]), spanish().lexicon(SPANISH).month(match[2]) or 0, int(match[1]))
    except ValueError:
        return None


_LINK: Final = re.compile(r"\[([^\[\]]{1,500})\]\([^()\s]{1,500}\)")
_TAG: Final = re.compile(r"</?(?:sub|sup|small|br|b|i|u)\b[^<>]{0,50}>")
_STRONG: Final = re.compile(r"\*\*(?=\S)([^*]{1,4000}?)(?<=\S)\*\*")
_EMPHASIS: Final = re.compile(r"\*(?=\S)([^*]{1,4000}?)(?<=\S)\*")
_ESCAPED: Final = re.compile(r"^(\d{1,9})\\([.)])")


def _cleaned(text: str) -> str:
    """Take the marks of Markdown out of a line."""
    for pattern in (_LINK, _STRONG, _EMPHASIS):
        text = pattern.sub(r"\1", text)
    return " ".join(_ESCAPED.sub(r"\1\2", _TAG.sub("", text)).split())


def _unquoted(text: str) -> str:
    return "" if text.startswith(_QUOTE) else _cleaned(text)
