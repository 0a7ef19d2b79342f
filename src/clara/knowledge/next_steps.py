"""Where a person goes next: which facts say the office, the page, the telephone or the form of a procedure, as data."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError, Fault, read_data
from clara.knowledge.catalogue import Catalogue
from clara.knowledge.procedure import Fact
from clara.language.figures.figure import FigureKind

FOLDER: Final = "next_steps"
# Whom to call comes first, then where to go in person, then the ways that save the way: messages have room for few.
CHANNELS: Final = ("phone", "office", "appointment", "online", "post", "form")

# The ids of the facts by channel, the most useful first.
NextSteps = Mapping[str, tuple[str, ...]]


def read_next_steps(folder: Path, catalogue: Catalogue) -> dict[str, NextSteps]:
    """Read `folder`/next_steps, one file a procedure, in the catalogue's order. Raises DataError naming every fault."""
    facts = {fact.id: fact for procedure in catalogue.procedures.values() for fact in procedure.facts}
    steps: dict[str, NextSteps] = {}
    faults: list[Fault] = []
    for name in catalogue.procedures:
        file = f"{FOLDER}/{name}.json"
        if not (folder / file).is_file():
            continue  # a deployment may hold procedures of its own; the check of the knowledge names those without steps
        document = read_data(folder, file, FOLDER)
        faults += _faults(document, name, file, facts)
        steps[name] = {channel: tuple(document["steps"][channel]) for channel in CHANNELS if channel in document["steps"]}
    if faults:
        raise DataError(faults)
    return steps


def step_facts(steps: NextSteps) -> tuple[str, ...]:
    """Give the facts of all channels in their order, each once."""
    return tuple(dict.fromkeys(fact for channel in CHANNELS for fact in steps.get(channel, ())))


def _faults(document: Mapping[str, Any], name: str, file: str, facts: Mapping[str, Fact]) -> Iterator[Fault]:
    if document["procedure"] != name:
        yield Fault(file, "$.procedure", f"'{document['procedure']}' is not the file's name; correct one of the two")
    for channel, named in document["steps"].items():
        for fact_id in named:
            fact = facts.get(fact_id)
            if fact is None:
                yield Fault(file, f"$.steps.{channel}", f"there is no fact '{fact_id}'; correct the id or remove it")
            elif channel == "phone" and FigureKind.PHONE not in {value.kind for value in fact.values}:
                yield Fault(file, f"$.steps.{channel}", f"{fact_id} tells no telephone; name it under another channel")
