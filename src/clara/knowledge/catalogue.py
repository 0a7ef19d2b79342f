"""Reading data/: procedures, typical questions and places, every fault named at once, nothing used before all is right."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault, package_folder, read_document, read_schema
from clara.knowledge.places import Places, read_places
from clara.knowledge.procedure import NEEDED_FIGURES, Certainty, Fact, Procedure, procedure_from
from clara.knowledge.questions import TypicalQuestion, read_questions
from clara.language.figures.figure import as_json
from clara.language.figures.reader import spanish
from clara.language.packs import read_languages
from clara.language.tokens import words

# Digests of the files of procedures whose figures have been compared with their texts: that took .3 of the 1.1 s of processor
# time of `clara knowledge show` with 1,220 facts, and what a release carries was compared before it. A file that somebody
# changed has another digest and is compared again.
MARKS: Final = "compared.json"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All procedures by id, in order; the questions people ask about them; the places they hold in."""

    procedures: Mapping[str, Procedure]
    questions: tuple[TypicalQuestion, ...]
    places: Places


def read_catalogue(folder: Path, *, with_questions: bool = False) -> Catalogue:
    """Read and check what is known under `folder`. Raises DataError naming every fault of every file.

    Typical questions are many and serve editors and training only: they are read when asked for.
    """
    files, broken, faults = _read_procedures(folder)
    try:
        places = read_places(folder)
    except DataError as error:
        raise DataError([*faults, *error.faults]) from error
    faults.extend(_unserved(files, read_languages(folder), places.by_code))
    procedures = {procedure.id: procedure for procedure in files.values()}
    questions, problems = read_questions(folder, procedures, broken) if with_questions else ([], [])
    if faults or problems:
        raise DataError([*faults, *problems])
    return Catalogue(procedures, tuple(questions), places)


def _read_procedures(folder: Path) -> tuple[dict[str, Procedure], frozenset[str], list[Fault]]:
    """Give the sound procedures by file, the names of the others, and all faults."""
    read_schema(folder / "schema" / "procedure.schema.json")  # where it is missing, no file can be told to be right
    marks = read_marks(folder)
    files: dict[str, Procedure] = {}
    broken: set[str] = set()
    faults: list[Fault] = []
    for path in sorted((folder / "tramites").glob("*.json")):
        document, problems = read_document(folder, f"tramites/{path.name}", "procedure", path.name)
        if document is not None:
            try:
                files[path.name] = procedure_from(document)
            except ValueError:
                if not problems:  # else a source was seen on a day that is among them
                    raise
            else:
                problems += procedure_faults(path, files[path.name], compared=marks.get(path.name) == mark_of(path))
        if problems:
            files.pop(path.name, None)
            broken.add(path.stem)
            faults += problems
    if not files and not broken:
        raise DataError([Fault(str(folder / "tramites"), "folder", "holds no procedure; restore data/ from the repository")])
    return files, frozenset(broken), [*faults, *_shared(files)]


def read_marks(folder: Path) -> Mapping[str, str]:
    """Read `folder`/compared.json: `mark_of` by file; nothing where it is missing or broken, and all is compared then."""
    with suppress(OSError, ValueError, AttributeError):
        return dict(json.loads((folder / MARKS).read_text("utf-8")).items())
    return {}


def mark_of(path: Path) -> str:
    """Digest a file of a procedure together with the words by which figures are read."""
    lexicon = package_folder() / "data" / "languages" / "es" / "reading.json"
    return hashlib.sha256(lexicon.read_bytes() + path.read_bytes()).hexdigest()


def procedure_faults(path: Path, procedure: Procedure, *, compared: bool = False) -> Iterator[Fault]:
    """Find what is wrong with one procedure on its own, beyond its schema; `compared`: its figures are those of its texts."""
    file, stem = path.name, path.stem
    if procedure.id != stem:
        yield Fault(file, "$.id", f"is '{procedure.id}' but the file is named '{stem}'; make them equal")
    sections = [section.id for section in procedure.sections]
    for name in sorted({name for name in sections if sections.count(name) > 1}):
        yield Fault(file, "$.sections", f"section '{name}' appears twice; merge the two")
    facts = {fact.id: fact for fact in procedure.facts}
    for place, section in enumerate(procedure.sections):
        for number, fact in enumerate(section.facts):
            where = f"$.sections[{place}].facts[{number}]"
            # Where id and file name differ, that is the fault: not also every fact under one of the two.
            if not fact.id.startswith((f"{procedure.id}-{section.id}-", f"{stem}-{section.id}-")):
                yield Fault(file, f"{where}.id", f"'{fact.id}' must start with '{procedure.id}-{section.id}-'")
            yield from () if compared else figure_faults(file, where, fact)
            yield from fact_faults(file, where, fact, facts)


