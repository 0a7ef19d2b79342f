"""What people wish about themselves and of the last answer: what is understood, what is only asked about, and what is said."""

import json
import re
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.languages import LANGUAGES

from clara.answering.message import Act, Message, Past, Reply, ReplyStatus, Turn
from clara.answering.privacy.rights import (
    ADDRESS_HOURS,
    GUESSED,
    OPTIONS,
    TEXT_DAYS,
    Known,
    Rated,
    Rights,
    Satisfaction,
)
from clara.answering.privacy.wishes import Wish, Wishes, read_wishes
from clara.answering.safety.danger import Alarm, AlarmLevel, DangerKind
from clara.answering.texts import Texts
from clara.data_files import DataError
from clara.retrieval.classifier import TextClassifier
from clara.retrieval.ports import Vector

ALL = (Wish.ERASE, Wish.CONFIRM, Wish.EXPORT, Wish.DO_NOT_REMEMBER, Wish.REMEMBER, Wish.STOP, Wish.DOUBT)
# What the fixed texts tell people to write, and what it must do.
TOLD = {
    "first_contact": {Wish.ERASE},
    "rights_kept": {Wish.ERASE},
    "rights_stop": {Wish.ERASE},
    "rights_unknown": {Wish.ERASE},
    "rights_known": {Wish.ERASE},
    "rights_nothing": {Wish.ERASE},
    "rights_do_not_remember": {Wish.ERASE, Wish.REMEMBER},
    "rights_remember": {Wish.DO_NOT_REMEMBER},
    "rights_memory_on": {Wish.DO_NOT_REMEMBER},
    "rights_memory_off": {Wish.REMEMBER},
    "rights_doubt": {Wish.CONFIRM, None},
}


@pytest.fixture(scope="module")
def wishes(data: Path) -> Wishes:
    return read_wishes(data)


class Deaf(TextClassifier):
    """A model that hears a wish only in "zzz"."""

    def __init__(self) -> None:
        self.about = {"asks_from": {"grams": 0.5, "full": 0.9}}

    def shares(self, text: str, vector: Vector | None = None) -> dict[str, float]:
        return {Wish.ERASE: 0.8 if "zzz" in text else 0.1}


@pytest.fixture(scope="module")
def rights(wishes: Wishes, texts: Texts) -> Rights:
    return Rights(wishes, texts, Deaf())


def turn(text: str, language: str = "es", *past: Past) -> Turn:
    return Turn(Message(text), question=text, language=language, past=past)


def answered(outcome: Turn | Reply) -> Reply:
    assert isinstance(outcome, Reply)
    assert outcome.status in {ReplyStatus.RIGHTS, ReplyStatus.FEEDBACK}
    return outcome


