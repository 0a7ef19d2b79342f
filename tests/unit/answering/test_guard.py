"""Tests of danger in a conversation: what was heard before, the one gentle question, and help above other replies."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.languages import LANGUAGES

from clara.answering.message import Message, Past, Reply, ReplyStatus, Turn
from clara.answering.privacy.wishes import read_wishes
from clara.answering.safety.danger import CALM, Alarm, AlarmLevel, Danger, DangerKind, Help
from clara.answering.safety.guard import OPTIONS, Guard
from clara.answering.texts import Texts, read_texts

HINT = Alarm(AlarmLevel.HINT, (DangerKind.SUICIDE,))
LIKELY = Alarm(AlarmLevel.LIKELY, (DangerKind.SUICIDE,))
SURE = Alarm(AlarmLevel.SURE, (DangerKind.VIOLENCE,))
STORIES = {
    f"{'story ' * 60}and can I?": AlarmLevel.LIKELY,
    f"{'story ' * 58}can I?": AlarmLevel.SURE,
    f"{'story ' * 70}and nothing is asked": AlarmLevel.SURE,
}
HOPELESS = f"{'story ' * 70}and can I?"
HEARD = {
    **dict.fromkeys(STORIES, SURE),
    HOPELESS: Alarm(AlarmLevel.SURE, (DangerKind.VIOLENCE, DangerKind.SUICIDE)),
    "calm": CALM,
    "hint": HINT,
    "likely": LIKELY,
    "sure": SURE,
    "likely\nlikely": Alarm(AlarmLevel.LIKELY, (DangerKind.TRAFFICKING,)),
    "part\nhint": LIKELY,
    f"{'long ' * 120}\nhint": Alarm(AlarmLevel.LIKELY, (DangerKind.DETENTION,)),  # 600 characters of what was said before
    "dying": Alarm(AlarmLevel.LIKELY, (DangerKind.EMERGENCY, DangerKind.SUICIDE)),
    "likely\ndying": Alarm(AlarmLevel.LIKELY, (DangerKind.EVICTION,)),
}


class Scripted(Danger):
    """Hears in a text what the text names."""

    def __init__(self, helps: Mapping[str, Help]) -> None:
        object.__setattr__(self, "helps", helps)

    def hear(self, text: str, vector: object = None, told: object = ()) -> Alarm:
        del vector, told
        return HEARD.get(text, CALM)

    def phrased(self, text: str) -> Alarm:
        return CALM


@pytest.fixture(scope="module")
def texts(data: Path) -> Texts:
    return read_texts(data)


@pytest.fixture(scope="module")
def guard(data: Path, texts: Texts) -> Guard:
    helps = {
        language: Help({kind: f"whole {kind}" for kind in DangerKind}, {kind: f"line {kind}" for kind in DangerKind})
        for language in LANGUAGES
    }
    return Guard(Scripted(helps), read_wishes(data), texts)


def turn(text: str, *past: Past) -> Turn:
    return Turn(Message(text), question=text, past=past)


def said(text: str, status: ReplyStatus = ReplyStatus.ANSWERED, options: tuple[str, ...] = (), age: float = 60) -> Past:
    told = ("violence",) if status is ReplyStatus.URGENT else ()
    return Past(text, status, "es", options=options, age=age, danger=told)


def heard(guard: Guard, text: str, *past: Past) -> Alarm:
    """Give what is heard in a message that is not answered at once."""
    watched = guard.watch(turn(text, *past))
    assert isinstance(watched, Turn)
    return watched.alarm


def test_who_is_surely_in_danger_is_answered_at_once(guard: Guard) -> None:
    """The reply is help, in the person's language; its trace names kinds and not a word of the message."""
    reply = guard.watch(turn("sure"))
    assert reply == Reply("whole violence", ReplyStatus.URGENT, "es", trace={"danger": ["violence"], "level": "sure"})


