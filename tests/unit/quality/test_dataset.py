"""Tests of reading the questions of an evaluation, and of naming what is wrong with them."""

import json
from pathlib import Path

import pytest
from evaluation_builders import KNOWN, MISSING, SCHEMA, entry_of, faults_of, negative_of, write

from clara.data_files import DataError
from clara.quality.dataset import Question, read_questions


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the questions are."""
    return tmp_path / "queries.jsonl"


def test_read(file: Path) -> None:
    """Each line is a question; blank lines do not count, and what may be left out is empty."""
    write(file, entry_of(), "", "  \r", negative_of())
    first, second = read_questions(file, SCHEMA, KNOWN)
    assert first == Question(
        id="q1",
        query="¿cuánto tarda el NIE?",
        language="es",
        documents=frozenset({"nie"}),
        section="plazos",
        accepted_sections=frozenset({"cuantias", "plazos"}),
        facts=frozenset({"nie-plazos-01"}),
        territory="ES-MD",
        category="plazos",
        difficulty="easy",
        split="dev",
        accepted=frozenset({"tie"}),
    )
    assert first.in_scope
    assert (second.documents, second.accepted_sections, second.in_scope) == (frozenset(), frozenset(), False)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        pytest.param("id", "Q 1", '"Q 1" does not match', id="id-with-blank"),
        pytest.param("id", 7, '7 is not of type "string"', id="id-number"),
        pytest.param("query", "x", '"x" is shorter than 2 characters (As a person would send it', id="query-short"),
        pytest.param("query", "x" * 1601, "(As a person would send it", id="query-long"),
        pytest.param("query", None, 'null is not of type "string"', id="query-null"),
        pytest.param("language", "de", '"de" is none of es, en', id="language"),
        pytest.param("expected_procedures", "nie", '"nie" is not of type "array"', id="procedures-text"),
        pytest.param("expected_procedures", ["nie", "nie"], "non-unique elements", id="procedures-twice"),
        pytest.param("expected_procedures", ["a", "b", "c", "d"], "more than 3 items", id="procedures-four"),
        pytest.param("expected_section", 1, '1 is not of types "null", "string"', id="section"),
        pytest.param("accepted_procedures", None, 'null is not of type "array"', id="accepted-procedures"),
        pytest.param("accepted_sections", None, 'null is not of type "array"', id="accepted-sections"),
        pytest.param("expected_facts", "f", '"f" is not of type "array"', id="facts"),
        pytest.param("territory", 28, '28 is not of types "null", "string"', id="territory"),
        pytest.param("category", "plazo", '"plazo" is none of', id="category"),
        pytest.param("difficulty", "", '"" is none of easy, medium, hard', id="difficulty"),
        pytest.param("split", "train", '"train" is none of dev, test', id="split"),
    ],
)
def test_malformed_field(file: Path, field: str, value: object, said: str) -> None:
    """A field of the wrong form is named with its line and what it must be."""
    write(file, negative_of(), entry_of(**{field: value}))
    (fault,) = faults_of(file)
    assert fault.startswith(f"queries.jsonl: line 2: $.{field}: ")
    assert said in fault


@pytest.mark.parametrize("field", [name for name in entry_of() if not name.startswith("accepted_")])
def test_field_left_out(file: Path, field: str) -> None:
    """Every field but the accepted sections must be there."""
    write(file, negative_of(), entry_of(**{field: MISSING}))
    assert faults_of(file) == [f'queries.jsonl: line 2: $: "{field}" is a required property; add it']


def test_unknown_field(file: Path) -> None:
    """A field that means nothing is a mistake, not a remark."""
    write(file, entry_of(acepted_sections=[]))
    (fault,) = faults_of(file)
    assert fault.startswith("queries.jsonl: line 1: $: ")
    assert "'acepted_sections' was unexpected" in fault
    assert fault.endswith("; remove or rename the field")


@pytest.mark.parametrize("line", ["5", "null", '"q1"', "[]"])
def test_line_that_is_no_object(file: Path, line: str) -> None:
    """A line that holds another value than an object is named."""
    write(file, entry_of(), line)
    (fault,) = faults_of(file)
    assert fault.startswith("queries.jsonl: line 2: $: ")
    assert 'is not of type "object"' in fault


@pytest.mark.parametrize(
    ("line", "said"),
    [
        pytest.param("hola", "Expecting value", id="text"),
        pytest.param('{"id": "q2", ', "Expecting property name", id="cut-short"),
        pytest.param(json.dumps(entry_of()) * 2, "Extra data", id="two-on-a-line"),
        pytest.param("[" * 100_000, "recursion", id="too-deep"),
        pytest.param("1" * 5_000, "digits", id="endless-number"),
        pytest.param(json.dumps(entry_of(id="q2", query="NIE \ud83d")), "surrogates", id="half-a-character"),
    ],
)
def test_not_json(file: Path, line: str, said: str) -> None:
    """A line that is not JSON is named with its number and the cause."""
    write(file, entry_of(), line)
    (fault,) = faults_of(file)
    assert fault.startswith("queries.jsonl: line 2: not usable JSON (")
    assert said in fault
    assert fault.endswith("); mend it there")


@pytest.mark.parametrize(
    ("changes", "place", "remedy"),
    [
        pytest.param(
            {"expected_procedures": ["nie", "nei"], "category": "multi_tramite"},
            "expected_procedures",
            "there is no procedure 'nei'; correct it",
            id="procedure",
        ),
        pytest.param(
            {"expected_section": "requisitos"},
            "expected_section",
            "'requisitos' is no section of ['nie']; correct it",
            id="section-of-another-procedure",
        ),
        pytest.param(
            {"accepted_procedures": ["tie", "nies"]},
            "accepted_procedures",
            "there is no procedure 'nies'; correct it",
            id="unknown-accepted-procedure",
        ),
        pytest.param(
            {"accepted_sections": ["plazos", "plaza"]},
            "accepted_sections",
            "'plaza' is no section of ['nie']; correct it",
            id="accepted-section",
        ),
        pytest.param(
            {"expected_facts": ["nie-plazos-03"]},
            "expected_facts",
            "there is no fact 'nie-plazos-03'; correct the id or remove it",
            id="fact",
        ),
        pytest.param(
            {"territory": "ES-XX"},
            "territory",
            "unknown territory 'ES-XX'; use a code of places.json",
            id="territory",
        ),
        pytest.param(
            {"category": "negative"},
            "category",
            "is 'negative' exactly when no procedure is expected; correct one of the two",
            id="negative-with-a-procedure",
        ),
    ],
)
def test_dangling(file: Path, changes: dict[str, object], place: str, remedy: str) -> None:
    """What refers to nothing, or contradicts itself, is named with its line, field and remedy."""
    write(file, negative_of(), entry_of(**changes))
    assert faults_of(file) == [f"queries.jsonl: line 2: $.{place}: {remedy}"]


def test_no_procedure_and_not_negative(file: Path) -> None:
    """A question that expects nothing must be called negative."""
    write(file, negative_of(category="plazos"))
    remedy = "is 'negative' exactly when no procedure is expected; correct one of the two"
    assert faults_of(file) == [f"queries.jsonl: line 1: $.category: {remedy}"]


def test_sections_of_several_procedures(file: Path) -> None:
    """A question about two procedures may expect sections of either."""
    changes = {"expected_procedures": ["nie", "tie"], "expected_section": "requisitos", "category": "multi_tramite"}
    write(file, entry_of(**changes))
    (question,) = read_questions(file, SCHEMA, KNOWN)
    assert question.documents == {"nie", "tie"}


@pytest.mark.parametrize("field", ["id", "query"])
def test_repeated(file: Path, field: str) -> None:
    """An id or a text that was there before is named each time, with the line of the first."""
    entries = [entry_of(id=f"q{number}", query=f"¿{number}?") for number in range(1, 5)]
    for place in (1, 3):
        entries[place][field] = entries[0][field]
    write(file, *entries)
    remedy = "the same as on line 1; each question needs its own"
    assert faults_of(file) == [f"queries.jsonl: line {line}: $.{field}: {remedy}" for line in (2, 4)]


def test_all_faults_at_once(file: Path) -> None:
    """Every fault of every line is named by one reading."""
    write(
        file,
        "hola",
        entry_of(language="de", difficulty="x"),
        entry_of(territory="ES-XX", expected_facts=["a", "b"]),
        entry_of(query="¿otra?"),
    )
    places = [tuple(fault.split(": ")[1:3]) for fault in faults_of(file)]
    assert sorted(places) == [
        ("line 1", "not usable JSON (Expecting value"),
        ("line 2", "$.difficulty"),
        ("line 2", "$.language"),
        ("line 3", "$.expected_facts"),
        ("line 3", "$.expected_facts"),
        ("line 3", "$.territory"),
        ("line 4", "$.id"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "No such file", id="missing"),
        pytest.param(b'{"id": "\xe9"}', "utf-8", id="not-utf-8"),
    ],
)
def test_unreadable(file: Path, content: bytes | None, said: str) -> None:
    """A file that cannot be read is named with the cause and the remedy."""
    if content is not None:
        file.write_bytes(content)
    (fault,) = faults_of(file)
    assert fault.startswith("queries.jsonl: file: cannot be read (")
    assert said in fault
    assert fault.endswith("; restore it from the repository")


def test_folder_for_a_file(tmp_path: Path) -> None:
    """A folder is no file of questions."""
    (fault,) = faults_of(tmp_path)
    assert fault.startswith(f"{tmp_path.name}: file: cannot be read (")


@pytest.mark.parametrize("content", ["", "\n  \n"], ids=["empty", "blank-lines"])
def test_no_question(file: Path, content: str) -> None:
    """A file without questions is a fault: an evaluation of nothing would pass."""
    file.write_text(content, "utf-8")
    assert faults_of(file) == ["queries.jsonl: file: holds no question; restore it from the repository"]


def test_schema_is_missing(file: Path, tmp_path: Path) -> None:
    """Without the schema nothing is read, and the schema is named."""
    write(file, entry_of())
    with pytest.raises(DataError, match=r"query\.schema\.json: file: "):
        read_questions(file, tmp_path / "query.schema.json", KNOWN)