@pytest.mark.parametrize(
    ("text", "language", "wish"),
    [
        ("OLVÍDAME!!", "es", Wish.ERASE),
        ("Tengo miedo de que mi marido lo vea. Borra todo lo que te he contado", "es", Wish.ERASE),
        ("borra mis datos porque ya no uso esto", "es", Wish.ERASE),
        ("请删除我的所有数据", "zh", Wish.ERASE),
        ("Estoy en ASNEF. Borra mis datos.", "es", Wish.DOUBT),
        ("¿cómo puedo borrar mis datos?", "es", Wish.DOUBT),
        ("Borra mis datos. ¿Y cuánto tarda el NIE?", "es", Wish.DOUBT),
        ("borra este mensaje", "es", Wish.DOUBT),
        ("no quiero que guardes mis datos", "es", Wish.DO_NOT_REMEMBER),
        ("stop", "ru", Wish.STOP),
        ("no borres mis datos", "es", None),
        ("olvídalo", "es", None),
        ("olvida mi pregunta", "es", None),
        ("ты меня забыла?", "ru", None),
        ("borra mis datos del padrón", "es", None),
        ("j'oublie mon numéro", "fr", None),
        ("我忘了我的电话号码", "zh", None),
        ("", "es", None),
        ("👍", "es", None),
        ("borra mis datos " * 30, "es", None),
    ],
)
def test_what_is_understood(wishes: Wishes, text: str, language: str, wish: Wish | None) -> None:
    """A wish alone is one; with more around it, it is a doubt; denied, of others or of the past it is none."""
    recognised = wishes.recognise(text, language, ALL)
    assert (recognised[0] if recognised else None) == wish


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_people_are_told_to_write_works(wishes: Wishes, texts: Texts, language: str) -> None:
    """Every word that a text puts in bold does what the text says."""
    for name, meant in TOLD.items():
        bold = re.findall(r"\*([^*]+)\*", texts.by_language[language].texts[name])
        understood = [wishes.recognise(word, language, ALL) for word in bold]
        assert {found[0] if found else None for found in understood} == meant, (name, bold)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_doubt_is_settled_by_one_word(rights: Rights, texts: Texts, language: str) -> None:
    """The question offers yes and no; either in its own words, a number, or a plain yes is enough, and only then."""
    yes, no = re.findall(r"\*([^*]+)\*", texts.say(language, "rights_doubt"))
    asked = Past("", ReplyStatus.RIGHTS, language, options=OPTIONS)
    for word in (yes, "1"):
        assert answered(rights.answer(turn(word, language, asked))).act is Act.ERASE
    for word in (no, "2"):
        kept = answered(rights.answer(turn(word, language, asked)))
        assert (kept.act, kept.text) == (None, texts.say(language, "rights_kept"))
    assert isinstance(rights.answer(turn("1", language)), Turn)
    assert isinstance(rights.answer(turn(no, language)), Turn)
    assert answered(rights.answer(turn(yes, language))).act is Act.ERASE


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_kept_is_listed(rights: Rights, texts: Texts, language: str) -> None:
    """In short, with how long it is kept; who was never answered before hears that too, and an outage is said."""
    question = {"es": "¿qué sabes de mí?", "zh": "你知道我什么", "ar": "ماذا تعرف عني"}.get(
        language, "what do you know about me"
    )
    known = Known(12, 7, date(2026, 11, 1), date(2026, 11, 21), ("es", "ar"), 2)
    text = answered(rights.answer(turn(question, language), lambda: known)).text
    assert all(figure in text for figure in ("12", "7", "es, ar", "2", str(TEXT_DAYS), str(ADDRESS_HOURS)))
    assert len(text) < 700
    first = answered(rights.answer(turn(question, language), Known)).text
    assert str(TEXT_DAYS) in first
    assert "None" not in first
    assert answered(rights.answer(turn(question, language))).text not in {text, first}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_notice_says_how_long(texts: Texts, language: str) -> None:
    """The first contact names the times that upkeep keeps to."""
    notice = texts.by_language[language].texts["first_contact"]
    assert str(TEXT_DAYS) in notice
    assert str(ADDRESS_HOURS) in notice


def test_choices_are_handed_on(rights: Rights) -> None:
    """Memory is chosen by an act; to be left alone needs none, because nobody is written to unasked."""
    assert answered(rights.answer(turn("sin memoria"))).act is Act.DO_NOT_REMEMBER
    assert answered(rights.answer(turn("activa la memoria"))).act is Act.REMEMBER
    assert answered(rights.answer(turn("no me escribas más"))).act is None
    assert isinstance(rights.answer(turn("¿cuánto tarda el NIE?")), Turn)


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("👍🏽👍🏽", Act.HELPFUL), ("👎", Act.UNHELPFUL), ("❌", Act.WRONG), ("gracias, me sirvió", Act.HELPFUL),
        ("no me ayudó", Act.UNHELPFUL), ("eso está mal", Act.WRONG), ("that's wrong", Act.WRONG),
        ("спасибо, помогло", Act.HELPFUL), ("没有帮助", Act.UNHELPFUL),
        ("gracias", None), ("no me ayudó nadie con el NIE", None), ("¿está mal mi solicitud?", None), ("❤", None), ("sí", None),
    ],
)  # fmt: skip
def test_a_rating_is_a_whole_message(wishes: Wishes, texts: Texts, text: str, act: Act | None) -> None:
    """Thumbs and short words are ratings; thanks alone, and questions, are none."""
    outcome = Rights(wishes, texts, Deaf()).rate(turn(text), "Habla con alguien.")
    assert (outcome.act if isinstance(outcome, Reply) else None) is act


