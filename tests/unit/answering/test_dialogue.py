"""Tests of the steps that know the conversation, together and in their order."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.languages import LANGUAGES

from clara.answering.dialogue.phrasebook import PhraseKind, read_phrasebooks
from clara.answering.dialogue.steps import Dialogue
from clara.answering.message import MAX_REPLY, Message, Past, Reply, ReplyStatus, Turn
from clara.answering.texts import Texts
from clara.answering.tool_factory import build_detector, build_dialogue
from clara.data_files import DataError
from clara.retrieval.classifier import read_classifier
from clara.settings import resources

ABOUT_IMV = Past("¿cuánto se cobra de IMV?", ReplyStatus.ANSWERED, "es", "imv")
WHICH = Past("cuánto dan de la ayuda", ReplyStatus.CLARIFIED, "es", options=("subsidio_desempleo", "prestacion_desempleo"))


@pytest.fixture(scope="module")
def dialogue(real: object, texts: Texts) -> Dialogue:
    """The real steps."""
    return build_dialogue(real, texts, None)


def through(dialogue: Dialogue, text: str, past: tuple[Past, ...] = (), language: str = "es") -> Turn | Reply:
    """Take a message through the steps, as the journey does."""
    outcome: Turn | Reply = Turn(Message(text), question=text, asked=text, language=language, past=past)
    for step in (dialogue.choose, dialogue.obey, dialogue.correct, dialogue.follow_up):
        if isinstance(outcome, Reply):
            return outcome
        outcome = step(outcome)
    return outcome


@pytest.mark.parametrize("language", LANGUAGES)
def test_menu(dialogue: Dialogue, language: str) -> None:
    """The menu numbers topics, a topic its procedures; both fit one message, and a number chooses what it stands beside."""
    word = dialogue.listing.texts.by_language[language].commands["menu"][0]
    menu = through(dialogue, word, language=language)
    assert isinstance(menu, Reply)
    assert len(menu.text) <= MAX_REPLY
    shown = Past(word, menu.status, language, options=menu.options)
    met = []
    for number, topic in enumerate(menu.options, 1):
        title = dialogue.listing.called(topic, language)
        assert f"\n{number}. {title}\n" in f"{menu.text}\n"
        listed = through(dialogue, str(number), (shown,), language)
        assert isinstance(listed, Reply)
        assert listed.options == dialogue.listing.menu.topics[topic]
        assert len(listed.text) <= MAX_REPLY
        assert through(dialogue, title, (shown,), language).options == listed.options
        beside = Past(str(number), listed.status, language, options=listed.options)
        for place, option in enumerate(listed.options, 1):
            name = dialogue.listing.names[option][language]
            assert f"\n{place}. {name}\n" in f"{listed.text}\n"
            assert through(dialogue, str(place), (beside, shown), language).asked == name
        met += listed.options
    assert sorted(met) == sorted(dialogue.listing.names)


@pytest.mark.parametrize(("said", "topic"), [("vivienda", "menu_housing"), ("la de salud por favor", "menu_health")])
def test_topic_by_its_words(dialogue: Dialogue, said: str, topic: str) -> None:
    """Words that stand in the title of one topic alone choose it; words of two choose none."""
    shown = Past("menú", ReplyStatus.COMMAND, "es", options=dialogue.listing.menu.options)
    assert through(dialogue, said, (shown,)).options == dialogue.listing.menu.topics[topic]
    assert isinstance(through(dialogue, "de", (shown,)), Turn)


def test_choice_joins_the_question(dialogue: Dialogue, real: object) -> None:
    """The chosen procedure is asked about what was asked before Clara asked back."""
    turn = through(dialogue, "2", (WHICH,))
    assert turn.asked == f"{real.names['prestacion_desempleo']['es']}: {WHICH.question}"


def test_several_are_chosen(dialogue: Dialogue, real: object) -> None:
    """Who takes both gets what was asked about each, in the order said."""
    turn = through(dialogue, "2 y 1", (WHICH,))
    asked = [f"{real.names[name]['es']}: {WHICH.question}" for name in ("prestacion_desempleo", "subsidio_desempleo")]
    assert (list(turn.parts), list(turn.parts.values()), turn.asked) == ([*reversed(WHICH.options)], asked, asked[0])


@pytest.mark.parametrize(("text", "past", "name"), [("ninguna de esas", (WHICH,), "none_of_these"), ("2", (), "no_list")])
def test_nothing_is_chosen(dialogue: Dialogue, text: str, past: tuple[Past, ...], name: str) -> None:
    """Who means nothing of a list, or sends a number without one, is told what to write instead."""
    reply = through(dialogue, text, past)
    begins = dialogue.listing.texts.by_language["es"].texts[name][:20]
    assert (reply.status, reply.options) == (ReplyStatus.COMMAND, ())
    assert reply.text.startswith(begins)


@pytest.mark.parametrize(
    ("text", "preferred", "language"),
    [
        ("in english please", "es", "en"), ("¿Puede ser en inglés?", "es", "en"), ("et en français ?", "es", "fr"),
        ("espanol porfa", "ar", "es"), ("بالعربية من فضلك", "es", "ar"), ("l3arbiya", "ar", "ar"), ("请说中文", "es", "zh"),
        ("по-русски пожалуйста", "uk", "ru"), ("українською", "ru", "uk"), ("em português", "es", "pt"), ("româna", "es", "ro"),
        ("en galego", "es", "gl"), ("parla'm en català", "es", "ca"), ("SPANISH", "en", "es"),
    ],
)  # fmt: skip
def test_language_named(dialogue: Dialogue, text: str, preferred: str, language: str) -> None:
    """Who asks for a language, in whatever one, is understood to want that one."""
    assert dialogue.commands.recognise(text, preferred) == ("language", language)


def test_another_language(dialogue: Dialogue) -> None:
    """What was asked last is asked again, to be answered in the language wished; so is what follows; a wish is no question."""
    again = through(dialogue, "in english please", (ABOUT_IMV,))
    assert (again.asked, again.language, again.asked_in) == (ABOUT_IMV.question, "en", "es")
    wish = Past("in english please", ReplyStatus.ANSWERED, "en", "imv")
    assert (dialogue.wished((ABOUT_IMV,)), dialogue.wished((wish, ABOUT_IMV))) == ("", "en")
    french = through(dialogue, "et en français ?", (wish, ABOUT_IMV))
    assert (french.asked, french.language) == (ABOUT_IMV.question, "fr")
    chosen = through(dialogue, "english", (Past("2", ReplyStatus.ANSWERED, "es", "nie"), WHICH))
    assert chosen.asked == dialogue.listing.names["nie"]["en"]
    greeted = through(dialogue, "english")
    assert isinstance(greeted, Reply)
    assert (greeted.status, greeted.language) == (ReplyStatus.COMMAND, "en")


NOTHING = Past("soy de perú", ReplyStatus.NOT_FOUND, "es")
HELPED = Past("me pega", ReplyStatus.URGENT, "es", danger=("violence", "minor"))


@pytest.mark.parametrize(
    ("text", "past", "subject"),
    [
        pytest.param("¿sale en la factura?", (HELPED,), "violencia_genero_urgencias", id="helped"),
        pytest.param("¿sale en la factura?", (HELPED, ABOUT_IMV), "violencia_genero_urgencias", id="helped-in-another-matter"),
        pytest.param("¿sale en la factura?", (ABOUT_IMV, HELPED), "imv", id="another-matter-since"),
        pytest.param("¿cómo pido el IMV?", (HELPED,), "", id="names-another"),
        pytest.param("¿y ahora?", (NOTHING, ABOUT_IMV), "imv", id="nothing-was-found"),
        pytest.param("¿y ahora?", (replace(HELPED, danger=("suicide",)),), "", id="no-procedure-goes-on-from-it"),
        pytest.param("¿sale en la factura?", (replace(HELPED, age=3600.0),), "", id="long-ago"),
    ],
)
def test_running_subject(dialogue: Dialogue, text: str, past: tuple[Past, ...], subject: str) -> None:
    """What was spoken of last is the subject; who was just told whom to call goes on about her danger."""
    assert dialogue.running(Turn(Message(text), question=text, asked=text, language="es", past=past)) == subject


def test_number_outside_the_list(dialogue: Dialogue) -> None:
    """A number that is none of the list's gets the list again."""
    reply = through(dialogue, "5", (WHICH,))
    assert (reply.status, reply.options) == (ReplyStatus.CLARIFIED, WHICH.options)


