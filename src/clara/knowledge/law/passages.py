"""The passages of a norm: one for each article that holds, long ones cut after their paragraphs."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from clara.knowledge.law.norm import PREAMBLE, Norm, Provision
from clara.language.sentences import sentence_ends
from clara.retrieval.passage import Passage
from clara.retrieval.validity import Validity

LAW_CORPUS: Final = "law"
NORMATIVE, COMMON = "normativa", "comun"
# Norms that hold in every procedure, whatever it is about; the reason stands beside each.
COMMON_NORMS: Final = {
    "BOE-A-2015-10565": "Ley 39/2015: how every procedure before an administration runs",
    "BOE-A-2015-10566": "Ley 40/2015: how administrations act and answer for it",
    "BOE-A-1998-16718": "Ley 29/1998: how every decision of an administration is brought before a court",
    "BOE-A-1978-31229": "Constitución: the rights behind all of them",
}
# Characters. An article's paragraphs average 300; a passage of several keeps the question and its exception together.
LARGEST: Final = 1_200
_SHORT_TITLE: Final = 120


def collection_of(norm: Norm) -> str:
    """Tell which collection a norm belongs to."""
    return COMMON if norm.id in COMMON_NORMS else NORMATIVE


def passages_of_norm(norm: Norm, corpus: str = LAW_CORPUS, collection: str | None = None) -> list[Passage]:
    """Cut a norm into passages in its own order; the preamble and what is repealed are left out."""
    return [
        passage
        for provision in norm.provisions
        if provision.key != PREAMBLE and provision.text
        for passage in _passages(norm, provision, corpus, collection or collection_of(norm))
    ]


def _passages(norm: Norm, provision: Provision, corpus: str, collection: str) -> Iterator[Passage]:
    name = f"{provision.label}. {provision.title}" if provision.title else provision.label
    title = norm.title if len(norm.title) <= _SHORT_TITLE else f"{norm.title[:_SHORT_TITLE].rsplit(' ', 1)[0]}…"
    starts = provision.in_force_from or norm.in_force
    ends = provision.in_force_to or (norm.repealed and norm.repealed - timedelta(days=1))
    for number, text in enumerate(_pieces(provision.text), 1):
        yield Passage(
            id=f"{norm.id}.{provision.key}" + (f".{number}" if number > 1 else ""),
            corpus=corpus,
            collection=collection,
            document_id=norm.id,
            section=provision.key,
            heading=(title, *provision.heading, name),
            text=text,
            language="es",
            territory=norm.territory,
            validity=Validity(starts, ends),
            metadata={
                "norm": norm.id,
                "norm_title": norm.title,
                "provision": provision.key,
                "label": provision.label,
                "version": norm.updated.isoformat() if norm.updated else None,
                "amended_by": provision.amended_by,
                "eli": norm.eli,
                "url": norm.url,
            },
        )


def _pieces(text: str) -> list[str]:
    """Put whole paragraphs together up to the largest size; a longer paragraph is cut after sentences, else between words."""
    pieces: list[str] = []
    for paragraph in text.split("\n"):
        for part in _parts(paragraph) if len(paragraph) > LARGEST else [paragraph]:
            if pieces and len(pieces[-1]) + 1 + len(part) <= LARGEST:
                pieces[-1] += f"\n{part}"
            else:
                pieces.append(part)
    return pieces


def _parts(paragraph: str) -> Iterator[str]:
    start, last = 0, 0
    for end in _cuts(paragraph):
        if end - start > LARGEST and last > start:
            yield paragraph[start:last].strip()
            start = last
        last = end
    yield paragraph[start:].strip()


def _cuts(paragraph: str) -> Sequence[int]:
    """Give the ends of sentences, and of words inside of sentences that are too long themselves."""
    ends: list[int] = []
    for end in sentence_ends(paragraph):
        while end - (ends[-1] if ends else 0) > LARGEST:
            start = ends[-1] if ends else 0
            space = paragraph.rfind(" ", start + 1, start + LARGEST)
            ends.append(space if space > 0 else start + LARGEST)
        ends.append(end)
    return ends
