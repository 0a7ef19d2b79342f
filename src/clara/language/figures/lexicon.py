"""The words with which a language writes figures, from each pack: numbers, units, months, norms, and what says no."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from clara.data_files import DataError, Fault
from clara.language.figures.numbers import NumberWords
from clara.language.fold import folded
from clara.language.packs import pack_file, read_packs
from clara.language.phrases import Phrases, signs

SPANISH: Final = "es"
# Sizes are written alike in every language.
_SIZES: Final = (("kW", "kW"), ("kW", "kWh"), ("MB", "MB"), ("m2", "m²"), ("m2", "metros cuadrados"))


class Polarity(StrEnum):
    """How words say no: plainly, by an exception, in other words ("free", "rejected"); idioms only look like it."""

    NEGATION = "negation"
    EXCEPTION = "exception"
    IMPLICIT = "implicit"
    IDIOM = "idioms"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as it stands in a text: its name, and its wording."""

    name: str
    wording: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One language. Spanish units, months, norms and forms are understood in every language: people keep them.

    `shares` are percentages in words ("a third"), `wholes` words that hold number and unit ("شهران", two months). `norms`,
    `provisions` and `forms` are folded words, longest first. `polarity` holds what says no, `bounds` what says "least",
    "most", "before" and "after".
    """

    language: str
    numbers: NumberWords
    only_with_unit: frozenset[str]
    between: Phrases[bool]
    fillers: Phrases[bool]
    units: Phrases[Unit]
    rates: Phrases[str]
    months: Phrases[int]
    only_with_day: frozenset[str]
    month_glue: Phrases[bool]
    year_glue: Phrases[bool]
    wholes: Phrases[tuple[float, str]]
    shares: Phrases[float]
    norms: Mapping[str, str]
    provisions: Mapping[str, str]
    forms: tuple[str, ...]
    polarity: Phrases[Polarity]
    bounds: Phrases[str]
    restating: Phrases[bool]
    stop: frozenset[str]
    auxiliary: frozenset[str]

    def month(self, name: str) -> int | None:
        """Give the number of a month by its name."""
        found = self.months.one_at(signs(name), 0)
        return found[0] if found else None

    def month_name(self, number: int) -> str | None:
        """Give the usual name of a month."""
        return next((" ".join(key) for key, (month, *_) in self.months.entries.items() if month == number), None)


def read_lexicons(folder: Path) -> dict[str, Lexicon]:
    """Read reading.json of every pack below `folder`. Raises DataError naming every fault."""
    documents, faults = read_packs(folder, "reading")
    if SPANISH not in documents:
        faults.append(Fault(pack_file(SPANISH, "reading"), "file", "is missing or broken; restore data/ from the repository"))
    if faults:
        raise DataError(faults)
    return {language: _lexicon(language, document, documents[SPANISH]) for language, document in documents.items()}


def _lexicon(language: str, own: Mapping[str, Any], spanish: Mapping[str, Any]) -> Lexicon:
    both = [own] if own is spanish else [own, spanish]
    return Lexicon(
        language=language,
        numbers=NumberWords(own["numbers"], own["joiners"]),
        only_with_unit=_folded(own["only_with_unit"]),
        between=_known([*own["between"], ",", "/", "-"]),
        fillers=_known([entry for document in both for entry in document["fillers"]]),
        units=Phrases(((form, Unit(name, folded(form))) for name, form in [*_each(both, "units"), *_SIZES]), signs),
        rates=Phrases(((form, name) for name, form in _each(both, "rates")), signs),
        months=Phrases(
            ((form, number) for document in both for number, forms in enumerate(document["months"], 1) for form in forms), signs
        ),
        only_with_day=_folded(own["only_with_day"]),
        month_glue=_known([entry for document in both for entry in document["month_glue"]]),
        year_glue=_known([entry for document in both for entry in document["year_glue"]]),
        wholes=Phrases(((form, (float(number), unit)) for form, (number, unit) in own["wholes"].items()), signs),
        shares=Phrases(((form, float(share)) for share, forms in own["shares"].items() for form in forms), signs),
        norms=_by_wording(both, "norms"),
        provisions=_by_wording(both, "provisions"),
        forms=tuple(dict.fromkeys(folded(form) for document in both for form in document["forms"])),
        polarity=Phrases(((entry, polarity) for polarity in Polarity for entry in own[polarity.value]), signs),
        bounds=Phrases(((entry, bound) for bound, entries in own["bounds"].items() for entry in entries), signs),
        restating=_known(own["restating"]),
        stop=_folded([*own["stop"], *own["auxiliary"]]),
        auxiliary=_folded(own["auxiliary"]),
    )


def _known(entries: Sequence[str]) -> Phrases[bool]:
    return Phrases(((entry, True) for entry in entries), signs)


def _folded(entries: Sequence[str]) -> frozenset[str]:
    return frozenset(" ".join(signs(entry)) for entry in entries)


def _each(documents: Sequence[Mapping[str, Any]], field: str) -> list[tuple[str, str]]:
    """Give (name, form) of all documents; a form that the first one has is not taken from the second."""
    seen: dict[str, str] = {}
    for document in documents:
        for name, forms in document[field].items():
            for form in forms:
                seen.setdefault(form, name)
    return [(name, form) for form, name in seen.items()]


def _by_wording(documents: Sequence[Mapping[str, Any]], field: str) -> dict[str, str]:
    """Give names by folded wording, the longest wording first."""
    found = {folded(form): name for name, form in reversed(_each(documents, field))}
    return dict(sorted(found.items(), key=lambda entry: -len(entry[0])))
