"""Readers of the formats that data sets come in. All give the same stream of rows; what is wrong with one is a row, too."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from clara_lab.bench.dataset import BenchDataError, BenchDocument, BenchQuestion, DataFault, DataRow, Judgement, Provenance

PARQUET, BEIR, JSON_LINES, HOTPOTQA = "parquet", "beir", "jsonl", "hotpotqa"

_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
# A bad line does not tell which others are bad: so they are skipped and counted, and all are told together.
BAD_LINE: Final = "lines that cannot be used"


def recognise(source: Path) -> str:
    """Say which format a folder or file is in. Raises BenchDataError when it is none of them."""
    if source.is_file() and source.suffix == ".json":
        return HOTPOTQA
    if (source / "queries.parquet").is_file():
        return PARQUET
    if (source / "corpus.jsonl").is_file():
        return BEIR if (source / "qrels").is_dir() else JSON_LINES
    raise BenchDataError(
        f"{source}: no data set is here; expected queries.parquet with corpus.parquet and qrels.parquet, corpus.jsonl with "
        "queries.jsonl (and for BEIR qrels/test.tsv), or a HotpotQA file ending in .json"
    )


def read_rows(source: Path, where: Mapping[str, str] | None = None, split: str = "test") -> Iterator[DataRow]:
    """Give the rows of a source that needs nothing but JSON and CSV: BEIR (its `split`), JSON Lines (`where`), HotpotQA."""
    format_ = recognise(source)
    if format_ == BEIR:
        return read_beir(source, split)
    if format_ == JSON_LINES:
        return read_json_lines(source / "corpus.jsonl", _questions_file(source), where)
    if format_ == HOTPOTQA:
        return read_hotpotqa(source)
    raise BenchDataError(f"{source}: Parquet is read by clara_lab.parquet; install clara with the extra `lab`")


def _questions_file(folder: Path) -> Path:
    found = sorted(folder.glob("queries*.jsonl"))
    if len(found) == 1:
        return found[0]
    names = ", ".join(file.name for file in found) or "none"
    raise BenchDataError(f"{folder}: one file queries*.jsonl is needed, found are: {names}; keep one of them beside the corpus")


def read_json_lines(corpus: Path, questions: Path, where: Mapping[str, str] | None = None, text: str = "") -> Iterator[DataRow]:
    """Read documents {id, title, text or code} and questions {id, question, answer, type, level, gold}.

    Of the questions those are read that have all values of `where`, such as {"split": "open"}. `text` is another name of the
    field with a document's text.
    """
    wanted = where or {}
    yield Provenance({"format": JSON_LINES, **{f"where_{key}": value for key, value in wanted.items()}})
    yield from _rows(corpus, partial(_document, name=text))
    yield from _rows(questions, _question, lambda line: all(str(line.get(key)) == str(held) for key, held in wanted.items()))


def read_beir(folder: Path, split: str = "test") -> Iterator[DataRow]:
    """Read a BEIR folder. Questions that the split's judgements do not name belong to other splits, and are left out."""
    qrels = folder / "qrels" / f"{split}.tsv"
    judgements = list(_judgements(qrels))
    asked = {row.question for row in judgements if isinstance(row, Judgement)}
    yield Provenance({"format": BEIR, "split": split})
    yield from judgements
    yield from _rows(folder / "corpus.jsonl", _beir_document)
    yield from _rows(folder / "queries.jsonl", _beir_question, lambda line: line.get("_id") in asked)


def read_hotpotqa(file: Path) -> Iterator[DataRow]:
    """Read HotpotQA's own JSON, or the same as exported by Hugging Face: each title becomes one document, read once.

    Its corpus is made of the passages around its own answers, so figures on it only compare strategies with each other.
    """
    try:
        entries = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BenchDataError(f"{file}: {_told(error)}; is the file whole?") from error
    if not isinstance(entries, list):
        raise BenchDataError(f"{file}: a list of questions is needed, each with 'context' and 'supporting_facts'")
    yield Provenance({"format": HOTPOTQA}, relative_only=True)
    titles: set[str] = set()
    for number, entry in enumerate(entries, 1):
        try:
            rows = _hotpotqa_rows(entry, titles)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield _bad(f"{file.name}, entry {number} ({_told(error)})")
        else:
            yield from rows


