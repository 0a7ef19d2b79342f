"""The suite of whole answers demands only what may be said."""

from clara.knowledge.knowledge_base import read_knowledge
from clara.quality.suites.replies import END_TO_END, unanswerable
from clara.quality.suites.suite import read_cases
from clara.settings import resources


def test_a_fact_without_a_source_cannot_be_demanded() -> None:
    """It is never said, so no answer could pass; beside another that may be said, or a figure, it can stand."""
    knowledge = read_knowledge(resources() / "data")
    published = {passage.id for passage in knowledge.passages}
    unsaid = next(f.id for one in knowledge.catalogue.procedures.values() for f in one.facts if f.id not in published)
    said = min(published)
    cases = [
        {"id": "a", "must": [[said], [unsaid]]},
        {"id": "b", "must": [[unsaid, said]]},
        {"id": "c", "must": [[unsaid, "9,84"]]},
    ]
    (fault,) = unanswerable(cases, knowledge)
    assert (fault.place, unsaid in fault.remedy) == ("a", True)


def test_the_cases_can_be_answered() -> None:
    """Both halves."""
    for split in ("dev", "test"):
        cases = read_cases(resources() / "eval" / "answers" / "end_to_end.jsonl", split, END_TO_END.fields)
        assert list(unanswerable(cases, read_knowledge(resources() / "data"))) == []
