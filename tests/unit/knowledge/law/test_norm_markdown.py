"""Reading norms from Markdown: which provisions there are, under which key, and that nothing repealed is left in their text."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.knowledge.law.law_samples import DATA, FRONT, sample, written

from clara.knowledge.law.labels import ordinal, read_label
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import UnreadableNormError, norm_as_json, norm_from_json

SHORT = 20  # characters: "(Derogado)" and the like stand anywhere
SAMPLES = sorted((DATA / "legislation").glob("*.md"))


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("Artículo 21. Plazos.", ["a21"]),
        ("Art. 5", ["a5"]),
        ("Artículo 108 quáter. Personal.", ["a108quater"]),
        ("Artículo 1.976.", ["a1976"]),
        ("Artículo único. Aprobación.", ["aunico"]),
        ("Artículo primero. Modificación.", ["a1"]),
        ("Arts. 127 a 130", ["a127", "a128", "a129", "a130"]),
        ("Artículo 307. (Sin contenido)", ["a307"]),
        ("Disposición adicional nonagésima. Ayudas.", ["da90"]),
        ("Disposición adicional centésima vigésima quinta.", ["da125"]),
        ("Disposición Transitoria Primera. Régimen.", ["dt1"]),
        ("Disposición final quinta bis.Código Comunitario.", ["df5bis"]),
        ("Disposición adicional vigesimosegunda. X.", ["da22"]),
        ("Disposición derogatoria.", ["dd1"]),
        ("Disposición transitoria trigésima quinta [sic]. X", ["dt35"]),
        ("ANEXO", ["anexo"]),
        ("ANEXO II. Tabla", ["anexo-ii"]),
        ("ANEXO I.II", ["anexo-i-ii"]),
        ("Artículo 22 del Código Civil", []),
        ("Disposiciones generales", []),
        ("Anexos de todo tipo", []),
    ],
)
def test_a_heading_says_which_provision_it_opens(heading: str, keys: list[str]) -> None:
    """Articles, dispositions and annexes get one key each, however they are written; other headings get none."""
    assert [label.key for label in read_label(heading)] == keys


@pytest.mark.parametrize(
    ("words", "number"),
    [("única", 1), ("décima primera", 11), ("decimoctava", 18), ("décimo octava", 18), ("vigésimo quinto", 25),
     ("nonagésima", 90),
     ("centésima décima novena", 119), ("nueva", None), ("", None), ("primera primera", None), ("décimotercera", 13)],
)  # fmt: skip
def test_ordinal_words_are_numbers(words: str, number: int | None) -> None:
    """Ordinals are read in one word or several, of either gender; other words are none."""
    assert ordinal(words) == number


def test_the_front_matter_says_what_the_norm_is() -> None:
    """Title, version, source and place are read; a norm of Catalonia holds there, and one that was repealed has its day."""
    norm = sample("BOE-A-2010-12710")
    assert (norm.id, norm.territory, norm.updated, norm.repealed) == (
        "BOE-A-2010-12710", "ES-CT", date(2017, 6, 29), date(2017, 6, 29),
    )  # fmt: skip
    assert sample("BOE-A-2015-11724").updated == date(2026, 7, 31)
    assert sample("BOE-A-2015-11724").url == "https://www.boe.es/buscar/act.php?id=BOE-A-2015-11724"


def test_a_norm_without_headings_is_read_by_its_lines() -> None:
    """Where articles are plain lines, they are found all the same; the preamble stays apart."""
    norm = sample("BOE-A-2010-12710")
    assert [one.key for one in norm.provisions] == [
        "preambulo", "a1", "a2", "a3", "a4", "a5", "da1", "da2", "da3", "dd1", "df1", "df2", "df3",
    ]  # fmt: skip
    assert "Palacio de la Generalidad" not in norm.by_key["df3"].text


def test_an_annexed_text_owns_the_plain_keys() -> None:
    """Article 127 of the decree is the regulation's; what else the decree has under such a key begins with rd-."""
    norm = sample("BOE-A-2024-24099")
    assert norm.by_key["a127"].title == "Requisitos específicos"
    assert norm.by_key["aunico"].title == "Aprobación y ámbito de aplicación del reglamento"
    assert norm.by_key["dt1"].title == "Registro de Instituciones y Centros de Enseñanza Superior"
    assert norm.by_key["rd-dt1"].title == "Validez de las autorizaciones o tarjetas en vigor"
    assert norm.by_key["dt5"].repealed
    assert sample("BOE-A-2015-11724").by_key["rd-da1"].title == "Remisiones normativas"


def test_the_path_of_titles_leads_to_a_provision() -> None:
    """Title, chapter and section stand above an article, whatever the level of their headings; nothing above a disposition."""
    norm = sample("BOE-A-2024-24099")
    assert norm.by_key["a126"].heading[0] == "TÍTULO VII. Residencia temporal por circunstancias excepcionales"
    assert [part.split()[0] for part in norm.by_key["a126"].heading] == ["TÍTULO", "CAPÍTULO", "Sección"]
    assert norm.by_key["da7"].heading == ()
    plain = written("## TÍTULO I. Uno", "#### Sección 1.ª Dos", "Subsección 2.ª Tres", "##### Artículo 1.", "Texto.")
    assert plain.by_key["a1"].heading == ("TÍTULO I. Uno", "Sección 1.ª Dos", "Subsección 2.ª Tres")


