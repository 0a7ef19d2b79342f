"""Tests of one message from what a person wrote to the reply."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.languages import LANGUAGES
from unit_builders import hit_of

from clara.answering.journey import (
    EVIDENCE,
    MAX_QUESTION,
    MAX_REPLY,
    STEPS,
    JourneyUnfinishedError,
    Tools,
    converse,
    find,
    follow,
    read,
    write,
)
from clara.answering.message import Message, Reply, ReplyStatus, Turn, after
from clara.language.tokens import says_something
from clara.retrieval.passage import Found, Hit, Passage, Query, Retrieve, Status

QUESTION = "¿Cuánto tarda el NIE?"
FOUND = Found(Status.FOUND, "pgvector", (hit_of("nie-plazos-01"), hit_of("nie-plazos-02", 0.9, "Otra cosa.")))
ToolsWith = Callable[..., Tools]


def always(found: Found) -> Retrieve:
    """Make a retriever that finds this."""
    return lambda _query: found


def refuse(_query: Query) -> Found:
    """Fail when anything is looked for."""
    raise AssertionError("nothing should be looked for")


def test_answer(tools_with: ToolsWith) -> None:
    """A question with evidence is answered in its language, with the tier, the facts and their citations."""
    reply = converse(Message(QUESTION), tools_with(always(FOUND)))
    assert (reply.status, reply.language, reply.tier) == (ReplyStatus.ANSWERED, "es", "pgvector")
    assert "La cita dura diez minutos. [C1]" in reply.text
    assert [citation.passage_id for citation in reply.citations] == ["nie-plazos-01", "nie-plazos-02"]


def test_what_is_looked_for(tools_with: ToolsWith) -> None:
    """The cleaned question is looked for in Clara's corpus, with its language and the number of passages wanted."""
    seen: list[Query] = []

    def retrieve(query: Query) -> Found:
        seen.append(query)
        return FOUND

    converse(Message("  how   much is\nthe\x00 NIE "), tools_with(retrieve))
    assert seen == [Query("how much is the NIE", "clara", "en", EVIDENCE)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("status", "name"),
    [
        pytest.param(Status.NOT_FOUND, "not_found", id="not-found"),
        pytest.param(Status.OUTAGE, "outage", id="outage"),
    ],
)
def test_no_evidence(tools_with: ToolsWith, language: str, status: Status, name: str) -> None:
    """Not knowing and not being able to look are told apart, without citing anything, in the person's language."""
    tools = tools_with(always(Found(status, "directory_fallback", (hit_of(score=0.0),))))
    reply = converse(Message("NIE"), tools, previous_language=language)
    assert (reply.status, reply.language, reply.citations) == (ReplyStatus(name), language, ())
    assert reply.text == tools.say(language, name)


