"""Tests of reading data sets of the bench, whatever format they come in, and of what makes them unusable."""

import json
from pathlib import Path
from typing import Any

import pytest

from clara_lab.bench.dataset import (
    LABEL,
    BenchDataError,
    BenchDocument,
    BenchQuestion,
    DataFault,
    DataRow,
    Judgement,
    Provenance,
    assemble,
    digest_of,
)
from clara_lab.bench.formats import read_hotpotqa, read_rows, recognise

DOCUMENTS = [
    BenchDocument("d1", "Lima", "Fog.\u2028Sea."),
    BenchDocument("d2", "Cusco", "Stones."),
    BenchDocument("d3", "", ""),
]
ASKED = [
    BenchQuestion("q1", "Where is fog?", "Lima", "", "bridge", "hard", frozenset({"d1"})),
    BenchQuestion("q2", "Are both cities?", "Yes", "", "comparison", "easy", frozenset({"d1", "d2"})),
]


def lines(file: Path, rows: list[Any]) -> None:
    file.write_text("\n\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")


def json_lines(folder: Path) -> Path:
    lines(folder / "corpus.jsonl", [{"id": row.id, "title": row.title, "text": row.text} for row in DOCUMENTS])
    asked = [
        {"id": row.id, "question": row.text, "answer": row.answer, "type": row.question_type, "level": row.level,
         "gold": sorted(row.gold), "split": "open"}
        for row in ASKED
    ]  # fmt: skip
    lines(folder / "queries.dev.jsonl", [*asked, {"id": "q3", "question": "Kept?", "gold": ["d1"], "split": "train"}])
    return folder


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir()
    lines(folder / "corpus.jsonl", [{"_id": row.id, "title": row.title, "text": row.text} for row in DOCUMENTS])
    about = [{"_id": row.id, "text": row.text, "metadata": {"answer": row.answer}} for row in ASKED]
    lines(folder / "queries.jsonl", [*about, {"_id": "q3", "text": "Of another split?"}])
    judged = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\nq2\td2\t1\n"
    (folder / "qrels" / "test.tsv").write_text(judged)
    return folder


def test_json_lines(tmp_path: Path) -> None:
    """Documents and the questions of one split are read; yes and no become labels; texts stay whole."""
    data = assemble("cities", read_rows(json_lines(tmp_path), {"split": "open"}))
    assert list(data.documents) == DOCUMENTS
    assert [(question.id, question.answer_type, question.gold) for question in data.questions] == [
        ("q1", "", frozenset({"d1"})), ("q2", LABEL, frozenset({"d1", "d2"})),
    ]  # fmt: skip
    assert (data.questions[0].question_type, data.questions[0].level) == ("bridge", "hard")
    assert data.origin == {
        "format": "jsonl", "where_split": "open", "questions_without_answer": 0, "questions_without_gold": 0,
        "documents_without_text": 1,
    }  # fmt: skip
    assert not data.relative_only


def test_beir(tmp_path: Path) -> None:
    """Questions of other splits are left out, a relevance of 0 is no gold, an answer in the metadata is kept."""
    data = assemble("cities", read_rows(beir(tmp_path)))
    assert [(question.id, question.answer, sorted(question.gold)) for question in data.questions] == [
        ("q1", "Lima", ["d1"]), ("q2", "Yes", ["d1", "d2"]),
    ]  # fmt: skip


@pytest.mark.parametrize("exported", [False, True], ids=["its own JSON", "columns"])
def test_hotpotqa(tmp_path: Path, exported: bool) -> None:
    """Documents are told apart by title; the corpus is marked as one that only compares."""
    facts: Any = [["Lima city", 0], ["Cusco", 1]]
    context: Any = [["Lima city", ["Fog.", " Sea."]], ["Cusco", ["Stones."]], ["Puno", ["Lake."]]]
    if exported:
        facts = {"title": ["Lima city", "Cusco"], "sent_id": [0, 1]}
        context = {"title": [title for title, _ in context], "sentences": [sentences for _, sentences in context]}
    name = "id" if exported else "_id"
    entry = {name: "q1", "question": "Both?", "answer": "no", "type": "comparison", "level": "hard"}
    entries = [
        {**entry, "supporting_facts": facts, "context": context},
        {**entry, name: "q2", "supporting_facts": facts, "context": context},
    ]
    file = tmp_path / "hotpot.json"
    file.write_text(json.dumps(entries))
    data = assemble("hotpotqa", read_rows(file))
    assert [(document.id, document.text) for document in data.documents] == [
        ("Lima_city", "Fog. Sea."), ("Cusco", "Stones."), ("Puno", "Lake."),
    ]  # fmt: skip
    assert data.questions[1].gold == {"Lima_city", "Cusco"}
    assert (data.questions[0].level, data.questions[0].answer_type, data.relative_only) == ("hard", LABEL, True)


