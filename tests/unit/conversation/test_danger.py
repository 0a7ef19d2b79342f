"""Tests of what recognises danger and says whom to call."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clara.conversation.message import Message, Reply, ReplyStatus, Turn
from clara.conversation.phrases.phrasing import PatternError, Phrasing
from clara.conversation.phrases.spelling import Spelling, plain_words
from clara.conversation.safety.danger import Kind, read_danger
from clara.conversation.texts import LANGUAGES
from clara.knowledge.faults import DataError
from clara.knowledge.hotlines import read_hotlines

DATA = Path(__file__).parents[3] / "data"
DANGER = read_danger(DATA)
# The numbers and addresses of the table, and nothing else.
LINES = read_hotlines(DATA).lines
NUMBERS = {line.digits for line in LINES}
ADDRESS = re.compile(r"[\w.-]+@[\w.-]*\w", re.ASCII)
ADDRESSES = {line.mail for line in LINES if line.mail}
# Counts that are no phone: hours a day, languages that 016 speaks.
COUNTS = {"24", "53"}
MAX_TEXT = 1_200
SAMPLE = (
    ("mi marido me pega y tengo miedo por mis hijos", Kind.VIOLENCE),
    ("quiero suicidarme esta noche", Kind.SUICIDE),
    ("my husband strangled me last night", Kind.VIOLENCE),
    ("je veux mourir aidez moi", Kind.SUICIDE),
    ("me obligan a prostituirme en un club", Kind.TRAFFICKING),
    ("il padre nu mai respiră, tata nu respiră", Kind.EMERGENCY),
    ("não quero mais viver assim", Kind.SUICIDE),
    ("el meu marit em pega cada dia", Kind.VIOLENCE),
    ("хочу покончить с собой", Kind.SUICIDE),
    ("чоловік погрожує вбити мене", Kind.VIOLENCE),
)
SAMPLE_IDS = [text[:20] for text, _ in SAMPLE]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the data folder with the rules and the schemas alone."""
    for part in ("danger", "schema"):
        shutil.copytree(DATA / part, tmp_path / part)
    shutil.copy(DATA / "hotlines.json", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("mi madre no respira", (Kind.EMERGENCY,)),
        ("me qu1ero m@tar", (Kind.SUICIDE,)),
        ("m e q u i e r o m a t a r", (Kind.SUICIDE,)),
        ("quiero mo🔪rir", (Kind.SUICIDE,)),
        ("kiero morirme no valgo pa nada", (Kind.SUICIDE,)),
        ("bghit nmout", (Kind.SUICIDE,)),
        ("3ayza amoot", (Kind.SUICIDE,)),
        ("我不想活了", (Kind.SUICIDE,)),
        ("我想殺了自己", (Kind.SUICIDE,)),
        ("a mi hermana la esta pegando su marido", (Kind.VIOLENCE,)),
        ("mañana nos desahucian", (Kind.EVICTION,)),
        ("me tienen en el CIE", (Kind.DETENTION,)),
    ],
)
def test_danger_is_recognised_however_it_is_written(text: str, kinds: tuple[Kind, ...]) -> None:
    """Signs, blanks, emojis, short messages, transliteration and traditional characters hide nothing."""
    assert DANGER.recognise(text) == kinds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "me muero de hambre, que ayudas hay",
        "me mata la burocracia",
        "tengo orden de alejamiento, ¿puedo empadronarme?",
        "trabajo en prevencion del suicidio",
        "no quiero morir",
        "I'd kill for an appointment",
        "quelles aides pour les femmes victimes de violences",
        "умираю со смеху",
        "笑死我了",
    ],
)
def test_what_only_sounds_like_danger_passes(text: str) -> None:
    """Idioms, denials and questions about rules are no cry for help."""
    assert DANGER.recognise(text) == ()


def test_the_most_urgent_kind_leads_and_the_next_ones_are_named() -> None:
    """Whoever is beaten and wants to die hears of 024 first, of 016 below it."""
    kinds = DANGER.recognise("mi marido me pega y quiero morirme")
    assert kinds == (Kind.SUICIDE, Kind.VIOLENCE)
    reply = DANGER.reply(kinds, "es")
    assert reply.index("024") < reply.index("112") < reply.index("016")