@pytest.mark.parametrize(("text", "level"), STORIES.items(), ids=["asks", "short", "asks-nothing"])
def test_a_story_with_a_question_is_answered_below_the_help(guard: Guard, text: str, level: AlarmLevel) -> None:
    """What the model hears in a long story that asks something leaves room for the answer; help stands first either way."""
    watched = guard.watch(turn(text))
    if level is AlarmLevel.SURE:
        assert isinstance(watched, Reply)
        assert watched.text == "whole violence"
    else:
        assert isinstance(watched, Turn)
        assert guard.above(watched, "es").startswith("line violence")


def test_who_may_want_to_die_is_answered_with_help_alone(guard: Guard) -> None:
    """However long the story is, and whatever it asks: no procedure stands below that help."""
    assert isinstance(guard.watch(turn(HOPELESS)), Reply)


def test_a_wish_beside_danger_is_heard_too(guard: Guard) -> None:
    """Who fears that somebody reads what she wrote: help stands above the answer to her wish, and does not replace it."""
    watched = guard.watch(turn("sure"), lambda _turn: True)
    assert isinstance(watched, Turn)
    assert watched.alarm == Alarm(AlarmLevel.LIKELY, (DangerKind.VIOLENCE,))


def test_who_is_likely_in_danger_reads_help_above_the_reply(guard: Guard) -> None:
    """The lines name whom to call, always with the number for emergencies; a hint and a calm text get none."""
    watched = guard.watch(turn("likely"))
    assert isinstance(watched, Turn)
    assert guard.above(watched, "es") == "line suicide\nline emergency\n\n"
    assert guard.trace(watched.alarm) == {"danger": ["suicide"], "level": "likely"}
    for text in ("hint", "calm"):
        passed = guard.watch(turn(text))
        assert isinstance(passed, Turn)
        assert (guard.above(passed, "es"), guard.trace(passed.alarm)) == ("", {})


@pytest.mark.parametrize(
    ("past", "now", "level"),
    [
        ([said("sure", ReplyStatus.URGENT)], "calm", AlarmLevel.LIKELY),
        ([said("sure", ReplyStatus.URGENT, age=4_000)], "calm", AlarmLevel.REST),
        ([said("calm"), said("sure", ReplyStatus.URGENT)], "calm", AlarmLevel.LIKELY),
        ([said("calm"), said("calm"), said("sure", ReplyStatus.URGENT)], "calm", AlarmLevel.REST),
        ([said("hint")], "hint", AlarmLevel.HINT),
        ([said("hint"), said("hint")], "hint", AlarmLevel.LIKELY),
        ([said("hint"), said("hint")], "calm", AlarmLevel.REST),
        ([said("calm"), said("hint"), said("hint")], "hint", AlarmLevel.HINT),
    ],
)
def test_what_was_said_before_counts(guard: Guard, past: list[Past], now: str, level: AlarmLevel) -> None:
    """Danger in the message before, and three hints in a row; not what was said an hour ago."""
    assert heard(guard, now, *past).level is level


def test_what_was_told_stays_what_it_was(guard: Guard) -> None:
    """The help that was told stays, whatever is heard next; where danger is heard again, it goes on."""
    before = said("sure", ReplyStatus.URGENT)
    assert heard(guard, "calm", before) == Alarm(AlarmLevel.LIKELY, (DangerKind.VIOLENCE,))
    assert heard(guard, "likely", before) == Alarm(AlarmLevel.SURE, (DangerKind.SUICIDE, DangerKind.VIOLENCE))
    reply = guard.watch(turn("sure", replace(before, danger=("minor",))))
    assert isinstance(reply, Reply)
    assert reply.trace["danger"] == ["violence", "minor"]


def test_a_message_is_read_with_what_was_said_before(guard: Guard) -> None:
    """The story says what kind it is, and may say it where no message does."""
    assert heard(guard, "likely", said("likely")).kinds == (DangerKind.TRAFFICKING, DangerKind.SUICIDE)
    assert heard(guard, "dying", said("likely")).kinds == (DangerKind.EMERGENCY, DangerKind.EVICTION, DangerKind.SUICIDE)
    assert heard(guard, "hint", said("part")) == LIKELY
    assert guard.trace(HINT) == {}
    assert guard.trace(HINT, asks=True) == {"danger": [], "level": "hint"}
    assert heard(guard, "hint", said("calm", age=4_000)) == HINT
    assert heard(guard, "hint", said("long " * 500)) == Alarm(AlarmLevel.LIKELY, (DangerKind.DETENTION,))


