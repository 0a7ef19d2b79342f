"""What is remembered of a person and what they may know of it; who is forgotten leaves nothing, and gets the receipt once."""

from collections.abc import Callable, Iterator, Sequence
from threading import Thread

import psycopg
import pytest
from psycopg import sql
from tests.integration.delivering import INCOMING, OURS, PERSON, PSEUDONYM_KEY, REPLY, Store, at_once, by, store_on
from tests.journeys.talking import until

from clara.adapters.postgres.delivery.inbox import pseudonym
from clara.adapters.postgres.delivery.overview import PostgresOverview
from clara.adapters.postgres.delivery.status_reports import PostgresReports
from clara.adapters.postgres.operations.upkeep import PostgresUpkeep
from clara.adapters.procrastinate.engine import TurnScheduler, Worker
from clara.answering.message import Act, Citation, Past, Reply, ReplyStatus
from clara.answering.privacy.rights import FIGURE_DAYS, TEXT_DAYS
from clara.container import Container
from clara.delivery.limits import Limits
from clara.delivery.message import Incoming, Outgoing, Report, Taken
from clara.delivery.ports import LostAnswerError, SupersededError
from clara.delivery.turn_processor import Clerk, take_turn
from clara.processes.worker import answer

NAME, OTHER = pseudonym(PSEUDONYM_KEY, PERSON), "whatsapp:+34600000002"
FOUND = tuple(Citation(f"C{number}", f"nie-{number}", "nie", "plazos", "https://x", "2026-08") for number in (1, 2))
CITED = Reply("con fuente", ReplyStatus.ANSWERED, "es", "pgvector", FOUND, trace={"why": "found"})
CHOICE = Reply("¿cuál?", ReplyStatus.CLARIFIED, "fr", options=("nie", "tie"))
RECEIPT = Reply("borrado", ReplyStatus.RIGHTS, "es", act=Act.ERASE)
ERASED = "select message_sid, pseudonym, body, address is null, recordings from inbox where pseudonym = '' order by id"
OLDER = "update {} set created_at = created_at - make_interval(hours => :hours)"
HOURS, YEAR = 24, (FIGURE_DAYS + 1) * 24


class MemorySender:
    """Sends in memory; loses its answers as long as it is told to."""

    def __init__(self, lost: int = 0) -> None:
        self.out: list[tuple[str, str]] = []
        self.lost = lost

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        assert timely()
        self.out.append((outgoing.recipient, outgoing.text))
        if self.lost:
            self.lost -= 1
            raise LostAnswerError
        return f"SMout{len(self.out)}"

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        sent = [(f"SMout{number}", *kept) for number, kept in enumerate(self.out, 1)]
        return [Taken(sid, text, 5.0) for sid, recipient, text in reversed(sent) if recipient == outgoing.recipient]


@pytest.fixture
def store(empty_url: str) -> Iterator[Store]:
    with store_on(empty_url) as made:
        yield made


def upkeep(store: Store) -> PostgresUpkeep:
    return PostgresUpkeep(store.engine, store.sealer, TurnScheduler().schedule)


def told(store: Store, sid: str, reply: Reply, body: str = "¿NIE?", sender: str = PERSON) -> int:
    """Let a person write and be answered; the reply is out and delivered."""
    number = store.accept(sid, sender, body)
    store.desk.reply(store.begin(number), reply, (reply.text,))
    store.change("update outbox set status = 'delivered', provider_sid = :sid where inbox_id = :id", id=number, sid=f"out{sid}")
    store.change("delete from procrastinate_jobs where (args->>'inbox_id')::int = :id", id=number)
    return number


def naming(url: str, name: str) -> list[tuple[str, str]]:
    """Search every table for a text in any column; give where it stands."""
    with psycopg.connect(url) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        found = []
        for (table,) in tables:
            query = sql.SQL("select to_jsonb(t)::text from {} t").format(sql.Identifier(table))
            found += [(table, row) for (row,) in connection.execute(query) if name in row]
    return found


def test_the_last_turns_are_remembered(store: Store) -> None:
    """Newest first, the last four of half an hour, of this person only, with what they cited and offered."""
    told(store, "SM0", REPLY)
    for number in range(1, 5):
        told(store, f"SM{number}", CITED if number % 2 else CHOICE)
    told(store, "SMx", CITED, "otra persona", OTHER)
    past = store.begin(store.accept("SM9")).past
    assert [(turn.status, turn.options, turn.document_id, turn.passages) for turn in past] == [
        (ReplyStatus.CLARIFIED, ("nie", "tie"), None, ()), (ReplyStatus.ANSWERED, (), "nie", ("nie-1", "nie-2")),
    ] * 2  # fmt: skip
    assert [turn.question for turn in past] == ["¿NIE?"] * 4
    assert sorted(past, key=lambda turn: turn.age) == list(past)
    assert 0 <= past[0].age < 60
    store.change("update turns set created_at = created_at - interval '31 minutes' where inbox_id > 3")
    assert len(store.begin(store.accept("SM10")).past) == 3
    store.change("update turns set status = 'of a later release'")
    assert store.begin(store.accept("SM11")).past == ()


