"""Reading a norm from the gazette's consolidated API: what holds today, of all the wordings that it lists oldest first.

`/datosabiertos/api/legislacion-consolidada/id/{id}/metadatos` and `.../texto` give XML in blocks: a block is a provision, a
title or what stands around them, and holds one version for each wording it ever had.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Final
from xml.etree.ElementTree import Element

from clara.adapters.boe.item import read_xml
from clara.editorial.gazette.issues import GazetteFormatError
from clara.knowledge.law.labels import Label, annex_key, article_key, disposition_key, read_label, read_standing
from clara.knowledge.law.norm import Assembly, Norm, Provision, UnreadableNormError, Wording, is_structure, territory_of

# All wordings of the Código Civil, or of the Social Security's law, are some 10 MB.
LARGEST: Final = 64_000_000
_OK: Final = "200"
_NEVER: Final = "99999999"
# Paragraphs of notes and of wordings that hold no more; what the gazette shows behind a bar.
_NOTES: Final = ("nota", "cita")
_KINDS: Final = {"da": "adicional", "dt": "transitoria", "dd": "derogatoria", "df": "final"}
_DAY: Final = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})")
_BLOCK_ID: Final = re.compile(r"(?P<kind>an|a|da|dt|dd|df)(?P<name>[a-z0-9]*)(?:-(?P<again>\d{1,3}))?")


class ConsolidatedLawError(UnreadableNormError):
    """An answer of the gazette's consolidated API cannot be read as a norm. The message says where it differs from one."""


def read_consolidated(metadata_xml: bytes, text_xml: bytes, today: date) -> Norm:
    """Read a norm as it holds on a day. Raises ConsolidatedLawError.

    Of each block the newest version in force is taken; one that begins later ends it (`in_force_to` is the day before). What is
    not in force yet is left out, and what has expired is kept without text.
    """
    metadata = _data(metadata_xml, "metadata", "metadatos")
    reader = _Reader(today)
    for block in _data(text_xml, "text", "texto").iter("bloque"):
        reader.read(block)
    if not reader.assembly.begun:
        raise ConsolidatedLawError("text: no block holds an article, disposition or annex that is in force")
    name = _needed(metadata, "identificador")
    eli = metadata.findtext("url_eli", "").strip()
    return Norm(
        id=name,
        title=_needed(metadata, "titulo").removesuffix("."),
        rank=metadata.findtext("rango", "").strip(),
        department=metadata.findtext("departamento", "").strip(),
        territory=territory_of(eli),
        eli=eli,
        url=metadata.findtext("url_html_consolidada", "").strip() or f"https://www.boe.es/buscar/act.php?id={name}",
        published=_metadata_day(metadata, "fecha_publicacion"),
        updated=reader.newest,
        in_force=_metadata_day(metadata, "fecha_vigencia"),
        repealed=_repealed(metadata),
        provisions=_except_itself(reader.assembly.provisions(), name),
    )


def _data(document: bytes, which: str, wanted: str) -> Element:
    """Give the part of an answer that holds what was asked for."""
    try:
        root = read_xml(document, which, LARGEST)
    except GazetteFormatError as error:
        raise ConsolidatedLawError(str(error)) from error
    code = root.findtext("status/code", "").strip()
    found = root.find(f"data/{wanted}")
    if code != _OK or found is None:
        said = root.findtext("status/text") or root.findtext(".//error/descripcion") or root.tag
        raise ConsolidatedLawError(f"{which}: no response/data/{wanted} in the answer; it says {code} {said.strip()[:200]!r}")
    return found


def _needed(metadata: Element, name: str) -> str:
    value = metadata.findtext(name, "").strip()
    if not value:
        raise ConsolidatedLawError(f"metadata: {name} is missing or empty")
    return value


def _metadata_day(metadata: Element, name: str) -> date | None:
    return _day(metadata.findtext(name), f"metadata: {name}")


def _repealed(metadata: Element) -> date | None:
    if metadata.findtext("estatus_derogacion") == "S":
        return _metadata_day(metadata, "fecha_derogacion") or _metadata_day(metadata, "fecha_vigencia")
    return _metadata_day(metadata, "fecha_anulacion") if metadata.findtext("estatus_anulacion") == "S" else None


def _day(value: str | None, place: str) -> date | None:
    value = (value or "").strip()[:8]
    if value in {"", _NEVER}:
        return None
    match = _DAY.fullmatch(value)
    year, month, day = match.groups() if match else (0, 0, 0)
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        raise ConsolidatedLawError(f"{place} is no day like 20260731: {value!r}") from None


def _except_itself(provisions: tuple[Provision, ...], norm: str) -> tuple[Provision, ...]:
    """Say of first wordings that nobody amended them."""
    return tuple(replace(one, amended_by=None) if one.amended_by == norm else one for one in provisions)


