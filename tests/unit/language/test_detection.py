"""Tests of deciding the language of a message."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.languages import LANGUAGES, SCRIPTS

from clara.language.detection import DEFAULT, READ, LanguageDetector, said_in
from clara.retrieval.classifier import read_classifier
from clara.settings import resources
from clara_lab.training.classifier import read_examples
from clara_lab.training.language import HELD_OUT, corpus_of, digest_of_corpus, read_others

DATA = resources() / "data"


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
    "text",
    [
        pytest.param("salam khoya, bghit nsewel 3la lwra9", id="greeting"),
        pytest.param("ch7al kayakhod empadronamiento?", id="with-a-spanish-name"),
        pytest.param("3ndi 3 drari w ma khdamch", id="digits-as-letters"),
    ],
)
def test_arabic_in_latin_letters(detector: LanguageDetector, text: str) -> None:
    """Moroccan Arabic, as people type it in Latin letters, is Arabic."""
    assert detector.detect(text) == "ar"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("vorrei sapere quanto tempo ci vuole", "es", id="italian"),
        pytest.param("wie lange muss ich darauf warten?", "en", id="german"),
        pytest.param("dama bëgga xam ñaata fan lay jël", "fr", id="wolof"),
        pytest.param("искам да знам колко време отнема", "ru", id="bulgarian"),
        pytest.param("मुझे मदद चाहिए", "es", id="devanagari"),
        pytest.param("δεν καταλαβαίνω", "es", id="greek"),
    ],
)
def test_language_that_is_not_served(detector: LanguageDetector, text: str, expected: str) -> None:
    """Who writes another language is answered in one that may be read, and in that of the conversation if there is one."""
    assert detector.detect(text) == expected
    assert detector.detect(text, "ca") == ("ru" if expected == "ru" else "ca")


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        pytest.param({"fr": 0.6, "ro": 0.4}, "fr", id="likely"),
        pytest.param({"fr": 0.4, "ro": 0.3, "pt": 0.3}, "es", id="nobody-can-tell"),
        pytest.param({"ru": 0.9, "fr": 0.1}, "fr", id="another-script-does-not-count"),
        pytest.param({"it": 0.4, "es": 0.3, "fr": 0.3}, "es", id="what-is-answered-alike-counts-together"),
        pytest.param({"xx": 0.9, "fr": 0.1}, "fr", id="unknown"),
        pytest.param({}, "es", id="nothing"),
    ],
)
def test_guess(shares: Mapping[str, float], expected: str) -> None:
    """A guess counts within the script, and when it is likelier than everything else."""
    assert LanguageDetector(SCRIPTS, lambda _text: shares, {"it": "es"}).detect("tres palabras raras") == expected


@pytest.mark.parametrize(
    ("shares", "expected"),
    [({"uk": 0.3, "ru": 0.1, "es": 0.6}, "uk"), ({"es": 1.0}, "ru"), ({"uk": 0.2, "ru": 0.2}, "ru"), ({}, "ru")],
)
def test_guess_in_cyrillic(shares: Mapping[str, float], expected: str) -> None:
    """Cyrillic letters are Ukrainian or Russian, never Spanish."""
    assert LanguageDetector(SCRIPTS, lambda _text: shares, {}).detect("слово") == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ch7al 3ndi f 12/03/2026", "ch7al 3ndi f  "),
        ("mail: ana_92@example.org, NIE Y1234567X", "mail:  , NIE  "),
        ("https://sede.gob.es/x 1.234,56 €", "    €"),
        ("a" * 700, "a" * READ),
    ],
)
def test_what_has_a_language(text: str, said: str) -> None:
    """Links, addresses, numbers and codes are not read; a word with a digit in it is."""
    assert said_in(text) == said


def test_the_model_was_trained_on_the_texts_of_today() -> None:
    """Questions, examples, phrases or words have not changed since the training: `python -m clara_lab.training.language`."""
    about = read_classifier(DATA / "detection" / "model.npz").about
    others = read_others(DATA)
    assert about["trained_on"] == digest_of_corpus(corpus_of(DATA, others))
    assert about["answered_in"] == others.answered_in
    assert set(about["classes"]) == {*LANGUAGES, *others.texts} - {"zh"}


def test_the_model_does_not_know_who_judges_it() -> None:
    """What the authors who are held out wrote is not among the examples."""
    learned = {text.casefold() for texts in corpus_of(DATA, read_others(DATA)).values() for text in texts}
    held = [one.text for one in read_examples(DATA / "danger" / "examples") if one.author in HELD_OUT]
    assert len(held) > 1000
    assert not learned.intersection(text.casefold() for text in held)


@given(st.text(), st.none() | st.sampled_from(LANGUAGES))
def test_anything(detector: LanguageDetector, text: str, previous: str | None) -> None:
    """Any text has a served language, and one without letters has that of the conversation or Spanish."""
    language = detector.detect(text, previous)
    assert language in LANGUAGES
    if not any(character.isalpha() for character in text):
        assert language == (previous or DEFAULT)


def test_a_late_language_takes_no_word_away() -> None:
    """What another has said before stays the other's word in short messages; what it alone has is its own."""
    said = {"pt": ["onde", "quero"], "gl": ["onde", "quero", "unha"], "es": ["donde", "quiero"]}
    scripts = dict.fromkeys(said, "latin")
    detector = LanguageDetector(scripts, lambda _text: {}, {}, phrases=said, late=("gl",))
    assert [detector.detect(text, "es") for text in ("onde", "quero", "unha")] == ["pt", "pt", "gl"]