def figure_faults(file: str, where: str, fact: Fact) -> Iterator[Fault]:
    """Compare the figures of a fact with its text, and with what its kind needs."""
    told = spanish().values_in(fact.text)
    for figure in sorted(told - fact.values, key=str):
        yield Fault(file, f"{where}.values", f"the text says '{figure}' and the values do not; add {as_json(figure)}")
    for figure in sorted(fact.values - told, key=str):
        yield Fault(file, f"{where}.values", f"'{figure}' is not in the text; correct the text or remove the value")
    needed = NEEDED_FIGURES.get(fact.kind)
    if needed and not any(figure.kind in needed for figure in told):
        wanted = " or ".join(sorted(needed))
        yield Fault(file, f"{where}.kind", f"a fact of kind '{fact.kind}' needs a value of kind {wanted}; correct kind or text")


def fact_faults(file: str, where: str, fact: Fact, facts: Mapping[str, Fact]) -> Iterator[Fault]:
    """Check one fact among all facts of its procedure, by id: its days, and what must be told with it."""
    days = fact.validity
    if days.first and days.last and days.first > days.last:
        yield Fault(file, f"{where}.valid", "ends before it begins; swap or correct the days")
    yield from condition_faults(file, where, fact, facts)
    if fact.compares and not fact.conditions:
        remedy = "names only years before its first day and would pass for today's; give it the fact of today as a condition"
        yield Fault(file, f"{where}.conditions", remedy)


def condition_faults(file: str, where: str, fact: Fact, facts: Mapping[str, Fact]) -> Iterator[Fault]:
    """Check what a fact says must be told with it, among all facts of its procedure, by id."""
    for number, name in enumerate(fact.conditions):
        place = f"{where}.conditions[{number}]"
        if name == fact.id:
            yield Fault(file, place, "a fact cannot be its own condition; remove it")
        elif name not in facts:
            yield Fault(file, place, f"no fact '{name}' in this procedure; correct the id or remove it")
        elif facts[name].certainty is Certainty.UNVERIFIED is not fact.certainty:
            yield Fault(file, place, f"fact '{name}' is unverified and is never said; find its source or remove the condition")


def _shared(files: Mapping[str, Procedure]) -> Iterator[Fault]:
    """Find ids of facts that are used twice, and words that stand for two procedures: a name that means both means neither."""
    users: dict[str, str] = {}
    owners: dict[tuple[str, ...], str] = {}
    for file, procedure in files.items():
        for fact in procedure.facts:
            if fact.id in users:
                yield Fault(file, fact.id, f"this fact id is already used in {users[fact.id]}; give it its own")
            users[fact.id] = file
        named = [(f"$.name.{language}", name) for language, name in procedure.name.items()]
        for language, phrases in procedure.vocabulary.items():
            named += [(f"$.vocabulary.{language}[{number}]", phrase) for number, phrase in enumerate(phrases)]
        for place, phrase in named:
            if (other := owners.setdefault(tuple(words(phrase)), file)) != file:
                yield Fault(file, place, f"'{phrase}' also stands in {other}; keep it in one of them")


def _unserved(files: Mapping[str, Procedure], languages: Collection[str], places: Collection[str]) -> Iterator[Fault]:
    """Find procedures without a name in a served language, and facts that hold in a place which nobody knows."""
    for file, procedure in files.items():
        for language in languages:
            for part, said in (("name", procedure.name), ("purpose", procedure.purpose)):
                if language not in said and (said or part == "name"):
                    yield Fault(file, f"$.{part}", f'"{language}" is a required property; add it')
        for fact in procedure.facts:
            if fact.territory not in places:
                remedy = f"unknown territory '{fact.territory}'; use a code of data/places.json or add the place there"
                yield Fault(file, fact.id, remedy)


def examples_of(catalogue: Catalogue) -> list[TypicalQuestion]:
    """Give the typical questions, and the names of each procedure as the shortest of questions, in the same languages."""
    asked = {question.language for question in catalogue.questions}
    named = [
        TypicalQuestion(f"{procedure.id}/name/{language}/{number}", phrase, language, procedure.id, "")
        for procedure in catalogue.procedures.values()
        for language in procedure.name
        if language in asked
        for number, phrase in enumerate((procedure.name[language], *procedure.vocabulary.get(language, ())))
    ]
    return [*catalogue.questions, *named]