def test_kinds_of_another_release_are_passed_over(guard: Guard) -> None:
    """A row of a release that knew other kinds ends no turn."""
    before = replace(said("sure", ReplyStatus.URGENT), danger=("flood", "minor"))
    assert heard(guard, "calm", before).kinds == (DangerKind.MINOR,)
    assert heard(guard, "calm", replace(before, danger=("flood",))).kinds == (DangerKind.EMERGENCY,)


@pytest.mark.parametrize("status", [ReplyStatus.NOT_FOUND, ReplyStatus.OUT_OF_SCOPE])
def test_no_door_is_shut_on_who_may_be_in_danger(guard: Guard, status: ReplyStatus) -> None:
    """Beside the lines a kind word; all of the help where danger goes on; an answer stays what it is."""
    shut, answered = Reply("none of my matters", status, "es"), Reply("an answer", ReplyStatus.ANSWERED, "es")
    told = said("sure", ReplyStatus.URGENT)
    for message, past, text in (
        ("calm", (), "none of my matters"),
        ("hint", (), "none of my matters"),
        ("likely", (), "Sigo aquí"),
        ("calm", (told,), "Sigo aquí"),
        ("likely", (told,), "whole suicide"),
    ):
        watched = guard.watch(turn(message, *past))
        assert isinstance(watched, Turn)
        assert text in guard.beside(watched, shut).text
        assert guard.beside(watched, answered) == answered


def test_the_question_is_asked_in_a_conversation_and_never_twice(guard: Guard) -> None:
    """Not at the first message, nor when it or something else was asked. What is offered below an answer asks nothing."""
    due = {
        (): False,
        (said("hint"),): True,
        (said("calm"),): True,
        (said("hint", age=4_000),): False,
        (said("hint", options=OPTIONS),): False,
        (said("hint"), said("calm", options=OPTIONS)): False,
        (said("hint", ReplyStatus.CLARIFIED, options=("nie", "tie")),): False,
        (said("hint", options=("nie", "tie")),): True,
    }
    for past, asked in due.items():
        watched = guard.watch(turn("hint", *past))
        assert isinstance(watched, Turn)
        assert guard.asks(watched) is asked, past
        assert guard.asks(watched, Reply("Which one?", ReplyStatus.CLARIFIED, "es", options=("nie", "tie"))) is False


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        ("sí", ReplyStatus.URGENT, "whole suicide"),
        ("no", ReplyStatus.CALMED, "112"),
        ("yes", ReplyStatus.URGENT, "whole suicide"),
        ("sí, una mica", ReplyStatus.URGENT, "whole suicide"),
    ],
)
def test_the_answer_to_the_question(guard: Guard, answer: str, status: ReplyStatus, text: str) -> None:
    """Yes is danger, of the kind that was hinted at; no is believed, with the number all the same."""
    reply = guard.watch(turn(answer, said("hint", options=OPTIONS), said("hint")))
    assert isinstance(reply, Reply)
    assert reply.status is status
    assert text in reply.text


def test_another_message_than_an_answer_goes_on(guard: Guard) -> None:
    """Who does not answer the question is heard as ever."""
    assert heard(guard, "calm", said("hint", options=OPTIONS)) == CALM
    assert isinstance(guard.watch(turn("sure", said("hint", options=OPTIONS))), Reply)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_question_and_its_answer_are_short_and_say_the_number(texts: Texts, language: str) -> None:
    """One question of one line; who says no still reads the number for emergencies."""
    question, declined = texts.say(language, "danger_question"), texts.say(language, "danger_declined")
    assert len(question) <= 160
    assert question.count("?") + question.count("？") + question.count("؟") <= 1
    assert "112" in declined
    assert "112" in texts.say(language, "help", human="")
