"""Inbox, desk and job queue: what is stored together, what is stored once, what never goes backwards."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, text

from clara.adapters.postgres.desk import PostgresDesk
from clara.adapters.postgres.engine import open_engine
from clara.adapters.postgres.inbox import PostgresInbox, pseudonym
from clara.adapters.procrastinate.engine import TurnScheduler
from clara.conversation.message import Citation, Incoming, Reply, ReplyStatus
from clara.conversation.ports import StoreUnavailableError

KEY = "k" * 32
INCOMING = Incoming("SM1", "whatsapp", "whatsapp:+34600000001", "whatsapp:+15555550100", "¿NIE?")
REPLY = Reply(
    "una respuesta", ReplyStatus.ANSWERED, "es", "pgvector", (Citation("C1", "p", "nie", "plazos", "https://x", "2026-08"),)
)


@pytest.fixture
def engine(empty_url: str) -> Iterator[Engine]:
    made = open_engine(empty_url)
    yield made
    made.dispose()


@pytest.fixture
def inbox(engine: Engine) -> PostgresInbox:
    return PostgresInbox(engine, KEY, TurnScheduler().schedule)


def rows(engine: Engine, sql: str) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text(sql))]


def test_a_message_and_its_job_are_stored_together(engine: Engine, inbox: PostgresInbox) -> None:
    """Row and job name each other; the job is locked by the sender's pseudonym."""
    assert inbox.accept(INCOMING)
    ((number, name, body),) = rows(engine, "select id, pseudonym, body from inbox")
    assert (name, body) == (pseudonym(KEY, INCOMING.sender), "¿NIE?")
    assert rows(engine, "select args->>'inbox_id', lock, status::text from procrastinate_jobs") == [(str(number), name, "todo")]


def test_a_repeated_message_is_stored_once(engine: Engine, inbox: PostgresInbox) -> None:
    """The signed id stops replays and the channel's own retries."""
    assert [inbox.accept(INCOMING) for _ in range(3)] == [True, False, False]
    assert rows(engine, "select count(*) from inbox") == [(1,)]
    assert rows(engine, "select count(*) from procrastinate_jobs") == [(1,)]


def test_no_job_no_message(engine: Engine) -> None:
    """When the job cannot be queued, the message is not stored either, and can be sent again."""

    def broken(_connection: object, _inbox_id: int, _pseudonym: str) -> None:
        raise RuntimeError("no queue")

    with pytest.raises(RuntimeError):
        PostgresInbox(engine, KEY, broken).accept(INCOMING)
    assert rows(engine, "select count(*) from inbox") == [(0,)]


def test_a_database_that_is_away_is_named(server: object) -> None:
    """Nothing is stored and the caller is told so."""
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(StoreUnavailableError):
        PostgresInbox(engine, KEY, TurnScheduler().schedule).accept(INCOMING)
    engine.dispose()


@pytest.mark.parametrize(
    "incoming",
    [
        pytest.param(Incoming("SM2", "whatsapp", "whatsapp:US.1234567890", "w", "hola"), id="no phone number"),
        pytest.param(Incoming("SM3", "whatsapp", "w", "w", None, ("audio/ogg",)), id="voice note"),
        pytest.param(Incoming("SM4", "whatsapp", "w", "w", "a\x00b \ud800 😀"), id="what PostgreSQL cannot store"),
        pytest.param(Incoming("SM5", "whatsapp", "w", "w", "x" * 10_000), id="long"),
    ],
)
def test_any_message_can_be_stored_and_read(engine: Engine, inbox: PostgresInbox, incoming: Incoming) -> None:
    """Whatever arrives is kept and comes back as a case."""
    assert inbox.accept(incoming)
    ((number,),) = rows(engine, "select id from inbox")
    case = PostgresDesk(engine).case(number)
    assert case is not None
    assert case.first_contact
    assert case.incoming.sender == incoming.sender
    assert case.incoming.media_types == incoming.media_types
    assert (case.incoming.text is None) == (incoming.text is None)


def test_a_reply_is_recorded_once_with_its_turn(engine: Engine, inbox: PostgresInbox) -> None:
    """A second reply to the same message changes nothing; the next message knows the conversation."""
    inbox.accept(INCOMING)
    desk = PostgresDesk(engine)
    assert not desk.answered(1)
    desk.reply(1, REPLY)
    desk.reply(1, Reply("otra", ReplyStatus.NOT_FOUND, "fr"))
    assert desk.answered(1)
    assert rows(engine, "select body, status from outbox") == [("una respuesta", "pending")]
    assert rows(engine, "select language, status, tier, citations->0->>'mark' from turns") == [
        ("es", "answered", "pgvector", "C1")
    ]
    inbox.accept(Incoming("SM9", "whatsapp", INCOMING.sender, "w", "otra pregunta"))
    ((second,),) = rows(engine, "select id from inbox where message_sid = 'SM9'")
    case = desk.case(second)
    assert case is not None
    assert (case.first_contact, case.previous_language) == (False, "es")


def test_what_was_sent_no_longer_waits(engine: Engine, inbox: PostgresInbox) -> None:
    """A reply goes from our address to the person's, once."""
    inbox.accept(INCOMING)
    desk = PostgresDesk(engine)
    desk.reply(1, REPLY)
    outgoing = desk.waiting(1)
    assert outgoing is not None
    assert (outgoing.sender, outgoing.recipient) == (INCOMING.recipient, INCOMING.sender)
    desk.sent(outgoing, "SMout")
    assert desk.waiting(1) is None


@pytest.mark.parametrize("order", list(itertools.permutations(["queued", "sent", "delivered", "read"])))
def test_reports_in_any_order_end_alike(engine: Engine, inbox: PostgresInbox, order: tuple[str, ...]) -> None:
    """A late report never takes a message back; repeated ones change nothing."""
    inbox.accept(INCOMING)
    desk = PostgresDesk(engine)
    desk.reply(1, REPLY)
    outgoing = desk.waiting(1)
    assert outgoing is not None
    for status in (*order, order[0]):
        if status == order[1]:
            desk.sent(outgoing, "SMout")  # a report may be faster than our own record of the sending
        assert desk.delivery(outgoing.id, status, None)
    assert rows(engine, "select status, provider_sid from outbox") == [("read", "SMout")]


@pytest.mark.parametrize(("number", "status"), [(99, "sent"), (1, "nonsense"), (0, "")])
def test_unknown_reports_are_told_apart(engine: Engine, inbox: PostgresInbox, number: int, status: str) -> None:
    """A report about no reply of ours, or with a status nobody knows, is refused quietly."""
    inbox.accept(INCOMING)
    desk = PostgresDesk(engine)
    desk.reply(1, REPLY)
    assert not desk.delivery(number, status, None)
    assert rows(engine, "select status from outbox") == [("pending",)]


def test_the_local_page_reads_its_reply(engine: Engine, inbox: PostgresInbox) -> None:
    """Unknown, pending and answered are three different things."""
    with pytest.raises(KeyError):
        inbox.reply_to("SM1")
    inbox.accept(INCOMING)
    assert inbox.reply_to("SM1") is None
    PostgresDesk(engine).reply(1, REPLY)
    found = inbox.reply_to("SM1")
    assert found is not None
    assert (found.text, found.language) == ("una respuesta", "es")


def test_pseudonyms_need_the_key() -> None:
    """The same address gives the same name under one key and another under another."""
    assert pseudonym(KEY, "a") == pseudonym(KEY, "a") != pseudonym("j" * 32, "a")
    assert len(pseudonym(KEY, "a")) == 64