def test_repealed_wordings_are_dropped_with_what_belongs_to_them() -> None:
    """Quoted headings and tables of a former wording go with it; a table that follows a finished quotation is in force."""
    norm = sample("BOE-A-2015-11724").by_key
    assert norm["a307"].title == "Afiliación, altas, bajas y variaciones de datos"
    assert '"Artículo 307' not in norm["a307"].text
    assert "| Desde 360 hasta 539 | 120 |" not in norm["a287"].text
    assert "| De doce a diecisiete. | 4 |" in norm["a338"].text
    assert norm["dt10"].repealed
    assert norm["a30"].amended_by == "BOE-A-2017-12207"


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_no_note_is_in_any_provision(path: Path) -> None:
    """No line behind `>` is text of a provision, unless it also stands outside, in force."""
    text = path.read_text("utf-8")
    lines = [" ".join(line.split()) for line in text.split("\n")]
    outside = "\n".join(line for line in lines if not line.startswith(">"))
    held = "\n".join(one.text for one in read_markdown(text).provisions)
    notes = [line.lstrip("> ").strip('"') for line in lines if line.startswith(">")]
    assert [note for note in notes if len(note) > SHORT and note not in outside and note in held] == []


def test_sections_of_a_resolution_are_provisions() -> None:
    """A norm without articles is cut by its numbered sections."""
    norm = sample("BOE-A-2020-4784").by_key
    assert norm["ap2"].title == "Datos de inscripción en el padrón municipal y documentación acreditativa"
    assert {"ap1", "ap3", "ap15", "anexo", "anexo-v"} <= norm.keys()


def test_what_is_quoted_belongs_to_the_provision_that_quotes_it() -> None:
    """A quoted heading opens nothing: it is what the amending disposition says."""
    norm = written(
        "##### Artículo 1. Uno.",
        "Texto.",
        "##### Disposición final primera.",
        "Queda así:",
        "###### «Artículo 24. Cuantía.",
        "Mil.»",
    )
    assert [one.key for one in norm.provisions] == ["a1", "df1"]
    assert norm.by_key["df1"].text == "Queda así:\n«Artículo 24. Cuantía.\nMil.»"


def test_the_signature_ends_the_last_article() -> None:
    """Place, day and names under a norm are no text of its last provision; an annex below them is."""
    norm = written(
        "##### Artículo 1.",
        "Entra en vigor mañana.",
        "Dado en Madrid, el 1 de enero de 2000.",
        "**JUAN CARLOS R.**",
        "ANEXO",
        "Tasa: 10 €.",
    )
    assert norm.by_key["a1"].text == "Entra en vigor mañana."
    assert norm.by_key["anexo"].text == "Tasa: 10 €."


def test_doubled_numbers_keep_keys_of_their_own() -> None:
    """Two provisions of one number are both kept; a heading for several articles yields to their own."""
    norm = written(
        "##### Artículo 3 a 4.", "**(Derogados)**", "##### Artículo 4.", "Sigue.", "##### Artículo 4. Otra vez.", "También."
    )
    assert [(one.key, one.text) for one in norm.provisions] == [("a3", ""), ("a4", "Sigue."), ("a4-2", "También.")]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_norm_survives_being_written(path: Path) -> None:
    """Writing a norm as JSON and reading it gives the same norm."""
    norm = read_markdown(path.read_text("utf-8"))
    assert norm_from_json(norm_as_json(norm)) == norm


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1"),
        ("# Ley", "line 1"),
        ("---\ntitle: x", "no end"),
        ('---\ntitle: "x"\n---\n', "identifier"),
        ('---\ntitle "x"\n---\n', "line 2"),
        (FRONT, "holds no article"),
        (FRONT.replace('---\ntitle', '---\nlast_updated: "ayer"\ntitle') + "##### Artículo 1.\nx", "last_updated"),
    ],
    ids=["empty", "no front matter", "open", "no id", "no field", "no article", "no day"],
)  # fmt: skip
def test_what_is_no_norm_is_refused_with_the_place(text: str, place: str) -> None:
    """The error says where the text stops being a norm."""
    with pytest.raises(UnreadableNormError, match=place):
        read_markdown(text)


LINES = st.sampled_from(
    [
        *("# Ley", "## TÍTULO I. Uno", "##### Artículo 1.", "##### Artículo\u00a01. Uno.", "Artículo 2 a 99999.", "> nota"),
        *(
            '###### "Artículo 3.',
            '> "Redacción anterior',
            "ANEXO",
            "ANEXO IX",
            "| a | b |",
            "| --- |",
            "**(Derogado)**",
            "![](x)",
        ),
        *("##### Primera.", "DISPOSICIONES TRANSITORIAS", "Dado en Madrid, el 1", 'title: "x"', "#", "*" * 50, "«" * 9),
        *("Disposición final", "---", "1. Uno", "LIBRO PRIMERO", "\u2028"),
    ]
)
TEXTS = st.lists(st.one_of(LINES, st.text(max_size=40)), max_size=25).map("\n".join)


@settings(max_examples=300)
@given(TEXTS, st.booleans())
def test_any_text_is_a_norm_or_refused(text: str, begun: bool) -> None:
    """Whatever comes, reading gives a norm with unique keys, or the one named error."""
    try:
        norm = read_markdown((FRONT if begun else "") + text)
    except UnreadableNormError:
        return
    keys = [one.key for one in norm.provisions]
    assert len(keys) == len(set(keys))
    assert norm_from_json(norm_as_json(norm)) == norm