def test_correction_without_news(dialogue: Dialogue) -> None:
    """After a bare refusal Clara asks which other procedure was meant, and a number answers with the first question."""
    reply = through(dialogue, "eso no es lo que pregunté", (ABOUT_IMV,))
    assert reply.status is ReplyStatus.CLARIFIED
    assert "imv" not in reply.options
    asked_back = Past("eso no es lo que pregunté", reply.status, "es", options=reply.options)
    turn = through(dialogue, "la primera", (asked_back, ABOUT_IMV))
    assert turn.asked == f"{dialogue.listing.names[reply.options[0]]['es']}: cuanto se cobra"


def test_second_correction_offers_others(dialogue: Dialogue) -> None:
    """What was refused already is not offered again."""
    first = through(dialogue, "no es eso", (ABOUT_IMV,))
    asked_back = Past("no es eso", first.status, "es", options=first.options)
    second = through(dialogue, "no es eso", (asked_back, ABOUT_IMV))
    assert not set(first.options) & set(second.options)


def test_correction_with_news(dialogue: Dialogue) -> None:
    """A correction that says what is meant goes on to the search, without the procedure that was not meant."""
    turn = through(dialogue, "no, me refiero al NIE", (ABOUT_IMV,))
    assert (turn.asked, turn.corrected, turn.apart) == ("NIE: cuanto se cobra", True, "imv")