def test_who_does_not_want_it_is_not_remembered(store: Store) -> None:
    """The choice holds from the next message on, until it is taken back; the language stays known."""
    told(store, "SM1", CITED)
    told(store, "SM2", Reply("vale", ReplyStatus.RIGHTS, "es", act=Act.DO_NOT_REMEMBER))
    case = store.begin(store.accept("SM3"))
    assert (case.past, case.first_contact, case.previous_language) == ((), False, "es")
    known = PostgresOverview(store.engine).known(NAME)
    assert (known.memory, known.chosen) == (False, True)
    told(store, "SM4", Reply("vale", ReplyStatus.RIGHTS, "es", act=Act.REMEMBER))
    assert len(store.begin(store.accept("SM5")).past) == 3


def test_a_person_may_know_what_is_kept(store: Store) -> None:
    """Counts, days, languages, ratings and the choice; nothing of anybody else."""
    people = PostgresOverview(store.engine)
    assert people.known(NAME).messages == 0
    told(store, "SM1", CITED)
    told(store, "SM2", Reply("voilà", ReplyStatus.ANSWERED, "fr"))
    told(store, "SM3", CITED)
    told(store, "SM4", Reply("gracias", ReplyStatus.FEEDBACK, "es", act=Act.HELPFUL))
    told(store, "SMx", CITED, sender=OTHER)
    store.change("update inbox set body = null where id = 1")
    known = people.known(NAME)
    assert (known.messages, known.texts, known.languages, known.ratings) == (4, 3, ("es", "fr"), 1)
    assert (known.memory, known.chosen) == (True, False)
    assert known.first_on == known.last_on is not None


def test_a_rating_is_of_the_last_answer(store: Store) -> None:
    """It is kept as a category, once for each answer, the last word counts; a command in between does not matter."""
    told(store, "SM1", CITED)
    told(store, "SM2", Reply("de nada", ReplyStatus.COMMAND, "es"))
    told(store, "SM3", Reply("gracias", ReplyStatus.FEEDBACK, "es", act=Act.HELPFUL))
    told(store, "SM4", Reply("gracias", ReplyStatus.FEEDBACK, "es", act=Act.WRONG))
    ratings = "select turn_id, rating, language, tier, document_id from feedback"
    assert store.rows(ratings) == [(1, "wrong", "es", "pgvector", "nie")]
    told(store, "SMx", Reply("gracias", ReplyStatus.FEEDBACK, "es", act=Act.HELPFUL), sender=OTHER)  # there was no answer
    store.change("update turns set created_at = now() - interval '25 hours' where inbox_id = 1")
    told(store, "SM5", Reply("gracias", ReplyStatus.FEEDBACK, "es", act=Act.HELPFUL))
    assert store.rows(ratings) == [(1, "wrong", "es", "pgvector", "nie")]


def test_ratings_are_counted_by_what_was_answered(store: Store) -> None:
    """Each way of grouping adds up to the total, of the days asked for."""
    for number in range(4):
        told(store, f"SM{number}", CITED, sender=f"{PERSON}{number}")
        told(store, f"SMr{number}", Reply("x", ReplyStatus.FEEDBACK, "es", act=Act.HELPFUL), sender=f"{PERSON}{number}")
    told(store, "SM8", Reply("no sé", ReplyStatus.NOT_FOUND, "fr"))
    told(store, "SM9", Reply("x", ReplyStatus.FEEDBACK, "fr", act=Act.UNHELPFUL))
    store.change("update turns set created_at = now() - interval '8 days' where inbox_id = 1")
    satisfaction = PostgresOverview(store.engine)
    week, month = satisfaction.satisfaction(7), satisfaction.satisfaction(30)
    assert (week.total.answers, week.total.helpful, week.total.unhelpful) == (4, 3, 1)
    assert (month.total.answers, month.total.helpful) == (5, 4)
    assert {kind: {name: rated.answers for name, rated in named.items()} for kind, named in week.by.items()} == {
        "procedure": {"nie": 3, "none": 1}, "language": {"es": 3, "fr": 1}, "tier": {"pgvector": 3, "none": 1},
    }  # fmt: skip
    assert week.as_json()["total"]["helpful_share"] == 0.75
    assert PostgresOverview(store.engine).satisfaction(7).by["language"]["fr"].unhelpful == 1


