"""Tests of deciding the language of a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clara.conversation.language import DEFAULT, LanguageDetector
from clara.conversation.texts import LANGUAGES


class FixedIdentifier:
    """Guesses always the same and notes what it was asked."""

    def __init__(self, guess: str | None) -> None:
        self.asked: list[str] = []
        self._guess = guess

    def identify(self, text: str) -> str | None:
        """Guess."""
        self.asked.append(text)
        return self._guess


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("es", "si", id="es-si"),
        pytest.param("es", "ok", id="es-ok"),
        pytest.param("es", "cuanto se cobra del imv", id="es-no-accents"),
        pytest.param("es", "necesito cita", id="es-two-words"),
        pytest.param("es", "donde pido el NIE", id="es-acronym"),
        pytest.param("es", "mi hijo tiene discapacidad", id="es-child"),
        pytest.param("es", "ME HE QUEDADO SIN TRABAJO", id="es-capitals"),
        pytest.param("en", "hello", id="en-hello"),
        pytest.param("en", "how much is the rent help", id="en-rent"),
        pytest.param("en", "I need a lawyer", id="en-lawyer"),
        pytest.param("en", "where can I get my card", id="en-card"),
        pytest.param("en", "what documents do I need", id="en-documents"),
        pytest.param("fr", "bonjour", id="fr-hello"),
        pytest.param("fr", "je veux le RSA", id="fr-acronym"),
        pytest.param("fr", "combien de temps ça prend", id="fr-time"),
        pytest.param("fr", "où dois-je aller", id="fr-where"),
        pytest.param("fr", "je cherche un avocat gratuit", id="fr-lawyer"),
        pytest.param("ar", "مرحبا", id="ar-hello"),
        pytest.param("ar", "كم المبلغ", id="ar-amount"),
        pytest.param("ar", "أين أقدم الطلب", id="ar-where"),
        pytest.param("ar", "NIE كيف أحصل على", id="ar-acronym"),
        pytest.param("ro", "bună ziua", id="ro-hello"),
        pytest.param("ro", "cât durează", id="ro-time"),
        pytest.param("ro", "am nevoie de ajutor pentru chirie", id="ro-rent"),
        pytest.param("ro", "vreau sa ma inregistrez la primarie", id="ro-no-marks"),
        pytest.param("pt", "quanto tempo demora", id="pt-time"),
        pytest.param("pt", "onde faço o pedido", id="pt-where"),
        pytest.param("pt", "preciso de ajuda para pagar o aluguel", id="pt-rent"),
        pytest.param("pt", "não tenho trabalho", id="pt-work"),
        pytest.param("ca", "quant es cobra", id="ca-amount"),
        pytest.param("ca", "on puc demanar-ho", id="ca-where"),
        pytest.param("ca", "necessito ajuda per pagar el lloguer", id="ca-rent"),
        pytest.param("ca", "vull empadronar-me", id="ca-register"),
        pytest.param("zh", "你好", id="zh-hello"),
        pytest.param("zh", "怎么申请", id="zh-apply"),
        pytest.param("zh", "我想申请NIE", id="zh-acronym"),
        pytest.param("zh", "certificado de discapacidad 怎么申请呢请问", id="zh-spanish-name"),
        pytest.param("ar", "كيف أحصل على certificado de discapacidad", id="ar-spanish-name"),
        pytest.param("ru", "какие льготы даёт certificado de discapacidad", id="ru-spanish-name"),
        pytest.param("uk", "які пільги дає certificado de discapacidad", id="uk-spanish-name"),
        pytest.param("es", "¿cómo se dice certificado de discapacidad, 残疾?", id="es-with-two-ideographs"),
        pytest.param("uk", "привіт", id="uk-hello"),
        pytest.param("uk", "скільки це коштує", id="uk-cost"),
        pytest.param("uk", "де отримати документи", id="uk-no-telling-letter"),
        pytest.param("uk", "я втратила роботу", id="uk-work"),
        pytest.param("uk", "так", id="uk-yes"),
        pytest.param("uk", "дякую", id="uk-thanks"),
        pytest.param("ru", "привет", id="ru-hello"),
        pytest.param("ru", "сколько это стоит", id="ru-cost"),
        pytest.param("ru", "где получить документы", id="ru-documents"),
        pytest.param("ru", "мне нужна помощь", id="ru-help"),
        pytest.param("ru", "да", id="ru-yes"),
        pytest.param("ru", "спасибо", id="ru-thanks"),
        pytest.param("es", "da", id="da-alone-tells-nothing"),
        pytest.param("es", "👍👍", id="emoji-only"),
        pytest.param("es", "1234", id="digits-only"),
        pytest.param("es", "", id="empty"),
    ],
)
def test_first_message(detector: LanguageDetector, expected: str, text: str) -> None:
    """The first message of a conversation is in the language a person would say, and in Spanish when nobody could tell."""
    assert detector.detect(text) == expected


@pytest.mark.parametrize(
    ("text", "previous"),
    [
        pytest.param("si", "ca", id="si-ca"),
        pytest.param("si", "fr", id="si-fr"),
        pytest.param("sí", "en", id="si-accent-en"),
        pytest.param("ok", "uk", id="ok-uk"),
        pytest.param("ok", "zh", id="ok-zh"),
        pytest.param("da", "ro", id="da-ro"),
        pytest.param("no", "fr", id="no-fr"),
        pytest.param("да", "uk", id="cyrillic-yes-uk"),
        pytest.param("👍", "ar", id="emoji-ar"),
        pytest.param("12/03/1990", "pt", id="date-pt"),
        pytest.param("", "ru", id="empty-ru"),
        pytest.param("NIE", "en", id="acronym-en"),
        pytest.param("TIE", "zh", id="acronym-zh"),
        pytest.param("Madrid", "uk", id="city-uk"),
    ],
)
def test_sticky(detector: LanguageDetector, text: str, previous: str) -> None:
    """A message that tells nothing stays in the language of the conversation."""
    assert detector.detect(text, previous) == previous


@pytest.mark.parametrize(
    ("text", "previous", "expected"),
    [
        pytest.param("hello", "es", "en", id="one-telling-word"),
        pytest.param("ok, thank you", "es", "en", id="telling-words"),
        pytest.param("gracias", "en", "es", id="back-to-spanish"),
        pytest.param("دعم", "es", "ar", id="script-arabic"),
        pytest.param("谢谢", "fr", "zh", id="script-chinese"),
        pytest.param("привіт", "ru", "uk", id="ukrainian-letter"),
        pytest.param("это", "uk", "ru", id="russian-letter"),
        pytest.param("je voudrais savoir comment faire la demande", "es", "fr", id="sentence"),
    ],
)
def test_change_of_language(detector: LanguageDetector, text: str, previous: str, expected: str) -> None:
    """A message that clearly is in another language changes the language of the conversation."""
    assert detector.detect(text, previous) == expected


@pytest.mark.parametrize(
    ("text", "guess", "expected"),
    [
        pytest.param("tres palabras raras", "ro", "ro", id="guess-of-three-words-counts"),
        pytest.param("dos palabras", "ro", "es", id="guess-of-two-words-does-not"),
        pytest.param("tres palabras raras", "ru", "es", id="guess-in-another-script-does-not"),
        pytest.param("tres palabras raras", None, "es", id="no-guess"),
        pytest.param("слово", "uk", "uk", id="cyrillic-word-is-guessed"),
        pytest.param("слово", "es", "ru", id="cyrillic-is-never-spanish"),
        pytest.param("слово", None, "ru", id="cyrillic-without-guess"),
    ],
)
def test_guess(text: str, guess: str | None, expected: str) -> None:
    """The statistical guess counts only for more than two words or for Cyrillic, and only within the script."""
    assert LanguageDetector({}, FixedIdentifier(guess)).detect(text) == expected


def test_telling_words_come_before_the_guess() -> None:
    """Words that reveal a language decide without any guess; a draw between languages leaves it to the guess."""
    identifier = FixedIdentifier("pt")
    detect = LanguageDetector({"fr": ["où"], "ro": ["unde", "mult"]}, identifier).detect
    assert detect("dis moi où aller") == "fr"
    assert detect("où unde mult") == "ro"
    assert identifier.asked == []
    assert detect("où unde vamos") == "pt"


@given(st.text(), st.none() | st.sampled_from(LANGUAGES))
def test_anything(detector: LanguageDetector, text: str, previous: str | None) -> None:
    """Any text has a served language, and one without letters has that of the conversation or Spanish."""
    language = detector.detect(text, previous)
    assert language in LANGUAGES
    if not any(character.isalpha() for character in text):
        assert language == (previous or DEFAULT)
