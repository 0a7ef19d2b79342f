"""Tests of choosing by number, word or name."""

import pytest

from clara.answering.dialogue.choices import Choosing
from clara.answering.message import Past, ReplyStatus
from clara.answering.texts import Texts
from clara.answering.tool_factory import build_dialogue

OFFERED = Past("una ayuda", ReplyStatus.CLARIFIED, "es", options=("imv", "subsidio_desempleo", "nie"))


@pytest.fixture(scope="module")
def choosing(real: object, texts: Texts) -> Choosing:
    """The real choosing."""
    return build_dialogue(real, texts, None).choosing


@pytest.mark.parametrize(
    ("language", "text", "place"),
    [
        ("es", "1", 1), ("es", "2.", 2), ("es", "opcion 2", 2), ("es", "la segunda", 2), ("es", "el 3", 3), ("es", "2️⃣", 2),
        ("es", "nº 2", 2), ("es", "1º", 1), ("es", "la última", -1), ("es", "quiero la opción número 2 por favor", 2),
        ("en", "the second", 2), ("en", "2nd one please", 2), ("en", "the last one", -1), ("en", "one", 1),
        ("fr", "la deuxième", 2), ("ro", "a doua", 2), ("pt", "a segunda opção", 2), ("ca", "la segona", 2),
        ("ar", "٢", 2), ("ar", "الثاني", 2), ("ar", "رقم ٣", 3), ("zh", "第二个", 2), ("zh", "二十三", 23), ("zh", "2号", 2),
        ("uk", "другий", 2), ("uk", "п'ять", 5), ("ru", "вторая", 2), ("ru", "номер 3", 3),
    ],
)  # fmt: skip
def test_number(choosing: Choosing, language: str, text: str, place: int) -> None:
    """A number is understood in figures of any script, in words and in order."""
    assert choosing.places(text, language) == (place,)


@pytest.mark.parametrize("text", ["2 hijos", "tengo 2", "el NIE", "hola", "", "👍", "¿cuánto tarda la segunda entrevista?"])
def test_no_number(choosing: Choosing, text: str) -> None:
    """A message that says more than a number is none."""
    assert choosing.places(text, "es") == ()


def test_chooses(choosing: Choosing) -> None:
    """A number gives the option; one outside the list gives none but is a choice; a name among the options counts too."""
    assert choosing.choose("la segunda", (OFFERED,), "es").chosen == ("subsidio_desempleo",)
    assert choosing.choose("el 9", (OFFERED,), "es").chosen == ()
    assert choosing.choose("0", (OFFERED,), "es").chosen == ()
    assert choosing.choose("el NIE", (OFFERED,), "es").chosen == ("nie",)
    assert choosing.choose("¿Cuánto cuesta el NIE si lo pido desde fuera de España?", (OFFERED,), "es") is None


def test_later_numbers(choosing: Choosing) -> None:
    """A list stays there for the next number when the last reply offered nothing else; words no longer choose from it."""
    past = (Past("1", ReplyStatus.ANSWERED, "es", "imv"), OFFERED)
    assert choosing.choose("3", past, "es").chosen == ("nie",)
    assert choosing.choose("el NIE", past, "es") is None


@pytest.mark.parametrize(
    ("language", "text", "chosen"),
    [
        ("es", "1 y 3", ("imv", "nie")), ("es", "la tercera y la primera", ("nie", "imv")), ("es", "las tres", OFFERED.options),
        ("en", "1 and 2", ("imv", "subsidio_desempleo")), ("en", "all of them please", OFFERED.options),
        ("fr", "1 et 3", ("imv", "nie")), ("ar", "١ و ٣", ("imv", "nie")), ("ro", "1 și 3", ("imv", "nie")),
        ("pt", "1 e 3", ("imv", "nie")), ("ca", "1 i 3", ("imv", "nie")), ("zh", "1和3", ("imv", "nie")),
        ("uk", "1 і 3", ("imv", "nie")), ("ru", "1 и 3", ("imv", "nie")), ("gl", "1 e 3", ("imv", "nie")),
        ("ru", "все", OFFERED.options),
        ("es", "1 y 9", ()), ("es", "1,1", ("imv",)),
    ],
)  # fmt: skip
def test_several(choosing: Choosing, language: str, text: str, chosen: tuple[str, ...]) -> None:
    """Several numbers, or all, are chosen in the order said; one that is not in the list makes the whole choice unclear."""
    choice = choosing.choose(text, (OFFERED,), language)
    assert choice is not None
    assert (choice.chosen, choice.declined) == (chosen, False)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "ninguna"), ("es", "ninguna de esas"), ("en", "none of them"), ("fr", "aucun des deux"), ("ar", "ولا واحدة"),
        ("ro", "niciuna dintre ele"), ("pt", "nenhuma delas"), ("ca", "cap d'aquestes"), ("zh", "都不是"),
        ("uk", "жоден з них"), ("ru", "ни один из них"), ("gl", "ningunha delas"), ("en", "ninguna"),
    ],
)  # fmt: skip
def test_declined(choosing: Choosing, language: str, text: str) -> None:
    """Who means nothing of the list says so, in any language; it is only heard just after the list."""
    choice = choosing.choose(text, (OFFERED,), language)
    assert choice is not None
    assert (choice.chosen, choice.declined) == ((), True)
    assert choosing.choose(text, (Past("1", ReplyStatus.ANSWERED, "es", "imv"), OFFERED), language) is None


@pytest.mark.parametrize(
    ("text", "unlisted"), [("2", True), ("٢", True), ("la segunda", True), ("2026", False), ("2 hijos", False), ("hola", False)]
)
def test_number_without_a_list(choosing: Choosing, text: str, unlisted: bool) -> None:
    """A bare number with no list before it is told apart from years and from what says more."""
    assert choosing.unlisted(text, (), "es") is unlisted
    assert choosing.unlisted(text, (OFFERED,), "es") is False


def test_nothing_offered(choosing: Choosing) -> None:
    """Without a list, or with an old one, a number is no choice."""
    old = Past("una ayuda", ReplyStatus.CLARIFIED, "es", options=("imv",), age=7_200)
    assert choosing.choose("1", (), "es") is None
    assert choosing.choose("1", (old,), "es") is None


@pytest.mark.parametrize("text", ["👍", "sí", "yes", "是的", "نعم", "да"])
def test_agrees(choosing: Choosing, text: str) -> None:
    """The only option is taken by agreeing; of several none is."""
    only = Past("una ayuda", ReplyStatus.CLARIFIED, "es", options=("imv",))
    assert choosing.choose(text, (only,), "es").chosen == ("imv",)
    assert choosing.choose(text, (OFFERED,), "es") is None


@pytest.mark.parametrize(
    ("status", "option"),
    [
        pytest.param(ReplyStatus.CLARIFIED, "nie", id="asked-back"),
        pytest.param(ReplyStatus.NOT_FOUND, "nie", id="below-a-refusal"),
        pytest.param(ReplyStatus.ANSWERED, None, id="below-an-answer"),
    ],
)
def test_ok_agrees_to_what_was_asked(choosing: Choosing, status: ReplyStatus, option: str | None) -> None:
    """Who says "ok" to an answer has read it, and does not want what else might have been meant; a number still chooses."""
    past = (Past("¿y el número?", status, "es", options=("nie",)),)
    choice = choosing.choose("ok", past, "es")
    assert (choice.chosen if choice else ()) == ((option,) if option else ())
    assert choosing.choose("1", past, "es").chosen == ("nie",)