def test_who_is_forgotten_leaves_nothing_that_can_be_joined(store: Store, empty_url: str) -> None:
    """From the moment the receipt is recorded no row names the person; what cannot come again is the signed ids."""
    inbox = store.inbox(limits=Limits(100, 100, 100, 100))
    inbox.accept(INCOMING)
    store.desk.reply(store.begin(1), CITED, ("una", "dos"))
    told(store, "SM2", Reply("gracias", ReplyStatus.FEEDBACK, "es", act=Act.HELPFUL), "palabras mías")
    told(store, "SM3", Reply("vale", ReplyStatus.RIGHTS, "es", act=Act.DO_NOT_REMEMBER))
    told(store, "SMx", CITED, "de otra persona", OTHER)
    inbox.accept(Incoming("SM4", "whatsapp", PERSON, OURS, "olvídame", ("audio/ogg",), recordings=("https://x",)))
    store.change("update inbox set over_limit = 'sender_day' where id = 1")
    store.change("update procrastinate_jobs set status = 'failed' where (args->>'inbox_id')::int = 1")
    assert {table for table, _ in naming(empty_url, NAME)} == {"inbox", "turns", "usage", "consents", "procrastinate_jobs"}
    (wish,) = store.rows("select id from inbox where message_sid = 'SM4'")
    case = store.begin(wish[0])
    store.desk.reply(case, RECEIPT, ("borrado",))
    assert [table for table, _ in naming(empty_url, NAME)] == ["procrastinate_jobs"]  # the one that brings the receipt out
    assert store.rows(ERASED) == [
        ("SM1", "", None, True, []), ("SM2", "", None, True, []), ("SM3", "", None, True, []), ("SM4", "", None, False, []),
    ]  # fmt: skip
    assert naming(empty_url, "palabras") == []
    assert store.rows("select count(*) from feedback") == [(0,)]
    assert store.rows("select count(*) from turns where pseudonym <> ''") == [(1,)]  # the other person's
    assert store.desk.begin(1) is None
    assert inbox.accept(INCOMING) is False
    clerk = Clerk(store.desk, lambda _case: REPLY, by(sender := MemorySender()))
    assert take_turn(case.inbox_id, clerk) == "sent"
    assert sender.out == [(PERSON, "borrado")]
    store.change("update outbox set status = 'delivered' where inbox_id = :id", id=case.inbox_id)
    upkeep(store).run()
    assert store.rows("select body, superseded_sids from outbox where inbox_id = :id", id=case.inbox_id) == [("", [])]
    assert {without for *_, without, _ in store.rows(ERASED)} == {True}
    assert take_turn(case.inbox_id, clerk) == "erased"


def test_who_writes_again_is_somebody_new(store: Store) -> None:
    """A message that waited while its sender was forgotten is a first contact; what it says stays."""
    told(store, "SM1", CITED)
    wish, later = store.accept("SM2", body="olvídame"), store.accept("SM3", body="¿y el TIE?")
    store.desk.reply(store.begin(wish), RECEIPT, ("borrado",))
    case = store.begin(later)
    assert (case.first_contact, case.previous_language, case.past, case.incoming.text) == (True, None, (), "¿y el TIE?")
    assert PostgresOverview(store.engine).known(NAME).messages == 0


def test_an_erasure_happens_once_with_the_recorded_reply(store: Store) -> None:
    """Of many that record one for the same turn one does; who was superseded erases nothing, nor who comes second."""
    told(store, "SM1", CITED)
    number = store.accept("SM2")
    stalled = store.begin(number)
    case = store.begin(number)
    with pytest.raises(SupersededError):
        store.desk.reply(stalled, RECEIPT, ("borrado",))
    assert store.rows("select pseudonym = '' from inbox where id = 1") == [(False,)]
    store.desk.reply(case, REPLY, ("la primera",))
    at_once(4, lambda _: store.desk.reply(case, RECEIPT, ("borrado",)))
    assert store.rows("select pseudonym = '' from inbox where id = 1") == [(False,)]
    assert [part.text for part in store.desk.waiting(case)] == ["la primera"]