def test_person_for_a_procedure(dialogue: Dialogue, texts: Texts) -> None:
    """Who wants a person is told who is responsible for what was spoken of, and its contact facts with their sources."""
    reply = through(dialogue, "quiero hablar con una persona", (ABOUT_IMV,))
    assert reply.status is ReplyStatus.COMMAND
    assert texts.say("es", "human_default") in reply.text
    assert "900 20 22 22" in reply.text
    assert {citation.document_id for citation in reply.citations} == {"imv"}
    assert len(reply.text) <= MAX_REPLY


def test_person_for_a_place(dialogue: Dialogue) -> None:
    """The contact facts are those of the place that the person names."""
    wish, said = "quiero hablar con alguien sobre el certificado de empadronamiento en {place}", "el teléfono 010"
    assert said in through(dialogue, wish.format(place="Barcelona")).text
    assert said not in through(dialogue, wish.format(place="Oviedo")).text


def test_person_of_the_operator(real: object, texts: Texts) -> None:
    """The operator's own contact is told where one is set."""
    reply = through(build_dialogue(real, texts, "Ana, 600 000 000"), "una persona")
    assert "Ana, 600 000 000" in reply.text


def test_first_contact_gets_the_menu(dialogue: Dialogue) -> None:
    """The notice of the first contact is the greeting, so that a first greeting gets the topics."""
    reply = dialogue.obey(Turn(Message("hola"), first_contact=True, question="hola"))
    assert reply.options


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("hola, ¿cómo pido el NIE?", "¿cómo pido el NIE?"),
        ("Buenas tardes señorita, y cuánto tarda", "y cuánto tarda"),
        ("你好，请问要多久", "要多久"),
        ("c qui le président", "c qui le président"),
        ("hola", "hola"),
    ],
)
def test_uncourteous(dialogue: Dialogue, text: str, rest: str) -> None:
    """Greetings before a question are taken off to understand it; a greeting alone stays."""
    assert dialogue.commands.uncourteous(text, "es") == rest


def test_greeting_and_follow_up(dialogue: Dialogue) -> None:
    """A follow-up behind a greeting is still one."""
    assert "mínimo vital" in through(dialogue, "hola buenas, ¿y cuánto tarda?", (ABOUT_IMV,)).asked


def test_without_past_nothing_changes(dialogue: Dialogue) -> None:
    """Without a past no question of the evaluation is changed, and none is taken for a command."""
    changed = []
    for name in ("development", "queries"):
        for line in (resources() / "eval" / "clara" / f"{name}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            outcome = through(dialogue, case["query"], (), case["language"])
            if isinstance(outcome, Reply) or outcome.asked != case["query"]:
                changed.append(case["query"])
    assert changed == []


@pytest.mark.parametrize(
    ("text", "previous", "language"),
    [
        ("ok?", "fr", "fr"), ("?", "en", "en"), ("IMV", "ro", "ro"), ("NIE TIE IMV", "en", "en"), ("Madrid", "en", "en"),
        ("https://sede.gob.es/x", "en", "en"), ("arraigo social Barcelona", "en", "en"), ("modelo 790 012", "zh", "zh"),
        ("and for my wife?", "es", "en"), ("et combien ça coûte ?", "es", "fr"), ("oui", "es", "fr"),
        ("e quanto custa?", "es", "pt"),
        ("și cât costă?", "es", "ro"), ("i quant triga?", "es", "ca"), ("а скільки чекати?", "ru", "uk"),
        ("¿dónde?", "fr", "es"), ("а сколько ждать?", "uk", "ru"), ("no, me refiero al NIE", "fr", "es"),
        ("так", None, "uk"), ("так", "ru", "ru"), ("да", None, "ru"),
    ],
)  # fmt: skip
def test_language_of_short_messages(real: object, texts: Texts, text: str, previous: str | None, language: str) -> None:
    """A change of language is noticed; what is said alike in every language keeps that of the conversation.

    A first message that looks like two languages is of the one that says it.
    """
    model = read_classifier(resources() / "data" / "detection" / "model.npz")
    assert build_detector(real, texts, model).detect(text, previous) == language


def test_phrasebooks_complete(data: Path) -> None:
    """Every language has every kind of phrase, and numbers from one to ten."""
    books = read_phrasebooks(data)
    assert tuple(books) == LANGUAGES
    for language, book in books.items():
        kinds = {
            PhraseKind(kind) for entries in (book.following, book.correcting) for of in entries.entries.values() for kind in of
        }
        assert kinds == set(PhraseKind), language
        assert set(range(1, 11)) <= set(book.numbers.values()), language


def test_phrasebook_faults(data: Path, tmp_path: Path) -> None:
    """Every fault of every file is named at once."""
    for part in ("languages", "schema"):
        shutil.copytree(data / part, tmp_path / part)
    spanish = json.loads((tmp_path / "languages" / "es" / "following.json").read_text("utf-8"))
    del spanish["asks"]
    (tmp_path / "languages" / "es" / "following.json").write_text(json.dumps(spanish), "utf-8")
    (tmp_path / "languages" / "uk" / "following.json").unlink()
    with pytest.raises(DataError) as caught:
        read_phrasebooks(tmp_path)
    assert {fault.file for fault in caught.value.faults} == {"languages/es/following.json", "languages/uk/following.json"}