def test_a_bad_answer_leads_to_a_person(wishes: Wishes, texts: Texts) -> None:
    """Who was not helped hears how to reach a person."""
    reply = answered(Rights(wishes, texts, Deaf()).rate(turn("no me sirve"), "Habla con alguien."))
    assert reply.text.endswith("Habla con alguien.")


def test_shares_of_nothing_are_none() -> None:
    """No rating is neither good nor bad."""
    held = Satisfaction(7, Rated(), {"tier": {"pgvector": Rated(8, 3, 1, 0)}}).as_json()
    assert (held["total"]["helpful_share"], held["total"]["rated_share"]) == (None, None)
    assert (held["tier"]["pgvector"]["helpful_share"], held["tier"]["pgvector"]["rated_share"]) == (0.75, 0.5)


def test_faults_are_named(data: Path, tmp_path: Path) -> None:
    """Whatever is wrong with the phrases is said with its file."""
    for part in ("languages", "rights", "schema"):
        shutil.copytree(data / part, tmp_path / part)
    file = tmp_path / "languages" / "fr" / "rights.json"
    document: dict[str, Any] = json.loads(file.read_text("utf-8"))
    document["wishes"]["erase"]["whole"] = []
    file.write_text(json.dumps(document), "utf-8")
    with pytest.raises(DataError, match=r"languages/fr/rights\.json: \$\.wishes\.erase\.whole"):
        read_wishes(tmp_path)
    file.write_text("{", "utf-8")
    with pytest.raises(DataError, match=r"fr/rights\.json"):
        read_wishes(tmp_path)


def test_what_only_the_model_hears_is_asked_about(rights: Rights) -> None:
    """Never done, never asked twice in a row, and not in a story; the vector has a threshold of its own."""
    asked = answered(rights.ask(turn("zzz quítame de ahí")))
    assert (asked.options, asked.act) == (GUESSED, None)
    again = turn("zzz quítame de ahí", "es", Past("", ReplyStatus.RIGHTS, "es", options=GUESSED))
    assert rights.ask(again) is again
    story = turn("zzz " + "y entonces " * 60)
    assert rights.ask(story) is story
    sure = replace(rights, vector=lambda _text, _vectors: (0.1,))
    passed = turn("zzz quítame de ahí")
    assert sure.ask(passed) is passed


def test_beside_danger_only_a_plain_wish_is_asked_about(rights: Rights) -> None:
    """Who may be in danger is not asked on a guess."""
    likely = replace(turn("zzz quítame de ahí"), alarm=Alarm(AlarmLevel.LIKELY, (DangerKind.VIOLENCE,)))
    assert rights.plainly(likely)
    assert answered(rights.ask(likely)).options == GUESSED
    calm = replace(turn("hola"), alarm=Alarm(AlarmLevel.LIKELY, (DangerKind.VIOLENCE,)))
    assert not rights.plainly(calm)
    assert rights.ask(calm) is calm


@pytest.mark.parametrize(("said", "act"), [("sí", None), ("SÍ BORRAR", Act.ERASE), ("no", None)])
def test_nobody_is_forgotten_for_a_yes_to_a_guess(rights: Rights, said: str, act: Act | None) -> None:
    """Where only the model heard the wish, the words that the question names are needed."""
    reply = answered(rights.answer(turn(said, "es", Past("", ReplyStatus.RIGHTS, "es", options=GUESSED))))
    assert reply.act is act
    assert (reply.options == GUESSED) is (said == "sí")