def test_written_in_other_letters(tools_with: ToolsWith) -> None:
    """Who writes Arabic in Latin letters is told once, in them, how to get another language, and gets it from then on."""
    tools = tools_with(always(FOUND))
    note = tools.texts.by_language["ar"].transliterated
    asked = "bghit na3ref chhal kayaa5od imv"
    first = converse(Message(asked), tools)
    assert (first.language, first.text.count(note)) == ("ar", 1)
    past = after((), asked, first)
    assert note not in converse(Message("w ch7al d lwe9t"), tools, past=past, previous_language="ar").text
    french = converse(Message("français"), tools, past=past, previous_language="ar")
    assert (french.status, french.language) == (ReplyStatus.ANSWERED, "fr")
    further = converse(Message(asked), tools, past=after(past, "français", french), previous_language="fr")
    assert (further.language, note in further.text) == ("fr", False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_degraded(tools_with: ToolsWith, language: str) -> None:
    """An answer that was found while a tier was out begins with a note on that; other answers do not have it."""
    tools = tools_with(always(Found(Status.FOUND, "json_fallback", FOUND.hits, outages=("pgvector",))))
    note = tools.say(language, "degraded")
    reply = converse(Message("NIE"), tools, previous_language=language)
    assert reply.status is ReplyStatus.ANSWERED
    assert reply.text.startswith(f"{note}\n\n")
    assert note not in converse(Message("NIE"), tools_with(always(FOUND)), previous_language=language).text


@pytest.mark.parametrize("text", ["hola", "menú", "gracias", QUESTION, "👍", None, "¿quién ganó la liga?"])
def test_first_contact(tools_with: ToolsWith, text: str | None) -> None:
    """The first reply begins with the notice who Clara is, once, and later replies do not have it."""
    tools = tools_with()
    notice = tools.say("es", "first_contact")
    first = converse(Message(text), tools, first_contact=True)
    assert first.text.startswith(f"{notice}\n\n")
    assert first.text.count(notice) == 1
    assert notice not in converse(Message(text), tools).text


@pytest.mark.parametrize(
    ("text", "language"),
    [
        pytest.param("hola", "es", id="es"),
        pytest.param("hello", "en", id="en"),
        pytest.param("bonjour", "fr", id="fr"),
        pytest.param("مرحبا", "ar", id="ar"),
        pytest.param("bună ziua", "ro", id="ro"),
        pytest.param("bon dia", "ca", id="ca"),
        pytest.param("你好", "zh", id="zh"),
        pytest.param("привіт", "uk", id="uk"),
        pytest.param("привет", "ru", id="ru"),
    ],
)
def test_greeting(tools_with: ToolsWith, text: str, language: str) -> None:
    """A greeting is returned in its language; at the first contact the notice greets and the menu follows."""
    tools = tools_with(refuse)
    later = converse(Message(text), tools)
    assert (later.text, later.status, later.language) == (tools.say(language, "greeting"), ReplyStatus.COMMAND, language)
    first = converse(Message(text), tools, first_contact=True)
    menu = tools.dialogue.listing.reply("menu", tools.dialogue.listing.menu.options, language, ReplyStatus.COMMAND)
    assert first.text.startswith(tools.texts.say(language, "first_contact", human="").strip())
    assert first.text.endswith(f"\n\n{menu.text}")
    assert first.options == menu.options


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param("ayuda", "help", id="help"),
        pytest.param("¡Muchas gracias!", "thanks", id="thanks"),
        pytest.param("adiós", "goodbye", id="goodbye"),
        pytest.param("quiero hablar con una persona", "human", id="human"),
    ],
)
def test_commands(tools_with: ToolsWith, text: str, name: str) -> None:
    """A command is obeyed without looking for anything."""
    tools = tools_with(refuse)
    reply = converse(Message(text), tools)
    assert (reply.text, reply.status, reply.tier) == (tools.say("es", name), ReplyStatus.COMMAND, None)


def test_command_in_another_language(tools_with: ToolsWith) -> None:
    """A command in another language than the conversation is answered in its own."""
    reply = converse(Message("merci"), tools_with(refuse), previous_language="es")
    assert (reply.status, reply.language) == (ReplyStatus.COMMAND, "fr")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("message", "name"),
    [
        pytest.param(Message(None), "voice_note", id="no-text-at-all"),
        pytest.param(Message(None, ("audio/ogg",)), "voice_note", id="voice-note"),
        pytest.param(Message("", ("audio/ogg",)), "voice_note", id="voice-note-with-blank-text"),
        pytest.param(Message("", ("image/jpeg",)), "media", id="picture"),
        pytest.param(Message(None, ("image/jpeg",)), "media", id="picture-without-text"),
        pytest.param(Message("", ("application/pdf", "image/png")), "media", id="two-documents"),
        pytest.param(Message("", ("location/coordinates",)), "media", id="location"),
        pytest.param(Message("🙏", ("image/jpeg",)), "media", id="picture-with-emoji"),
        pytest.param(Message(""), "media", id="blank"),
        pytest.param(Message("😀🙏"), "no_words", id="emoji"),
        pytest.param(Message("¿?!…"), "no_words", id="signs"),
        pytest.param(Message("600123"), "no_words", id="digits"),
        pytest.param(Message("9" * 4_096), "no_words", id="many-digits"),
        pytest.param(Message("a" * 4_096), "no_words", id="one-letter"),
        pytest.param(Message("jajajaja 😀"), "no_words", id="laughing"),
        pytest.param(Message("x"), "no_words", id="a-letter"),
    ],
)
def test_unreadable(tools_with: ToolsWith, language: str, message: Message, name: str) -> None:
    """What holds no words gets its own kind answer in the language of the conversation, and nothing is looked for."""
    tools = tools_with(refuse)
    reply = converse(message, tools, previous_language=language)
    assert (reply.text, reply.status, reply.language) == (tools.say(language, name), ReplyStatus.UNREADABLE, language)


