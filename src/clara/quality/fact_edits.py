"""Writing a changed fact to data/: everything is checked first, and what rests on the fact is told."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clara.data_files import DataError
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.derivations import read_derivations
from clara.knowledge.fact_forms import changed, cited_by, fact_file, faults_of, with_fact
from clara.knowledge.procedure import fact_from
from clara.knowledge.provisions import read_provisions


def written(data: Path, procedure: str, section: str, before: Mapping[str, Any], told: dict[str, Any]) -> Iterator[str]:
    """Write a fact as it was told, and say what follows. Raises DataError naming every fault; then nothing is written."""
    file, derivations = fact_file(data, procedure), read_derivations(data)
    catalogue = read_catalogue(data, with_questions=True)
    fact = changed(before, told)
    text = with_fact(file, fact, section)
    if faults := faults_of(data, catalogue, text, fact["id"], read_provisions(data), derivations):
        raise DataError(faults)
    new = file.section_of(fact["id"]) is None
    if text == file.text:
        yield f"{fact['id']} is as it was; nothing was written."
        return
    rests = list(cited_by(catalogue, None if new else fact_from(before), fact_from(fact), derivations))
    draft = file.path.with_suffix(".json.new")
    draft.write_text(text, "utf-8")
    draft.replace(file.path)
    yield f"{fact['id']} is written to {file.path.name}."
    yield from (f"  {line}" for line in rests)
    if before.get("reviewed") and "reviewed" not in fact:
        yield "Its text is new: whoever read it has to read it again."
    if new:
        yield f"Write its typical questions into data/questions/{procedure}.json, and run `make intent`."
    yield "Next: clara knowledge check, python tools/mark_facts.py, and clara publish to serve it."
