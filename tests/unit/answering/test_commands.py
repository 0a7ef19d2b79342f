"""Tests of recognising commands."""

import pytest
from tests.languages import LANGUAGES

from clara.answering.dialogue.commands import Commands
from clara.answering.texts import Texts

NAMES = ("greeting", "help", "menu", "thanks", "goodbye", "human")


@pytest.fixture(scope="module")
def commands(texts: Texts) -> Commands:
    """The real commands."""
    return Commands(texts)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_every_phrase(texts: Texts, commands: Commands, language: str, name: str) -> None:
    """Every phrase of every language gives its command in that language when the conversation is in it."""
    phrases = texts.by_language[language].commands[name]
    assert phrases
    for phrase in phrases:
        assert commands.recognise(phrase, language) == (name, language), phrase
        assert commands.recognise(f"  {phrase.upper()}!! 🙏", language) == (name, language), phrase


@pytest.mark.parametrize(
    ("text", "preferred", "expected"),
    [
        pytest.param("hola", "es", ("greeting", "es"), id="es"),
        pytest.param("HOLA!!!", "es", ("greeting", "es"), id="capitals-and-signs"),
        pytest.param("adios", "es", ("goodbye", "es"), id="no-accent"),
        pytest.param("thank you", "es", ("thanks", "en"), id="en-in-a-spanish-conversation"),
        pytest.param("merci", "es", ("thanks", "fr"), id="fr-in-a-spanish-conversation"),
        pytest.param("obrigado", "zh", ("thanks", "pt"), id="pt-in-a-chinese-conversation"),
        pytest.param("bon dia", "es", ("greeting", "ca"), id="ca-in-a-spanish-conversation"),
        pytest.param("شكرا", "es", ("thanks", "ar"), id="ar"),
        pytest.param("菜单", "es", ("menu", "zh"), id="zh"),
        pytest.param("дякую", "ru", ("thanks", "uk"), id="uk-in-a-russian-conversation"),
        pytest.param("спасибо", "uk", ("thanks", "ru"), id="ru-in-a-ukrainian-conversation"),
    ],
)
def test_recognised(commands: Commands, text: str, preferred: str, expected: tuple[str, str]) -> None:
    """A command is recognised whatever the language of the conversation, and tells its own language."""
    assert commands.recognise(text, preferred) == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_request(texts: Texts, commands: Commands, language: str) -> None:
    """Every way to ask for a language, and its every name, gets that one."""
    spoken = texts.by_language[language]
    for phrase in (*spoken.requested, *spoken.called):
        assert commands.recognise(phrase, "es") == ("language", language), phrase


@pytest.mark.parametrize("language", ["es", "en", "fr", "ca", "pt"])
def test_shared_phrase(commands: Commands, language: str) -> None:
    """A phrase that several languages share is taken in the language of the conversation."""
    assert commands.recognise("menu", language) == ("menu", language)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("hola, ¿cómo pido el NIE?", id="greeting-and-question"),
        pytest.param("gracias pero no lo entiendo", id="thanks-and-more"),
        pytest.param("hablo poco español", id="about-a-language"),
        pytest.param("mi marido es ruso", id="about-a-person"),
        pytest.param("¿hace falta el examen de español?", id="question-with-a-language"),
        pytest.param("ayuda para el alquiler", id="begins-like-help"),
        pytest.param("¿cuánto cuesta?", id="question"),
        pytest.param("si", id="yes"),
        pytest.param("👍", id="emoji"),
        pytest.param("", id="empty"),
    ],
)
@pytest.mark.parametrize("language", LANGUAGES)
def test_not_a_command(commands: Commands, text: str, language: str) -> None:
    """Only a whole message is a command: a question that begins like one is a question."""
    assert commands.recognise(text, language) is None