@pytest.mark.parametrize("text", ["mamá", "ok", "no", "bebé", "好", "Привет 你好 hola", "palabra" * 585])
def test_few_letters(text: str) -> None:
    """Short words of few letters are words, and so is whatever has more letters, however strange."""
    assert says_something(text)


@pytest.mark.parametrize("media", ["image/jpeg", "audio/ogg", "location/coordinates"])
def test_media_with_a_question(tools_with: ToolsWith, media: str) -> None:
    """A question that comes with a picture, a voice note or a place is answered."""
    assert converse(Message(QUESTION, (media,)), tools_with(always(FOUND))).status is ReplyStatus.ANSWERED


def test_long_message(tools_with: ToolsWith) -> None:
    """Of a very long message only the beginning is read, and the reply says so."""
    seen: list[Query] = []

    def retrieve(query: Query) -> Found:
        seen.append(query)
        return FOUND

    tools = tools_with(retrieve)
    reply = converse(Message((QUESTION + " ") * 500), tools, first_contact=True)
    assert len((QUESTION + " ") * 500) > 10_000
    assert len(seen[-1].text) == MAX_QUESTION
    assert tools.say("es", "shortened") in reply.text
    assert len(reply.text) <= MAX_REPLY


@pytest.mark.parametrize(
    ("length", "shortened"),
    [pytest.param(MAX_QUESTION, False, id="just-fits"), pytest.param(MAX_QUESTION + 1, True, id="one-more")],
)
def test_shortened(tools_with: ToolsWith, length: int, shortened: bool) -> None:
    """The note on a shortened message is there exactly when something was cut off."""
    tools = tools_with(always(FOUND))
    reply = converse(Message(("nie " * length)[: length - 1] + "e"), tools, previous_language="es")
    assert (tools.say(reply.language, "shortened") in reply.text) is shortened


@pytest.mark.parametrize(
    ("text", "shortened"),
    [
        pytest.param(QUESTION + " " * 9_000 + "¿Y la TIE?", True, id="words-beyond-8000-blanks"),
        pytest.param("\x00" * 8_000 + QUESTION, True, id="words-beyond-8000-nuls"),
        pytest.param(QUESTION + " " * (4 * MAX_QUESTION - len(QUESTION)), False, id="8000-mostly-blank"),
        pytest.param((QUESTION + " " * 7_000 + "¿Y la TIE?"), False, id="words-before-8000"),
    ],
)
def test_shortened_far_away(tools_with: ToolsWith, text: str, shortened: bool) -> None:
    """What was cut off counts even where the part that was read has become short."""
    turn = read(Turn(Message(text)), tools_with(refuse))
    assert len(turn.question) < MAX_QUESTION
    assert turn.shortened is shortened


def test_shortened_far_away_is_said(tools_with: ToolsWith) -> None:
    """A question followed by 9,000 blanks and another question is answered with the note on the shortened message."""
    tools = tools_with(always(FOUND))
    reply = converse(Message(QUESTION + " " * 9_000 + "¿Y la TIE?"), tools)
    assert reply.status is ReplyStatus.ANSWERED
    assert reply.text.startswith(f"{tools.say('es', 'shortened')}\n\n")


@pytest.mark.parametrize("contact", [pytest.param(None, id="no-contact"), pytest.param("x" * 200, id="longest-contact")])
def test_every_note_at_once(tools_with: ToolsWith, real: Any, contact: str | None) -> None:
    """Whatever was found: first contact, place, shortened, degraded and facts together fit one message in every language."""
    by_document: dict[str, list[Passage]] = {}
    for passage in sorted(real.passages, key=lambda passage: -len(passage.text)):
        by_document.setdefault(passage.document_id, []).append(passage)
    for passages in by_document.values():
        hits = tuple(Hit(passage, 1.0) for passage in passages[:EVIDENCE])
        tools = tools_with(always(Found(Status.FOUND, "json_fallback", hits, outages=("pgvector",))), human_contact=contact)
        for language in LANGUAGES:
            turn = Turn(Message("x"), None, True, question="en Sevilla", asked="en Sevilla", shortened=True, language=language)
            reply = follow(turn, tools, (find, write))
            assert len(reply.text) <= MAX_REPLY
            assert reply.text.startswith(tools.say(language, "first_contact"))
            assert reply.citations