def test_nobody_writes_into_what_was_forgotten(store: Store) -> None:
    """A worker that stalled on an earlier message neither answers nor sends it any more."""
    first = store.accept("SM1")
    stalled = store.begin(first)
    store.desk.reply(stalled, REPLY, ("una respuesta",))
    (part,) = store.desk.waiting(stalled)
    wish = store.accept("SM2")
    store.desk.reply(store.begin(wish), RECEIPT, ("borrado",))
    for late in (lambda: store.desk.claim(stalled, part), lambda: store.desk.reply(stalled, REPLY, ("otra",))):
        with pytest.raises(SupersededError):
            late()
    store.desk.sent(part, "SMlate")
    assert store.rows("select inbox_id, body from outbox") == [(wish, "borrado")]


def test_the_receipt_arrives_once_whoever_dies(store: Store, empty_url: str) -> None:
    """A lost answer is looked for and found; an earlier receipt with the same words is not taken for it."""
    sender = MemorySender()
    clerk = Clerk(store.desk, lambda _case: RECEIPT, by(sender))
    first = store.accept("SM1")
    assert take_turn(first, clerk) == "sent"
    sender.lost = 1
    second = store.accept("SM2")
    with pytest.raises(LostAnswerError):
        take_turn(second, clerk)
    store.change("update outbox set attempted_at = attempted_at - interval '10 seconds' where attempted_at is not null")
    assert take_turn(second, clerk) == "found sent"
    assert store.rows("select provider_sid from outbox order by inbox_id") == [("SMout1",), ("SMout2",)]
    assert take_turn(second, clerk) == "already sent"
    assert len(sender.out) == 2


def test_an_earlier_reply_is_not_taken_for_the_receipt(store: Store) -> None:
    """A reply that reads like the receipt and was erased with it proves nothing: the receipt is sent again."""
    sender = MemorySender()
    alike = Reply("borrado", ReplyStatus.ANSWERED, "es")
    assert take_turn(store.accept("SM1"), Clerk(store.desk, lambda _case: alike, by(sender))) == "sent"
    wish = store.accept("SM2")
    case = store.begin(wish)
    store.desk.reply(case, RECEIPT, ("borrado",))
    (part,) = store.desk.waiting(case)
    store.desk.claim(case, part)  # and dies before the request
    store.change("update outbox set attempted_at = attempted_at - interval '10 seconds'")
    assert take_turn(wish, Clerk(store.desk, lambda _case: RECEIPT, by(sender))) == "sent"
    assert sender.out == [(PERSON, "borrado")] * 2


def test_a_receipt_whose_job_is_gone_gets_one(store: Store, empty_url: str) -> None:
    """Upkeep finds it though no name stands on it, and a worker brings it out."""
    wish = store.accept("SM1")
    store.desk.reply(store.begin(wish), RECEIPT, ("borrado",))
    store.change("update outbox set created_at = created_at - interval '2 minutes'")
    upkeep(store).run()
    assert store.rows("select lock = :name from procrastinate_jobs", name=NAME) == [(True,)]  # it still has its own
    store.change("delete from procrastinate_jobs")
    upkeep(store).run()
    upkeep(store).run()
    assert store.rows("select lock from procrastinate_jobs") == [(f"erased:{wish}",)]
    sender = MemorySender()
    worker = Worker(empty_url, lambda number: take_turn(number, Clerk(store.desk, lambda _case: REPLY, by(sender))))
    thread = Thread(target=worker.run, kwargs={"handle_signals": False})
    thread.start()
    try:
        until(lambda: store.rows("select count(*) from procrastinate_jobs") == [(0,)])
    finally:
        worker.stop()
        thread.join(20)
    assert sender.out == [(PERSON, "borrado")]


def test_a_receipt_that_failed_for_the_rate_is_sent_again_while_it_can_be(store: Store) -> None:
    """With its address it waits again; once upkeep took the address a late report changes nothing."""
    reports = PostgresReports(store.engine, TurnScheduler().schedule)
    numbers = []
    for sid in ("SM1", "SM2"):
        number = store.accept(sid)
        store.desk.reply(store.begin(number), RECEIPT, ("borrado",))
        store.change("update outbox set status = 'sent', provider_sid = :sid where inbox_id = :id", id=number, sid=f"out{sid}")
        numbers.append(store.rows("select max(id) from outbox")[0][0])
    upkeep(store).run()
    assert store.rows("select count(address) from inbox") == [(2,)]  # no report yet, and too young to go without
    store.change("update outbox set updated_at = now() - interval '1 minute' where id = :id", id=numbers[0])
    upkeep(store).run()
    for number, sid in zip(numbers, ("outSM1", "outSM2"), strict=True):
        assert reports.delivery(Report(number, sid, "failed", "63018", 24 * 3600.0))
    assert store.rows("select status, body from outbox order by id") == [("failed", ""), ("pending", "borrado")]