def _hotpotqa_rows(entry: Mapping[str, Any], titles: set[str]) -> list[DataRow]:
    facts, context = entry["supporting_facts"], entry["context"]
    if isinstance(facts, Mapping):  # as Hugging Face exports it: columns instead of pairs
        facts = zip(facts["title"], facts["sent_id"], strict=True)
        context = zip(context["title"], context["sentences"], strict=True)
    passages = [(title, "".join(sentences)) for title, sentences in context]
    gold = frozenset(_title_id(title) for title, _ in facts)
    kinds = {"question_type": _text(entry, "type", ""), "level": _text(entry, "level", "")}
    id_ = _text(entry, "_id" if "_id" in entry else "id")
    question = BenchQuestion(id_, _text(entry, "question"), _text(entry, "answer", ""), gold=gold, **kinds)
    rows: list[DataRow] = [question]
    for title, text in passages:
        if title not in titles:
            titles.add(title)
            rows.append(BenchDocument(_title_id(title), title, text))
    return rows


def _title_id(title: str) -> str:
    """Give an id without blanks, which run files of TREC cannot hold, as Wikipedia does."""
    return "_".join(title.split())


def _rows(
    file: Path, make: Callable[[Mapping[str, Any]], DataRow], kept: Callable[[Mapping[str, Any]], bool] = lambda _line: True
) -> Iterator[DataRow]:
    """Make a row of each JSON object that is kept, one line at a time; U+2028 and its kind may stand inside a text."""
    try:
        with file.open(encoding="utf-8-sig", newline="\n") as opened:
            for number, line in enumerate(opened, 1):
                if line.strip():
                    yield from _row(f"{file.name}:{number}", line, make, kept)
    except (OSError, UnicodeDecodeError) as error:
        yield DataFault(f"{file} ({_told(error)})", "files that cannot be read", "are they there, and UTF-8?")


def _row(
    place: str, line: str, make: Callable[[Mapping[str, Any]], DataRow], kept: Callable[[Mapping[str, Any]], bool]
) -> Iterator[DataRow]:
    try:
        found = json.loads(line)
        if not isinstance(found, dict):
            yield _bad(f"{place} (not an object)")
        elif kept(found):
            yield make(found)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        yield _bad(f"{place} ({_told(error)})")


def _bad(place: str) -> DataFault:
    return DataFault(place, BAD_LINE, "mend them or take them out")


def _told(error: Exception) -> str:
    return f"no field {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"


def _text(line: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = line.get(name, default)
    if value is None and default is None:
        raise KeyError(name)
    if value is not None and not isinstance(value, str):
        raise TypeError(f"'{name}' must be text")
    return value or ""


def _document(line: Mapping[str, Any], name: str = "") -> BenchDocument:
    text = _text(line, name or ("text" if "text" in line else "code"))
    return BenchDocument(_text(line, "id"), _text(line, "title", ""), text.lstrip("\ufeff"), _text(line, "parent", ""))


def _question(line: Mapping[str, Any]) -> BenchQuestion:
    gold = line.get("gold", [])
    if not isinstance(gold, list) or not all(isinstance(document, str) for document in gold):
        raise TypeError("'gold' must be a list of document ids")
    answer, answer_type, question_type, level = (_text(line, name, "") for name in ("answer", "answer_type", "type", "level"))
    id_, text = _text(line, "id"), _text(line, "question")
    return BenchQuestion(id_, text, answer, answer_type, question_type, level, frozenset(gold))


def _beir_document(line: Mapping[str, Any]) -> BenchDocument:
    return BenchDocument(_text(line, "_id"), _text(line, "title", ""), _text(line, "text"))


def _beir_question(line: Mapping[str, Any]) -> BenchQuestion:
    about = line.get("metadata")
    answer = about.get("answer", "") if isinstance(about, dict) else ""
    return BenchQuestion(_text(line, "_id"), _text(line, "text"), answer if isinstance(answer, str) else "")


def _judgements(file: Path) -> Iterator[Judgement | DataFault]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            for number, cells in enumerate(csv.reader(opened, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
                is_triple = len(cells) == len(("question", "document", "score"))
                if is_triple and _NUMBER.fullmatch(cells[2].strip()):
                    yield Judgement(cells[0], cells[1], float(cells[2]))
                elif cells and not (is_triple and number == 1):  # the first line may be a header
                    yield _bad(f"{file.name}:{number} (question, document and score are needed, separated by tabs)")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        yield DataFault(f"{file} ({_told(error)})", "files that cannot be read", "are they there, and UTF-8?")