def test_notes_go_where_there_is_no_room(tools_with: ToolsWith) -> None:
    """A fact that barely fits costs the notes, the least important first, never what Clara is."""
    seen: set[tuple[str, ...]] = set()
    for size in range(200, 1_200, 10):
        hit = hit_of("nie-plazos-01", text="x" * size)
        tools = tools_with(always(Found(Status.FOUND, "json_fallback", (hit,), outages=("pgvector",))))
        turn = Turn(Message("x"), None, True, question="en Sevilla", asked="en Sevilla", shortened=True)
        text = follow(turn, tools, (find, write)).text
        notes = {
            "place": tools.texts.say("es", "level_state", place="Sevilla"),
            "shortened": tools.say("es", "shortened"),
            "degraded": tools.say("es", "degraded"),
        }
        assert text.startswith(tools.texts.say("es", "first_contact", human="").strip())
        assert len(text) <= MAX_REPLY or not any(note in text for note in notes.values())
        seen.add(tuple(name for name, note in notes.items() if note in text))
    assert seen == {("place", "shortened", "degraded"), ("place", "shortened"), ("place",), ()}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\x00b", "a b", id="nul"),
        pytest.param("NIE \ud83d\ude00 \udfff", "NIE ?? ?", id="lone-surrogates"),
        pytest.param("  ¿cuánto\n\ttarda? ", "¿cuánto tarda?", id="blanks"),
        pytest.param("ＮＩＥ", "NIE", id="full-width"),
        pytest.param("cua\u0301nto", "cuánto", id="separate-accent"),
        pytest.param(None, "", id="no-text"),
    ],
)
def test_read(tools_with: ToolsWith, text: str | None, expected: str) -> None:
    """The question is the text without anything that a database or a model could trip over."""
    turn = read(Turn(Message(text)), tools_with(refuse))
    assert (turn.question, turn.shortened) == (expected, False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\x00", id="nul"),
        pytest.param("NIE\x00\x00cuánto", id="nul-between"),
        pytest.param("\ud800", id="lone-surrogate"),
        pytest.param("NIE \udc00\ud800", id="surrogates-the-wrong-way-round"),
        pytest.param("\ufdfa" * 200, id="200-ligatures"),
        pytest.param("\u202e\u200b\u200d\ufeff", id="invisible"),
        pytest.param("{human} {0} %s", id="placeholders"),
        pytest.param("'; drop table passages; --", id="sql"),
        pytest.param("é" * 10_000, id="10000-characters"),
        pytest.param(" " * 10_000, id="10000-blanks"),
        pytest.param("a\u0301" * 5_000, id="5000-accents"),
        pytest.param("1" * 5_000, id="5000-digits"),
    ],
)
def test_hostile(tools_with: ToolsWith, text: str) -> None:
    """A hostile text gets a reply like any other, which can be stored and sent."""
    reply = converse(Message(text), tools_with(), first_contact=True)
    assert 0 < len(reply.text) <= MAX_REPLY
    assert "\x00" not in reply.text
    assert reply.text.encode("utf-8")


@settings(max_examples=100)
@given(
    st.none() | st.text() | st.text(st.characters()) | st.sampled_from(["NIE ", "la TIE ", "cobrar el paro "]).flatmap(
        lambda start: st.text().map(lambda rest: start + rest)
    ),
    st.lists(st.sampled_from(["image/jpeg", "audio/ogg", "", "/", "location/coordinates"]), max_size=3),
    st.booleans(),
    st.none() | st.sampled_from(LANGUAGES),
)  # fmt: skip
def test_anything(tools_with: ToolsWith, text: str | None, media: list[str], first_contact: bool, previous: str | None) -> None:
    """Any message at all gets a reply in a served language, of at most 1,600 characters, cited exactly when it answers."""
    reply = follow(Turn(Message(text, tuple(media)), previous, first_contact), tools_with())
    assert reply.language in LANGUAGES
    assert 0 < len(reply.text) <= MAX_REPLY
    assert bool(reply.citations) is (reply.status is ReplyStatus.ANSWERED)