class _Reader:
    """Goes through the blocks of one norm."""

    def __init__(self, today: date) -> None:
        self.assembly = Assembly()
        self.newest: date | None = None
        self._today = today

    def read(self, block: Element) -> None:
        """Read one block, if it is in force."""
        place = f"text: block {block.get('id') or block.get('titulo') or '?'}"
        versions = [(_start(version, place), version) for version in block.findall("version")]
        begun = [(start, number) for number, (start, _) in enumerate(versions) if start <= self._today]
        if not begun:
            return
        start, number = max(begun)
        expires = _day(block.get("fecha_caducidad"), f"{place}: fecha_caducidad")
        ended = expires is not None and start < expires <= self._today
        later = [after for after, _ in versions if self._today < after < date.max]
        end = min([*later, *([expires] if expires and expires > start else [])], default=None)
        version = versions[number][1]
        wording = Wording(start, end - timedelta(days=1) if end else None, version.get("id_norma"))
        self.newest = max(self.newest or start, start)
        self._place(block, [] if ended else list(_paragraphs(version)), wording)

    def _place(self, block: Element, paragraphs: list[tuple[str, str]], wording: Wording) -> None:
        """Put a block where it belongs: a provision, a title, the preamble; signatures and notes belong nowhere."""
        kind, name = block.get("tipo", ""), _clean(block.get("titulo", ""))
        heading = next((text for style, text in paragraphs if style.startswith(("articulo", "anexo"))), "")
        labels = _labels(block, heading, name) if kind in {"precepto", "encabezado"} else ()
        if labels:
            self.assembly.open(labels, wording)
            self._add(text for style, text in paragraphs if text != heading or not style.startswith(("articulo", "anexo")))
        elif kind == "encabezado":
            for title in _titles(paragraphs) or [name]:
                if is_structure(title) or self.assembly.under_title:
                    self.assembly.enter(title)
        elif kind == "preambulo" and not self.assembly.begun:
            self._add(text for _, text in paragraphs)

    def _add(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.assembly.add(text)


def _labels(block: Element, heading: str, name: str) -> tuple[Label, ...]:
    labels = read_label(heading) or read_label(name) or _by_id(block.get("id", ""), name)
    if labels or block.get("tipo") != "precepto":
        return labels
    return _alone(heading or name) or _strange(block, heading or name)


def _strange(block: Element, name: str) -> tuple[Label, ...]:
    """Keep a provision that is none of the usual kinds ("Regla 3", "Base primera") under the block's own id."""
    key = "".join(re.findall(r"[a-z0-9-]+", block.get("id", "").lower()))
    if not key:
        raise ConsolidatedLawError(
            f"text: a block of the type precepto has neither a title that can be read nor an id ({name!r})"
        )
    return (Label(key, name or key),)


def _start(version: Element, place: str) -> date:
    """Give the day from which a wording holds; where that is open, one that never comes."""
    if version.get("fecha_vigencia") == _NEVER:
        return date.max
    start = _day(version.get("fecha_vigencia"), f"{place}: fecha_vigencia")
    start = start or _day(version.get("fecha_publicacion"), f"{place}: fecha_publicacion")
    if start is None:
        raise ConsolidatedLawError(f"{place}: a version has neither fecha_vigencia nor fecha_publicacion")
    return start


def _by_id(name: str, title: str) -> tuple[Label, ...]:
    """Read a block's id where its title says nothing: a194, a31bis, au, da90, dasegunda, dt3, an2, anii."""
    match = _BLOCK_ID.fullmatch(name.lower())
    if match is None or is_structure(title):
        return ()
    kind, rest = match["kind"], match["name"]
    if kind == "a":
        key = "aunico" if rest == "u" else article_key(rest) if rest[:1].isdigit() else None
    elif kind == "an":
        key = annex_key(rest or match["again"]) if re.fullmatch(r"\d{0,3}|[ivxlc]+", rest) else None
    else:
        key = disposition_key(_KINDS[kind], rest or match["again"] or "")
    return (Label(key, title or name),) if key else ()


def _alone(text: str) -> tuple[Label, ...]:
    """Read a provision that is only numbered: "Primero.", "2. Datos de inscripción"."""
    standing = read_standing(text)
    return (Label(f"ap{standing[0]}", f"Apartado {standing[0]}", standing[1]),) if standing else ()


def _paragraphs(version: Element) -> Iterator[tuple[str, str]]:
    """Give the class and the text of everything that holds: notes and quoted former wordings are left out."""
    for child in version:
        style = (child.get("class") or "").strip()
        if child.tag == "table":
            yield from (("table", row) for row in _rows(child))
        elif child.tag in {"ol", "ul"}:
            yield from (("list", text) for item in child.iter("li") if (text := _text(item)))
        elif child.tag in {"p", "pre"} and not style.startswith(_NOTES) and (text := _text(child)):
            yield style, text


def _rows(table: Element) -> Iterator[str]:
    for row in table.iter("tr"):
        cells = [_text(cell) for cell in row if cell.tag in {"td", "th"}]
        if any(cells):
            yield f"| {' | '.join(cells)} |"


def _titles(paragraphs: list[tuple[str, str]]) -> list[str]:
    """Join the number of a title and its words, which come as two paragraphs."""
    titles: list[str] = []
    for style, text in paragraphs:
        if style.endswith("_tit") and titles:
            titles[-1] = f"{titles[-1]}. {text}"
        else:
            titles.append(text)
    return titles


def _text(element: Element) -> str:
    return _clean("".join(element.itertext()))


def _clean(text: str) -> str:
    return " ".join(text.split())
