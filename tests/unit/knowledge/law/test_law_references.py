"""From legal bases to provisions: every one of data/ can be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.knowledge.law.law_samples import sample

from clara.knowledge.knowledge_base import read_knowledge
from clara.knowledge.law.references import absent, provisions_of
from clara.knowledge.procedure import Certainty, Fact, LegalBasis
from clara.settings import resources


def keys(provision: str | None) -> str:
    return " ".join(sorted(provisions_of(LegalBasis("BOE-A-2000-1", provision))))


@pytest.mark.parametrize(
    ("provision", "expected"),
    [
        (None, ""),
        ("art. 21.2", "a21"),
        ("arts. 65, 68.2 y 40", "a40 a65 a68"),
        ("DA 20.ª.3 y 21.ª.4", "da20 da21"),
        ("disp. adic. 90.ª", "da90"),
        ("anexo 2.3.1, 2.4 y 4.2", "anexo"),
        ("anexo 4.6 y art. 1.3", "a1 anexo"),
        ("art. 13 y anexo IV", "a13 anexo-iv"),
        ("ap. 2.1", "ap2"),
        ("art. único", "aunico"),
        ("disposición adicional nonagésima", "da90"),
        ("arts. 3-4 y 24", "a24 a3 a4"),
        ("art. 6.5-7", "a6"),
        ("art. 126.c-h", "a126"),
        ("art. 31 bis.1-2", "a31bis"),
        ("arts. 18, 19, 19 bis y 20", "a18 a19 a19bis a20"),
        ("art. 9.1 y 2", "a9"),
        ("art. 267.1.a.5.º y 267.2", "a267"),
        ("arts. 266.c y e y 300", "a266 a300"),
        ("arts. 5.1.b y c y disp. adic. 13.ª", "a5 da13"),
        ("disp. derogatoria y disp. trans. 3.ª", "dd1 dt3"),
        ("arts. 274, 280 y disp. adic. 57.ª y 58.ª", "a274 a280 da57 da58"),
        ("arts. 271.1.k y 299.1.k (suprimidas)", "a271 a299"),
        ("art. 28.seis", "a28"),
        ("DT 5.ª (derogada)", "dt5"),
        ("quién sabe dónde", ""),
        ("ap. ٣ y art. 3-²", "a3 ap3"),
    ],
)
def test_a_legal_basis_points_to_provisions(provision: str | None, expected: str) -> None:
    """Articles, dispositions, annexes and sections are found; parts of them are not taken for others."""
    assert keys(provision) == expected


PIECES = ["art. ", "arts. ", "DA ", "anexo ", "ap. ", "1", "20.ª", ".3", ".a", " y ", "-", "bis", "IV", "(", "²", "٣", "único"]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=14).map("".join))
def test_any_legal_basis_can_be_read(provision: str) -> None:
    """Whatever stands there, some keys come out, or none: the whole norm."""
    assert all(provisions_of(LegalBasis("BOE-A-2000-1", provision)) or [True])


def test_every_legal_basis_of_the_data_can_be_read() -> None:
    """None of the 530 ways in which facts name provisions is taken for the norm as a whole."""
    procedures = read_knowledge(resources() / "data").catalogue.procedures.values()
    facts = [fact for procedure in procedures for fact in procedure.facts]
    named = {basis.provision: provisions_of(basis) for fact in facts for basis in fact.legal_basis if basis.provision}
    assert len(named) > 500
    assert [provision for provision, found in named.items() if not found] == []


def test_facts_that_point_in_vain_are_named() -> None:
    """A provision that is not there, or is repealed, is told with the fact; norms that were not read are passed over."""
    norm = sample("BOE-A-2024-24099")
    bases = (LegalBasis(norm.id, "arts. 127 y 999"), LegalBasis(norm.id, "DT 5.ª"), LegalBasis("BOE-A-1999-1", "art. 1"))
    fact = Fact("uno-01", "Texto.", Certainty.OFFICIAL, (), legal_basis=bases)
    assert [(one.fact, one.key, one.repealed) for one in absent([fact], {norm.id: norm})] == [
        ("uno-01", "a999", False), ("uno-01", "dt5", True),
    ]  # fmt: skip