@pytest.mark.parametrize(("text", "kind"), SAMPLE, ids=SAMPLE_IDS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_small_changes_keep_the_verdict(data: st.DataObject, text: str, kind: Kind) -> None:
    """Capitals, more blanks, accents left out and one wrong letter in a long word change nothing."""
    words = text.split()
    long = [place for place, word in enumerate(words) if len(word) >= 8 and word.isalpha()]
    if long and data.draw(st.booleans()):
        place = data.draw(st.sampled_from(long))
        word = words[place]
        # Left out between two equal letters it would be two errors: doubled letters count as one.
        cuts = [cut for cut in range(2, len(word) - 1) if word[cut - 1] != word[cut + 1]]
        cut = data.draw(st.sampled_from(cuts))
        words[place] = word[:cut] + word[cut + 1 :]
    written = data.draw(st.sampled_from((" ", "  ", "\n", " \u200b "))).join(words)
    written = data.draw(st.sampled_from((str.upper, str.lower, str.title)))(written)
    if data.draw(st.booleans()):
        written = " ".join(plain_words(written))
    assert kind in DANGER.recognise(written)


@given(st.text(max_size=400))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read(text: str) -> None:
    """No text breaks the reading, and the same text always means the same."""
    assert DANGER.recognise(text) == DANGER.recognise(text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["a", "me ", "no quiero ", "m a t a r ", "杀", "1", "\u0301", "ﷺ", "mequiero"])
def test_nothing_takes_long(piece: str) -> None:
    """Two thousand characters of one piece are read to the end: nothing is tried in all combinations."""
    assert isinstance(DANGER.recognise((piece * 2_000)[:2_000]), tuple)


@pytest.mark.parametrize("language", LANGUAGES)
def test_replies_are_short_and_say_known_numbers_only(language: str) -> None:
    """Every reply fits, leads with a number or whom to ask, and has no number or address but those of the table."""
    for lead in Kind:
        reply = DANGER.reply((lead, *(kind for kind in Kind if kind is not lead)), language)
        assert len(reply) <= MAX_TEXT
        assert set(ADDRESS.findall(reply)) <= ADDRESSES
        digits = re.findall(r"\d[\d ]*\d", ADDRESS.sub("", reply))
        assert {number.replace(" ", "") for number in digits} <= NUMBERS | COUNTS
        assert "112" in reply


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_violence_and_its_like_warn_of_the_call_list(language: str) -> None:
    """Whoever is watched by somebody at home hears that a call leaves a trace."""
    warned = {kind for kind in Kind if "🔒" in DANGER.reply((kind,), language)}
    assert warned == {Kind.MINOR, Kind.VIOLENCE, Kind.TRAFFICKING}


def test_the_step_answers_danger_and_lets_others_pass() -> None:
    """The reply is urgent, in the person's language; its trace names kinds and not a word of the message."""
    turn = Turn(Message("my husband beats me"), question="my husband beats me", language="en")
    reply = DANGER.answer(turn)
    assert isinstance(reply, Reply)
    assert (reply.status, reply.language) == (ReplyStatus.URGENT, "en")
    assert reply.trace == {"danger": ["violence"]}
    calm = Turn(Message("hola"), question="hola")
    assert DANGER.answer(calm) is calm


def test_a_cry_for_help_at_the_end_of_a_long_message_is_heard() -> None:
    """What is cut off for the search is still read for danger."""
    text = "bueno pues " * 250 + "mi marido me pega"
    assert isinstance(DANGER.answer(Turn(Message(text), question=text[:2_000], shortened=True)), Reply)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda document: document.pop("idioms"), '"idioms" is a required property'),
        (lambda document: document.update(language="fr"), "must be 'es'"),
        (lambda document: document["patterns"]["suicide"].append("@nothing"), "is no list of words"),
        (lambda document: document["patterns"]["suicide"].append("?!"), "has no word"),
        (lambda document: document["texts"]["suicide"].update(line="x" * 200), "$.texts.suicide.line: is longer than 120"),
        (lambda document: document["texts"]["minor"].update(line="{line.dog}"), "$.texts.minor.line: {line.dog} is not in"),
        (lambda document: document["calm"].append("{line.emergency.mail}"), "{line.emergency.mail} is not in hotlines.json"),
    ],
)
def test_faults_are_named(folder: Path, change: Callable[[dict[str, Any]], Any], fault: str) -> None:
    """A fault is told with its file."""
    file = folder / "danger" / "es.json"
    document = json.loads(file.read_text("utf-8"))
    change(document)
    file.write_text(json.dumps(document), "utf-8")
    with pytest.raises(DataError, match=r"danger/es\.json") as error:
        read_danger(folder)
    assert fault in str(error.value)


def test_a_missing_file_is_named(folder: Path) -> None:
    """Rules without a language are no rules: danger in it would pass."""
    (folder / "danger" / "uk.json").unlink()
    with pytest.raises(DataError, match=r"danger/uk\.json: file: cannot be read"):
        read_danger(folder)
    shutil.rmtree(folder / "schema")
    with pytest.raises(DataError, match="cannot be read"):
        read_danger(folder)


def _phrasing(*patterns: str) -> Phrasing:
    return Phrasing(Spelling([], {}), {"want": ["quiero", "voy a"]}, {"it": patterns}, ["no"])


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("@want morir", "quiero ya morir", True),
        ("@want morir", "quiero que no morir", False),
        ("@want morir", "no quiero morir", False),
        ("@want ~3 mori*", "voy a acaso quizá tal morirme", True),
        ("@want ~3 mori*", "voy a acaso quizá tal vez morirme", False),
        ("no @want", "no quiero", True),
        ("tengo <5-17> + pega", "me pega y tengo 12", True),
        ("tengo <5-17> + pega", "me pega y tengo 18", False),
        ("*ahog*", "desahogo", True),
        ("suicidio ahora", "suicidoi ahora", True),
        ("suicidio", "suicidoi", False),
    ],
)
def test_patterns_mean_what_they_say(pattern: str, text: str, found: bool) -> None:
    """Gaps, denials, parts of words, numbers, parts in any order; a lone word is never guessed."""
    assert _phrasing(pattern).read(plain_words(text)).means("it") is found


@pytest.mark.parametrize("pattern", ["(a ~2 b|c)", "@no", "x + ", "(a|)"])
def test_unusable_patterns_are_refused(pattern: str) -> None:
    """A pattern that could never match as meant is a fault, not a silent hole."""
    with pytest.raises(PatternError):
        _phrasing(pattern)