@pytest.mark.parametrize(
    ("hours", "memory", "left"),
    [
        pytest.param((TEXT_DAYS - 1) * HOURS, True, True, id="less-than-a-month"),
        pytest.param((TEXT_DAYS + 1) * HOURS, True, False, id="a-month"),
        pytest.param(HOURS - 1, False, True, id="unremembered-less-than-a-day"),
        pytest.param(HOURS + 1, False, False, id="unremembered-a-day"),
    ],
)
def test_texts_are_forgotten(store: Store, hours: int, memory: bool, left: bool) -> None:
    """A month after they were written, or a day, both sides of the conversation; what waits to be sent is kept."""
    told(store, "SM1", CITED)
    store.accept("SM2", OTHER)
    store.answered(inbox_id=2)
    store.change("insert into consents (pseudonym, memory) select pseudonym, :memory from inbox", memory=memory)
    for table in ("inbox", "outbox"):
        store.change(OLDER.format(table), hours=hours)
    store.change("update inbox set address = null where id = 1")
    upkeep(store).run()
    assert store.rows("select body is not null from inbox order by id") == [(left,), (True,)]
    assert store.rows("select body <> '' from outbox order by inbox_id") == [(left,), (True,)]
    assert store.rows("select count(*) from turns where pseudonym <> ''") == [(2,)]


def test_figures_are_forgotten_after_a_year(store: Store, empty_url: str) -> None:
    """Turn, ratings and choice go, and of the message stays the signed id; younger ones are left alone."""
    for number, sender in enumerate((PERSON, OTHER)):
        told(store, f"SM{number}", CITED, sender=sender)
        told(store, f"SMr{number}", Reply("x", ReplyStatus.FEEDBACK, "es", act=Act.HELPFUL), sender=sender)
        told(store, f"SMm{number}", Reply("x", ReplyStatus.RIGHTS, "es", act=Act.REMEMBER), sender=sender)
    for table in ("inbox", "turns"):
        store.change(f"{OLDER.format(table)} where pseudonym = :name", name=NAME, hours=YEAR)
    store.change("update consents set decided_at = now() - make_interval(hours => :hours)", hours=YEAR)
    store.change("update outbox set updated_at = now() - interval '2 days'")
    upkeep(store).run()
    assert naming(empty_url, NAME) == []
    assert [(sid, body) for sid, _, body, *_ in store.rows(ERASED)] == [("SM0", None), ("SMr0", None), ("SMm0", None)]
    assert store.rows("select (select count(*) from turns), (select count(*) from feedback)") == [(3, 1)]
    assert store.rows("select count(*) from consents") == [(1,)]
    assert store.inbox().accept(Incoming("SM0", "whatsapp", PERSON, OURS, "otra vez")) is False


def test_past_is_a_value(store: Store) -> None:
    """What a case remembers is what the conversation knows as the past."""
    told(store, "SM1", CITED, "¿cuánto tarda?")
    (past,) = store.begin(store.accept("SM2")).past
    assert past == Past("¿cuánto tarda?", ReplyStatus.ANSWERED, "es", "nie", ("nie-1", "nie-2"), (), past.age)


def test_the_whole_way_of_a_wish(store: Store, empty_url: str, services_on: Callable[..., Container]) -> None:
    """In free words: a rating, what is kept, a doubt and its answer; after it only the signed ids are left, and the receipt."""
    services, sender = services_on(empty_url), MemorySender()
    clerk = Clerk(store.desk, lambda case: answer(services, case), by(sender))
    told(store, "SM0", CITED)
    said = ("👍", "¿qué sabes de mí?", "borra mis datos. ¿cuánto tarda el NIE?", "sí borrar")
    for number, text in enumerate(said, 1):
        take_turn(store.accept(f"SM{number}", body=text), clerk)
    replies = [text for _, text in sender.out]
    assert "Opiniones sobre mis respuestas: 1" in replies[1]
    assert "SÍ BORRAR" in replies[2]
    assert replies[3] == services.texts.say("es", "rights_erased")
    store.change("delete from procrastinate_jobs")
    store.change("update outbox set status = 'delivered'")
    upkeep(store).run()
    assert naming(empty_url, NAME) == []
    assert [(body, gone) for _, _, body, gone, _ in store.rows(ERASED)] == [(None, True)] * 5
    take_turn(store.accept("SM9", body="hola"), clerk)
    assert sender.out[-1][1].startswith(services.texts.say("es", "first_contact", human="").strip())
