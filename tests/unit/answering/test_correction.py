"""Tests of corrections."""

import pytest

from clara.answering.dialogue.correction import Correcting, set_apart
from clara.answering.message import Past, ReplyStatus
from clara.answering.texts import Texts
from clara.answering.tool_factory import build_dialogue
from clara.retrieval.passage import Found, Hit, Passage, Status

ABOUT_IMV = Past("¿cuánto se cobra de IMV?", ReplyStatus.ANSWERED, "es", "imv")


@pytest.fixture(scope="module")
def correcting(real: object, texts: Texts) -> Correcting:
    """The real correcting."""
    return build_dialogue(real, texts, None).correcting


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "eso no es lo que pregunté"), ("es", "No no, te equivocas"), ("es", "perdona clara pero no es eso"),
        ("en", "wrong"),
        ("en", "That's not what I asked!"), ("fr", "ce n'est pas ça"), ("ar", "ليس هذا ما سألت عنه"),
        ("ro", "nu asta am întrebat"),
        ("pt", "não foi isso que perguntei"), ("ca", "no és això"), ("zh", "不是这个"), ("uk", "це не те, що я питала"),
        ("ru", "это не то, что я спрашивала"),
    ],
)  # fmt: skip
def test_bare(correcting: Correcting, language: str, text: str) -> None:
    """A refusal that says nothing new is a correction with nothing to look for."""
    correction = correcting.correct(text, (ABOUT_IMV,), language)
    assert correction is not None
    assert (correction.meant, correction.asked, correction.apart) == ("", "", "imv")


@pytest.mark.parametrize(
    ("language", "text", "meant"),
    [
        ("es", "no, me refiero a la pensión", "la pensión"), ("es", "me refiero al NIE", "NIE"),
        ("es", "pregunté por el paro, eso no es lo que pregunté", "el paro"),
        ("en", "I meant the NIE", "the NIE"), ("fr", "non, je parle de la carte TIE", "la carte TIE"),
        ("ar", "لا، أقصد بطاقة الصحة", "بطاقة الصحة"), ("zh", "不对，我问的是失业金", "失业金"),
        ("uk", "ні, я маю на увазі посвідку TIE", "посвідку TIE"),
        ("ru", "не то, я про пособие по безработице", "пособие по безработице"),
        ("ro", "nu, mă refer la șomaj", "șomaj"), ("pt", "errado, estou falando do NIE", "NIE"),
        ("ca", "no és això, em refereixo a l'atur", "l'atur"),
    ],
)  # fmt: skip
def test_with_news(correcting: Correcting, language: str, text: str, meant: str) -> None:
    """What is meant instead is looked for, with the question asked before, and not in the procedure that was refused."""
    correction = correcting.correct(text, (ABOUT_IMV,), language)
    assert correction is not None
    assert (correction.meant, correction.asked, correction.apart) == (meant, f"{meant}: cuanto se cobra", "imv")


def test_same_procedure(correcting: Correcting) -> None:
    """A correction of what was asked about the right procedure stays with it."""
    correction = correcting.correct("eso no es lo que pregunté, pregunté cuánto tarda", (ABOUT_IMV,), "es")
    assert correction is not None
    assert correction.apart is None
    assert "mínimo vital" in correction.asked
    assert "cuánto tarda" in correction.asked


@pytest.mark.parametrize(
    "text",
    [
        "no tengo NIE", "no, no tengo nie, que hago", "wrong name on my NIE card, what do I do", "no puedo pagar la luz",
        "quiero saber si puedo cobrar el paro", "¿y si no tengo papeles?", "no",
    ],
)  # fmt: skip
def test_no_correction(correcting: Correcting, text: str) -> None:
    """A question that begins like a refusal is a question."""
    assert correcting.correct(text, (ABOUT_IMV,), "es") is None


def test_nothing_to_correct(correcting: Correcting) -> None:
    """Without an answer before it, nothing is a correction."""
    assert correcting.correct("eso no es lo que pregunté", (), "es") is None
    assert correcting.correct("eso no es", (Past("hola", ReplyStatus.COMMAND, "es"),), "es") is None


def test_set_apart() -> None:
    """The refused procedure is left out where there is another one, and kept where there is nothing else."""
    hits = tuple(Hit(Passage(name, "c", "", name, "s", (), "", "es"), 1.0) for name in ("imv", "nie"))
    found = Found(Status.FOUND, "t", hits)
    assert [hit.passage.id for hit in set_apart(found, "imv").hits] == ["nie"]
    assert set_apart(found, None) is found
    alone = Found(Status.FOUND, "t", hits[:1])
    assert set_apart(alone, "imv") is alone