BROKEN: list[tuple[list[DataRow], list[str]]] = [
    ([], ["no documents: in all of it", "no questions: in all of it"]),
    ([*DOCUMENTS, *ASKED, DOCUMENTS[0], ASKED[1]], ["document ids given twice: d1;", "question ids given twice: q2;"]),
    ([*DOCUMENTS, *ASKED, Judgement("q1", "gone"), Judgement("q9", "d1")],
     ["absent documents: gone (of question q1);", "absent questions: q9;"]),
    ([*DOCUMENTS, *ASKED, BenchQuestion("q3", " "), BenchQuestion("", "Who?")],
     ["questions without text: q3;", "a question without an id: the 4th;"]),
    ([*DOCUMENTS, *ASKED, *(Judgement("q1", f"g{number}") for number in range(9))], ["g4 (of question q1) and 4 more;"]),
    ([*DOCUMENTS, *ASKED, DataFault("a:1", "bad", "mend"), DataFault("a:2", "bad", "mend")], ["- bad: a:1, a:2; mend"]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "told"), BROKEN)
def test_every_fault_is_told_at_once(rows: list[DataRow], told: list[str]) -> None:
    """Each kind of fault is a line with its places and its remedy."""
    with pytest.raises(BenchDataError) as refused:
        assemble("cities", rows)
    for part in told:
        assert part in str(refused.value)


def test_bad_lines_are_told_with_their_places(tmp_path: Path) -> None:
    """What is no JSON, no object, or lacks a field is named; so are bad judgements and files that are not there."""
    folder = beir(tmp_path)
    lines(folder / "corpus.jsonl", ["{", "[]", {"_id": "d1"}, {"_id": 7, "text": "x"}])
    (folder / "queries.jsonl").unlink()
    (folder / "qrels" / "test.tsv").write_text("q1\td1\n")
    with pytest.raises(BenchDataError) as refused:
        assemble("cities", read_rows(folder))
    for part in (
        "corpus.jsonl:3 (not an object)",
        "no field 'text'",
        "'_id' must be text",
        "test.tsv:1",
        "queries.jsonl (FileNotFound",
    ):
        assert part in str(refused.value)


def test_files_of_no_format_are_refused(tmp_path: Path) -> None:
    """A folder without data, two files of questions, and a JSON file of something else are told as such."""
    with pytest.raises(BenchDataError, match="no data set is here"):
        recognise(tmp_path)
    json_lines(tmp_path)
    lines(tmp_path / "queries.test.jsonl", [])
    with pytest.raises(BenchDataError, match=r"found are: queries\.dev\.jsonl, queries\.test\.jsonl"):
        read_rows(tmp_path)
    for content, told in (("{}", "a list of questions is needed"), ("[", "is the file whole")):
        file = tmp_path / "hotpot.json"
        file.write_text(content)
        with pytest.raises(BenchDataError, match=told):
            list(read_hotpotqa(file))
    file.write_text('[{"_id": "q1"}, 3]')
    with pytest.raises(BenchDataError, match=r"hotpot.json, entry 1 \(no field 'supporting_facts'\), hotpot.json, entry 2"):
        assemble("hotpotqa", read_hotpotqa(file))


def test_the_digest_is_of_the_contents_and_not_of_their_order() -> None:
    """Another order gives the same digest; another text, answer or gold another one."""
    whole = digest_of(DOCUMENTS, ASKED)
    assert digest_of(DOCUMENTS[::-1], ASKED[::-1]) == whole
    assert digest_of(DOCUMENTS, ASKED[:1]) != whole
    assert digest_of([BenchDocument("d1", "Lima", "Fog"), *DOCUMENTS[1:]], ASKED) != whole


def test_provenance_is_kept() -> None:
    """What several sources say of themselves is joined, and once relative is always relative."""
    rows: list[DataRow] = [Provenance({"a": 1}, relative_only=True), Provenance({"b": "x"}), *DOCUMENTS, *ASKED]
    data = assemble("cities", rows)
    assert (data.origin["a"], data.origin["b"], data.relative_only) == (1, "x", True)