@given(st.text(st.characters(exclude_categories=[])), st.integers(1, 400))
def test_read_anything(tools_with: ToolsWith, text: str, times: int) -> None:
    """Whatever was written, the question is short, can be encoded, and has no NUL and no double blank."""
    question = read(Turn(Message(text * times)), tools_with(refuse)).question
    assert len(question) <= MAX_QUESTION
    assert "\x00" not in question
    assert "  " not in question
    assert question.encode("utf-8").decode("utf-8") == question


def test_timings(tools_with: ToolsWith) -> None:
    """The reply has the time of each step, of the stages inside the retrieval, and the total, which counts no time twice."""
    found = Found(Status.FOUND, "pgvector", FOUND.hits, timings_ms={"embed": 5.0, "search": 7.0})
    timings = converse(Message(QUESTION), tools_with(always(found))).timings_ms
    steps = [step.__name__ for step in STEPS]
    assert set(timings) == {*steps, "embed", "search", "total"}
    assert (timings["embed"], timings["search"]) == (5.0, 7.0)
    assert timings["total"] == pytest.approx(sum(timings[step] for step in steps))


@pytest.mark.parametrize(
    ("text", "last"),
    [
        pytest.param("hola", "obey_command", id="command"),
        pytest.param("…", "refuse_unreadable", id="unreadable"),
        pytest.param("¿quién ganó la liga?", "tell_apart", id="miss"),
    ],
)
def test_timings_of_a_shorter_journey(tools_with: ToolsWith, text: str, last: str) -> None:
    """Whatever the reply, the total is the time of the steps that ran, and no other step is timed."""
    timings = dict(converse(Message(text), tools_with()).timings_ms)
    total = timings.pop("total")
    assert list(timings)[-1] == last
    assert total == pytest.approx(sum(timings.values()))


def test_first_reply_ends_the_journey(tools_with: ToolsWith) -> None:
    """The steps run in order, each on what the one before it made, and those after a reply do not run."""
    ran: list[str] = []

    def first(turn: Turn, _tools: Tools) -> Turn:
        ran.append("first")
        return Turn(turn.message, question="from the first", asked="from the first")

    def second(turn: Turn, _tools: Tools) -> Reply:
        ran.append("second")
        return Reply(turn.question, ReplyStatus.COMMAND, "es")

    def third(_turn: Turn, _tools: Tools) -> Reply:
        raise AssertionError("the journey had ended")

    assert follow(Turn(Message("x")), tools_with(refuse), (first, second, third)).text == "from the first"
    assert ran == ["first", "second"]


@pytest.mark.parametrize("steps", [pytest.param((), id="none"), pytest.param((read, find), id="none-that-replies")])
def test_steps_without_a_reply(tools_with: ToolsWith, steps: tuple[Callable[..., Turn], ...]) -> None:
    """Steps that end without a reply are a fault of the program and are told as one."""
    with pytest.raises(JourneyUnfinishedError):
        follow(Turn(Message("x")), tools_with(always(FOUND)), steps)


@pytest.mark.parametrize(
    ("text", "status", "document"),
    [
        pytest.param("¿Cuánto cuesta el NIE?", ReplyStatus.ANSWERED, "nie", id="es"),
        pytest.param("how much is the minimum vital income", ReplyStatus.ANSWERED, "imv", id="en"),
        pytest.param("пособие по безработице", ReplyStatus.ANSWERED, "prestacion_desempleo", id="ru"),
        pytest.param("NIE要多少钱", ReplyStatus.ANSWERED, "nie", id="zh"),
        pytest.param("no paro de toser", ReplyStatus.NOT_FOUND, None, id="lookalike"),
        pytest.param("¿quién ganó la liga?", ReplyStatus.OUT_OF_SCOPE, None, id="off-topic"),
    ],
)
def test_real_chain(tools_with: ToolsWith, text: str, status: ReplyStatus, document: str | None) -> None:
    """On the real data, without database and model, named procedures are answered and everything else is declined."""
    reply = converse(Message(text), tools_with())
    assert reply.status is status
    assert {citation.document_id for citation in reply.citations} == ({document} if document else set())
