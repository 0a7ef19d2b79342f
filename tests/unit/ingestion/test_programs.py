"""Units of programs as passages: how they are called, under which heading they stand, and what happens to long ones."""

from dataclasses import replace

import pytest

from clara.adapters.models.local import LocalTokenCounter
from clara.ingestion.chunks import Cutting
from clara.ingestion.documents import LONGEST_ID
from clara.ingestion.journey import plan_changes, text_digest_of
from clara.ingestion.ports import StoredDigests
from clara.ingestion.programs import ProgramUnit, Reason, Skipped, Survey, in_words, passages_of_programs
from clara.retrieval.passage import Passage

COUNTER = LocalTokenCounter()
UNIT = ProgramUnit(
    "method", "get", "Cache.get", "python", "store/cache.py", 3, 9, "def get(self, key):", "Give a value.", "    return 1"
)


def passages(*units: ProgramUnit, size: int = 512) -> list[Passage]:
    return passages_of_programs(units, "code", "code", counter=COUNTER, cutting=Cutting(size=size, overlap=0))


def test_what_is_said_of_a_unit_and_its_source_are_passages() -> None:
    """Its file is its document, path and class are its heading, and what can be shown of it is in the metadata of both."""
    said, source = passages(replace(UNIT, calls=("f",)))
    assert [one.id for one in (said, source)] == ["store/cache.py::Cache.get#0", "store/cache.py::Cache.get#1"]
    assert {(one.document_id, one.section) for one in (said, source)} == {("store/cache.py", "Cache.get")}
    assert (said.heading, said.text) == (("store/cache.py", "Cache"), "get: Give a value.\ndef get(self, key):")
    assert source.heading == ("store/cache.py", "Cache", "def get(self, key):")
    assert source.text.strip() == "return 1"
    assert {(one.language, one.collection) for one in (said, source)} == {("code", "units")}
    for one in (said, source):
        shown = {name: one.metadata[name] for name in ("language", "kind", "name", "lines", "calls", "file_path")}
        assert shown == {
            "language": "python", "kind": "method", "name": "get", "lines": [3, 9], "calls": ["f"],
            "file_path": "store/cache.py",
        }  # fmt: skip


def test_what_its_file_and_class_are_stands_above_a_unit() -> None:
    """The first sentence of each, behind its name; not above its source."""
    file = replace(UNIT, kind="module", name="cache", qualified="", documentation="Keeps values\nfor a while. And so on.")
    owner = replace(UNIT, kind="class", name="Cache", qualified="Cache", documentation="A shelf: values by key.", body="")
    made = {one.id: one for one in passages(file, owner, UNIT)}
    about = "Keeps values for a while."
    assert made["store/cache.py::Cache"].heading == ("store/cache.py", about)
    assert made["store/cache.py::Cache.get#0"].heading == ("store/cache.py", about, "Cache", "A shelf: values by key.")
    assert made["store/cache.py::Cache.get#1"].heading == ("store/cache.py", "Cache", "def get(self, key):")
    assert made["store/cache.py"].text.startswith("def get(self, key):\nKeeps values")


def test_a_unit_without_documentation_is_its_source() -> None:
    """Nothing is said of it but by its signature."""
    (made,) = passages(replace(UNIT, documentation=" "))
    assert (made.id, made.heading) == ("store/cache.py::Cache.get", ("store/cache.py", "Cache"))
    assert made.text == "def get(self, key):\n    return 1"


@pytest.mark.parametrize(
    ("name", "words"), [("lastUse", "last use"), ("last_use", "last use"), ("__init__", "init"), ("HTTPServer2", "httpserver2")]
)
def test_names_in_words(name: str, words: str) -> None:
    """Humps and underscores are where words meet."""
    assert in_words(name) == words


def test_long_source_is_cut_under_its_signature() -> None:
    """Each piece stands under the signature, fits, and comments in it are no headings."""
    body = "\n".join(f"    # Step {number}\n    value{number} = compute{number}(value)" for number in range(60))
    for unit in (replace(UNIT, body=body), replace(UNIT, body=body, documentation="")):
        made = passages(unit, size=100)
        assert len(made) > 3
        assert [one.id for one in made] == [f"store/cache.py::Cache.get#{number}" for number in range(len(made))]
        assert {one.heading for one in made[1:]} == {("store/cache.py", "Cache", "def get(self, key):")}
        assert all(COUNTER.count(one.text) <= 100 for one in made)
        assert {one.metadata["parent_id"] for one in made} == {"store/cache.py::Cache.get"}


def test_ids_are_unique_and_possible() -> None:
    """Overloads are numbered, '#' is kept for pieces, and a path that is too long is shortened to one that is still its own."""
    long = [replace(UNIT, path=f"{'deep/' * 200}{name}.py") for name in "ab"]
    made = passages(*(replace(one, documentation="") for one in (UNIT, UNIT, replace(UNIT, path="c#/a.py"), *long)))
    ids = [one.id for one in made]
    assert ids[:3] == ["store/cache.py::Cache.get", "store/cache.py::Cache.get~2", "c%23/a.py::Cache.get"]
    assert len(set(ids)) == len(ids)
    assert max(map(len, ids)) <= LONGEST_ID


def test_a_name_of_its_own_can_be_linked_to() -> None:
    """What alone is called so is known by its name; what shares it, has a short one, or is a file is not."""
    own = replace(UNIT, name="total_with_tax", qualified="total_with_tax")
    shared = [replace(UNIT, name="validate", qualified=f"{owner}.validate") for owner in "AB"]
    whole = replace(UNIT, name="invoices", qualified="", kind="module")
    made = passages(own, *shared, UNIT, whole)
    assert {one.id: one.metadata["names"] for one in made if one.metadata["names"]} == {made[0].id: ["total_with_tax"]}
    assert made[0].metadata["index"] == 0


def test_what_only_moved_keeps_its_vector() -> None:
    """Lines that shift are written again and not embedded again; another body is."""
    before, moved = passages(UNIT), passages(replace(UNIT, first=10, last=16))
    stored = StoredDigests({one.id: "old" for one in before}, {one.id: text_digest_of(one) for one in before})
    plan = plan_changes(stored, moved)
    assert (plan.write, plan.embed) == (tuple(moved), frozenset())
    changed = passages(replace(UNIT, body="    return 2"))
    assert plan_changes(stored, changed).embed == {changed[1].id}


def test_a_survey_says_what_there_is() -> None:
    """Units by language and kind, what was left out by reason, and every place where that is wanted."""
    survey = Survey((UNIT, replace(UNIT, kind="class"), replace(UNIT, language="go")), (Skipped("a.js", Reason.BINARY),), 2)
    assert list(survey.lines()) == [
        "3 units in 2 files",
        "  go: 1 method",
        "  python: 1 method, 1 class",
        "left out: 1 binary",
    ]
    assert list(survey.lines(every=True))[-1] == "  a.js: binary"
