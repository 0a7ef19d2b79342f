"""What was acknowledged reaches the store once and in order, whatever the store does meanwhile."""

import itertools
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import Event, Lock, Thread
from time import perf_counter

import pytest
from structlog.testing import capture_logs
from tests.journeys.talking import until

from clara.adapters.aes_gcm import AesGcmSealer
from clara.adapters.spool.spool import TOGETHER, FileSpool
from clara.delivery.bounded_executor import Hands
from clara.delivery.intake import HANDS, Drainer, SpoolingInbox, Timing
from clara.delivery.message import Incoming, Report
from clara.delivery.ports import RefusedError, SpoolUnavailableError, StoreRefusesError, StoreUnavailableError
from clara.delivery.records import read, written

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
HELLO = Incoming("SM1", "whatsapp", "whatsapp:+34600000001", "whatsapp:+15555550100", "¿Dónde pido el NIE?", ("image/png",))
LATE = Incoming("SM2", "local", "", "", None, ("audio/ogg", "x"), NOW.astimezone(timezone(timedelta(hours=-3))))
SEEN = Report(7, "SMout", "read", None)
SEALER = AesGcmSealer("k" * 32)
PLENTY = 10_000_000


class Store:
    """Inbox and reports in memory: knows each id once, and may be away, hang, or refuse."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.messages: list[Incoming] = []
        self.reports: list[Report] = []
        self.away = False
        self.refusing: set[str] = set()
        self.says_no: set[str] | None = set()  # to these; None: to everybody
        self.open = Event()
        self.open.set()
        self.hanging = 0

    def accept(self, incoming: Incoming) -> bool:
        self.probe()
        if incoming.sid in self.refusing:
            raise ArithmeticError(incoming.text)
        if self.says_no is None or incoming.sid in self.says_no:
            raise StoreRefusesError("read only")
        with self.lock:
            if any(known.sid == incoming.sid for known in self.messages):
                return False
            self.messages.append(incoming)
            return True

    def delivery(self, report: Report) -> bool:
        self.probe()
        self.reports.append(report)
        return report.outgoing_id > 0

    def probe(self) -> None:
        if not self.open.is_set():
            self.hanging += 1
            assert self.open.wait(60)
        if self.away:
            raise StoreUnavailableError("PostgreSQL does not answer")

    @property
    def sids(self) -> list[str]:
        return [message.sid for message in self.messages]


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store()
    yield made
    made.open.set()


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[FileSpool]:
    made = FileSpool(tmp_path / "spool", PLENTY)
    yield made
    made.close()


@pytest.fixture
def receiving(store: Store, spool: FileSpool) -> Iterator[SpoolingInbox]:
    made = SpoolingInbox(store, store, spool, SEALER, spool.set_aside, Timing(lambda: NOW, 20.0))
    yield made
    made.close()


@pytest.fixture
def drainer() -> Iterator[Callable[[SpoolingInbox, Callable[[], None]], Drainer]]:
    made: list[Drainer] = []

    def start(receiving: SpoolingInbox, probe: Callable[[], None]) -> Drainer:
        made.append(Drainer(receiving, probe, every=0.01))
        made[-1].start()
        return made[-1]

    yield start
    for one in made:
        one.stop()


def message(number: int, sender: int = 1) -> Incoming:
    return Incoming(f"SM{sender}-{number}", "whatsapp", f"whatsapp:+3460000000{sender}", "w", f"text {number}")


@pytest.mark.parametrize(
    "item",
    [
        HELLO,
        LATE,
        Incoming("SM3", "whatsapp", "w", "w", "a\x00b \ud800 😀"),
        SEEN,
        Report(0, "", "failed", "63016"),
    ],
    ids=str,
)
def test_a_record_is_read_as_it_was_written(item: Incoming | Report) -> None:
    """Every field comes back; a message without a time gets the present one, in UTC."""
    now = NOW if item is not LATE else NOW + timedelta(hours=1)
    back = read(written(item, lambda: now))
    if isinstance(item, Incoming) and item.received_at is None:
        assert isinstance(back, Incoming)
        assert back.received_at == NOW
        back = replace(back, received_at=None)
    assert back == item


def test_with_the_store_up_the_spool_stays_empty(store: Store, receiving: SpoolingInbox, tmp_path: Path) -> None:
    """The store's own answers come back, its refusals too, and no file is made."""
    assert [receiving.accept(HELLO) for _ in range(2)] == [True, False]
    assert [receiving.delivery(SEEN), receiving.delivery(Report(0, "x", "read"))] == [True, False]
    store.refusing = {"SM1-1"}
    with pytest.raises(ArithmeticError):
        receiving.accept(message(1))
    assert (store.messages, receiving.drain(store.probe)) == ([HELLO], 0)
    assert not (tmp_path / "spool").exists()


def test_with_the_store_away_everything_is_kept(store: Store, spool: FileSpool, receiving: SpoolingInbox) -> None:
    """It is acknowledged, stays while the store is away, and then goes in as it was, with the time it was received."""
    store.away = True
    assert receiving.accept(HELLO)
    assert receiving.delivery(SEEN)
    assert receiving.accept(message(2))
    assert (receiving.drain(store.probe), spool.waiting(), store.messages) == (0, 3, [])
    store.away = False
    with capture_logs() as logs:
        assert receiving.drain(store.probe) == 3
    assert [(entry["event"], entry.get("count")) for entry in logs] == [("store is back", None), ("spool drained", 3)]
    assert store.messages[0] == replace(HELLO, received_at=NOW)
    assert (store.sids, store.reports) == (["SM1", "SM1-2"], [SEEN])
    assert receiving.accept(message(3))
    assert (store.messages[-1], spool.waiting()) == (message(3), 0)


def test_while_something_waits_nothing_overtakes_it(store: Store, spool: FileSpool, receiving: SpoolingInbox) -> None:
    """A store that is back gets new messages behind those that wait, not before them."""
    store.away = True
    receiving.accept(message(1))
    store.away = False
    receiving.accept(message(2))
    assert (store.messages, spool.waiting()) == ([], 2)
    receiving.drain(store.probe)
    receiving.accept(message(3))
    assert store.sids == ["SM1-1", "SM1-2", "SM1-3"]


def test_the_way_back_stays_closed_while_somebody_appends(store: Store, tmp_path: Path) -> None:
    """A message that is on its way into the spool is not overtaken, although nothing waits there yet."""
    begun, release = Event(), Event()

    class Slow(FileSpool):
        def append(self, record: bytes) -> None:
            begun.set()
            assert release.wait(20)
            super().append(record)

    spool = Slow(tmp_path, PLENTY)
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside)
    store.away = True
    first = Thread(target=receiving.accept, args=[message(1)])
    first.start()
    assert begun.wait(20)
    store.away = False
    assert (receiving.drain(store.probe), spool.waiting()) == (0, 0)
    release.set()
    first.join(20)
    receiving.accept(message(2))
    assert store.messages == []
    receiving.drain(store.probe)
    assert store.sids == ["SM1-1", "SM1-2"]
    spool.close()


def test_what_cannot_be_read_for_now_is_not_overtaken(store: Store, tmp_path: Path) -> None:
    """A spool that hands over nothing although something waits keeps the direct way closed."""

    class Unreadable(FileSpool):
        def drain(self, take: Callable[[bytes], None]) -> int:
            return 0

    spool = Unreadable(tmp_path, PLENTY)
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside)
    store.away = True
    receiving.accept(message(1))
    store.away = False
    receiving.drain(store.probe)
    receiving.accept(message(2))
    assert (store.messages, spool.waiting()) == ([], 2)
    spool.close()


def test_a_busy_day_finds_the_way_back(store: Store, tmp_path: Path, drainer) -> None:
    """While messages keep coming faster than the disk writes one, those at the door are held until the spool is empty."""
    pause, ended = Event(), Event()

    def slow(descriptor: int) -> None:
        pause.wait(0.01)

    spool = FileSpool(tmp_path, PLENTY, slow)
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside)
    store.away = True
    numbers = itertools.count()

    def keep_writing() -> None:
        while not ended.is_set():
            receiving.accept(message(next(numbers)))
            ended.wait(0.001)

    threads = [Thread(target=keep_writing) for _ in range(8)]
    for thread in threads:
        thread.start()
    until(lambda: spool.waiting() > 50)
    store.away = False
    drainer(receiving, store.probe)
    until(lambda: not receiving._spooling)
    ended.set()
    for thread in threads:
        thread.join(20)
    assert sorted(store.sids) == sorted(message(number).sid for number in range(next(numbers)))
    spool.close()


def test_the_next_process_goes_on(store: Store, spool: FileSpool, receiving: SpoolingInbox, tmp_path: Path) -> None:
    """What a dead process left goes in before anything that its successor takes."""
    store.away = True
    receiving.accept(message(1))
    spool.close()
    store.away = False
    heir_spool = FileSpool(tmp_path / "spool", PLENTY)
    heir = SpoolingInbox(store, store, heir_spool, SEALER, heir_spool.set_aside)
    heir.accept(message(2))
    assert store.messages == []
    assert heir.drain(store.probe) == 2
    assert store.sids == ["SM1-1", "SM1-2"]
    heir_spool.close()


def test_a_store_that_hangs_is_not_waited_for(store: Store, spool: FileSpool) -> None:
    """One message loses patience, the later ones go to the spool at once; when the calls come back nothing is doubled."""
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside, Timing(patience=0.05))
    store.open.clear()
    assert receiving.accept(message(1))
    assert store.hanging == 1
    assert all(receiving.accept(message(number)) for number in range(2, 30))
    assert store.hanging == 1
    store.open.set()
    until(lambda: store.messages != [])
    assert receiving.drain(store.probe) == 29
    assert store.sids == [f"SM1-{number}" for number in range(1, 30)]
    receiving.close()


def test_hands_that_hang_are_not_queued_for() -> None:
    """With every hand in a call that hangs the next call fails at once; when they are free again it is made."""
    release, hands = Event(), Hands(2)
    for _ in range(2):
        with pytest.raises(StoreUnavailableError, match="within"):
            hands.result(lambda: release.wait(60), 0.01)
    asked = perf_counter()
    with pytest.raises(StoreUnavailableError, match="hangs"):
        hands.result(lambda: release.wait(60), 30.0)
    assert perf_counter() - asked < 15
    release.set()
    until(lambda: not hands._stuck)
    assert [hands.result(lambda number=number: number * 2, 20.0) for number in range(5)] == [0, 2, 4, 6, 8]
    assert len(hands._threads) == 2
    hands.close()


def test_a_call_that_waited_in_vain_is_not_made_later() -> None:
    """Whoever lost patience before a hand was free finds nothing done afterwards."""
    release, hands, made = Event(), Hands(1), []
    busy = Thread(target=hands.result, args=[lambda: release.wait(60), 60.0])
    busy.start()
    until(lambda: hands._wanted == 1)
    with pytest.raises(StoreUnavailableError):
        hands.result(lambda: made.append("late"), 0.01)
    release.set()
    busy.join(20)
    assert hands.result(lambda: "next", 20.0) == "next"
    assert made == []
    hands.close()


def test_all_hands_hanging_still_acknowledges(store: Store, spool: FileSpool) -> None:
    """As many messages at the same time as there are hands and more, all acknowledged, all in the store afterwards."""
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside, Timing(patience=0.05))
    store.open.clear()
    acknowledged: list[bool] = []
    threads = [Thread(target=lambda n=n: acknowledged.append(receiving.accept(message(n)))) for n in range(3 * HANDS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert acknowledged == [True] * 3 * HANDS
    store.open.set()
    receiving.drain(store.probe)
    assert sorted(store.sids) == sorted(message(n).sid for n in range(3 * HANDS))
    receiving.close()


@pytest.mark.parametrize("most", [0, 300, 600])
def test_what_nobody_can_keep_is_not_acknowledged(store: Store, tmp_path: Path, most: int) -> None:
    """With the store away and the spool full the channel is told; with the store back all is well again."""
    spool = FileSpool(tmp_path, most)
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside)
    store.away = True
    kept = [message(number).sid for number in range(most // 300)]
    for number in range(most // 300):
        receiving.accept(message(number))
    with pytest.raises(StoreUnavailableError, match="Bring the database back"):
        receiving.accept(message(9))
    store.away = False
    receiving.drain(store.probe)
    assert (receiving.accept(HELLO), store.sids) == (True, [*kept, "SM1"])
    spool.close()


def test_a_broken_folder_is_not_acknowledged(store: Store, tmp_path: Path) -> None:
    """The error of the spool reaches the web layer as the store's, so it answers 503."""
    (tmp_path / "file").touch()
    spool = FileSpool(tmp_path / "file" / "spool", PLENTY)
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside)
    store.away = True
    for _ in range(2):
        with pytest.raises(StoreUnavailableError, match="file/spool cannot be used"):
            receiving.accept(HELLO)
    store.away = False
    assert receiving.drain(store.probe) == 0
    assert receiving.accept(HELLO)


def test_a_bad_record_holds_up_nobody(store: Store, tmp_path: Path) -> None:
    """What cannot be opened, read or stored is handed to whoever looks at such things; the rest goes in."""
    spool = FileSpool(tmp_path, PLENTY)
    bad = [
        b"rubbish",
        AesGcmSealer("j" * 32).seal(written(HELLO, lambda: NOW), "spool"),
        SEALER.seal(written(HELLO, lambda: NOW), "another context"),
        *(SEALER.seal(json.dumps(wrong).encode(), "spool") for wrong in [[], {}, {"kind": "Report", "fields": {"x": 1}}, 3]),
        SEALER.seal(written(message(9), lambda: NOW), "spool"),
    ]
    for record in bad:
        spool.append(record)
        spool.append(SEALER.seal(written(message(len(record)), lambda: NOW), "spool"))
    aside: list[bytes] = []
    store.refusing = {message(9).sid}
    receiving = SpoolingInbox(store, store, spool, SEALER, aside.append)
    with capture_logs() as logs:
        receiving.drain(store.probe)
    assert (aside, spool.waiting()) == (bad, 0)
    assert set(store.sids) == {message(len(record)).sid for record in bad}
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["message set aside"] * len(bad)
    assert "text 9" not in str(logs)
    spool.close()


def test_a_store_that_says_no_to_everybody_loses_nobody(store: Store, spool: FileSpool, receiving: SpoolingInbox) -> None:
    """Everything is acknowledged and stays in the spool, however often it is tried, until the store takes it; in order."""
    store.says_no = None
    assert all(receiving.accept(message(number)) for number in range(40))
    assert [receiving.drain(store.probe) for _ in range(3)] == [0, 0, 0]
    assert (spool.waiting(), store.messages) == (40, [])
    store.says_no = set()
    assert receiving.drain(store.probe) == 40
    assert store.sids == [f"SM1-{number}" for number in range(40)]
    assert receiving.accept(message(41))
    assert spool.waiting() == 0


def test_one_that_the_store_says_no_to_is_set_aside(store: Store, tmp_path: Path) -> None:
    """The others go in, behind it as well; while nobody is behind it, it may be the store, and it stays."""
    spool, aside = FileSpool(tmp_path, PLENTY), []
    receiving = SpoolingInbox(store, store, spool, SEALER, aside.append)
    store.says_no = {"SM1-1", "SM1-2", "SM1-9"}
    for number in (1, 0, 2, 9):
        receiving.accept(message(number))
    assert (receiving.drain(store.probe), aside, spool.waiting()) == (0, [], 4)
    receiving.accept(message(3))
    assert receiving.drain(store.probe) == 5
    assert (len(aside), store.sids, spool.waiting()) == (3, ["SM1-0", "SM1-3"], 0)
    spool.close()


def test_a_store_that_says_no_in_between_accuses_nobody(store: Store, tmp_path: Path) -> None:
    """A deadlock, or a store that turned while records were tried one by one: what it took a moment ago tells."""

    class Turning(Store):
        taken = 0

        def accept(self, incoming: Incoming) -> bool:
            if incoming.sid == "SM1-1" or self.taken > 1:
                raise StoreRefusesError("read only")
            self.taken += super().accept(incoming) or 0
            return True

    turning, aside = Turning(), []
    spool = FileSpool(tmp_path, PLENTY)
    receiving = SpoolingInbox(turning, turning, spool, SEALER, aside.append)
    turning.taken = 2
    for number in range(3):
        receiving.accept(message(number))
    turning.taken = 0
    assert receiving.drain(store.probe) == 0
    assert (aside, spool.waiting(), turning.sids) == ([], 3, ["SM1-0", "SM1-2"])
    spool.close()


def test_what_is_at_fault_itself_is_not_acknowledged(store: Store, spool: FileSpool, receiving: SpoolingInbox) -> None:
    """The channel is told, and the spool stays empty: it would never go in."""

    def refuse(_incoming: Incoming) -> bool:
        raise RefusedError("no such values")

    store.accept = refuse  # type: ignore[method-assign]
    with pytest.raises(RefusedError):
        receiving.accept(HELLO)
    assert spool.waiting() == 0


def test_a_bad_record_is_set_aside_once(store: Store, tmp_path: Path) -> None:
    """Although the others that come with it are moved again and again, because the store goes away between."""
    spool, aside = FileSpool(tmp_path, PLENTY), []
    spool.append(b"rubbish")
    spool.append(SEALER.seal(written(HELLO, lambda: NOW), "spool"))
    receiving = SpoolingInbox(store, store, spool, SEALER, aside.append)
    store.away = True
    for _ in range(3):
        assert receiving.drain(lambda: None) == 0
    assert (aside, spool.waiting()) == ([], 2)
    store.away = False
    assert receiving.drain(lambda: None) == 2
    assert (aside, store.sids) == ([b"rubbish"], ["SM1"])
    spool.close()


def test_reports_go_straight_in_while_messages_are_moved(store: Store, spool: FileSpool, receiving: SpoolingInbox) -> None:
    """A report that the slow store sent to the spool does not send the later ones there too: each batch opens the way."""
    store.away = True
    for number in range(3 * TOGETHER):
        receiving.accept(message(number, 1 + number % 9))
    store.away = False
    straight = []

    def going() -> bool:
        if spool.waiting() == 2 * TOGETHER:
            store.away = True
            receiving.delivery(SEEN)
            store.away = False
        if spool.waiting() <= TOGETHER:
            before = len(store.reports)
            receiving.delivery(SEEN)
            straight.append(len(store.reports) - before)
        return True

    receiving.drain(store.probe, going)
    assert straight
    assert set(straight) == {1}
    assert spool.waiting() == 0


def test_a_refusal_of_the_moment_is_tried_again(store: Store, spool: FileSpool, receiving: SpoolingInbox) -> None:
    """A message that met a deadlock is stored by the second try, and not set aside."""
    store.away = True
    receiving.accept(HELLO)
    store.away = False
    tries = []

    def accept(incoming: Incoming) -> bool:
        tries.append(incoming)
        if len(tries) == 1:
            raise ArithmeticError
        return Store.accept(store, incoming)

    store.accept = accept
    assert receiving.drain(store.probe) == 1
    assert (store.sids, spool.waiting()) == (["SM1"], 0)


def test_the_spool_holds_no_plain_text(store: Store, receiving: SpoolingInbox, tmp_path: Path) -> None:
    """Neither address nor words nor ids can be read in its files."""
    store.away = True
    receiving.accept(HELLO)
    receiving.delivery(SEEN)
    held = b"".join(path.read_bytes() for path in (tmp_path / "spool").iterdir())
    assert len(held) > 100
    for plain in ("34600000001", "NIE", "SM1", "SMout", "whatsapp", "image", "received_at", "2026"):
        assert plain.encode() not in held
        assert plain.encode("utf-16-le") not in held


def test_the_drainer_brings_everything_in_and_opens_the_way_back(store: Store, receiving, drainer) -> None:
    """It moves what waits as soon as the store is back; then messages go straight in again."""
    drainer(receiving, store.probe)
    store.away = True
    receiving.accept(message(1))
    store.away = False
    until(lambda: store.sids == ["SM1-1"] and not receiving._spooling)
    assert receiving.accept(message(1)) is False


def test_a_store_that_is_back_is_noticed_without_a_message(store: Store, tmp_path: Path, drainer) -> None:
    """With nothing in the spool the drainer asks the store whether it is back."""
    spool = FileSpool(tmp_path, 0)
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside)
    store.away = True
    drainer(receiving, store.probe)
    with pytest.raises(StoreUnavailableError):
        receiving.accept(HELLO)
    assert receiving._spooling
    store.away = False
    until(lambda: not receiving._spooling)
    assert receiving.accept(HELLO)


def test_the_drainer_survives_what_goes_wrong(store: Store, spool: FileSpool, drainer) -> None:
    """A probe that breaks, and a record that can neither be stored nor set aside, do not end it."""
    room, wrong = [], [True]

    def on_bad(record: bytes) -> None:
        if not room:
            raise SpoolUnavailableError("no room")
        room.append(record)

    def probe() -> None:
        if wrong:
            wrong.append(True)
            raise ArithmeticError

    receiving = SpoolingInbox(store, store, spool, SEALER, on_bad)
    spool.append(b"rubbish")
    store.away = True
    receiving.accept(message(1))
    store.away = False
    with capture_logs() as logs:
        drainer(receiving, probe)
        until(lambda: len(wrong) > 3)
        wrong.clear()
        until(lambda: len(logs) > 1)
        room.append(b"")
        until(lambda: spool.waiting() == 0)
    assert (room, store.sids) == ([b"", b"rubbish"], ["SM1-1"])
    assert [entry["event"] for entry in logs].count("spool not drained") == 2
    receiving.close()


def test_the_drainer_stops_although_the_store_hangs(store: Store, spool: FileSpool, receiving, drainer) -> None:
    """Stopping does not wait for a call that hangs; what was not stored is still in the spool."""
    store.away = True
    receiving.accept(message(1))
    store.open.clear()
    running = drainer(receiving, store.probe)
    until(lambda: store.hanging == 1)
    asked = perf_counter()
    running.stop()
    assert perf_counter() - asked < 10
    assert spool.waiting() == 1


def test_a_stopped_drainer_leaves_the_rest(store: Store, spool: FileSpool, receiving: SpoolingInbox) -> None:
    """Whoever ends it in the middle finds the rest in the spool, and the way back still closed."""
    store.away = True
    for number in range(TOGETHER + 3):
        receiving.accept(message(number))
    store.away = False
    assert receiving.drain(store.probe, lambda: len(store.messages) < 2) == TOGETHER
    assert (spool.waiting(), receiving._spooling) == (3, True)
    receiving.drain(store.probe)
    assert store.sids == [message(number).sid for number in range(TOGETHER + 3)]


@pytest.mark.parametrize("seed", range(3))
def test_order_is_kept_while_the_store_comes_and_goes(store: Store, tmp_path: Path, drainer, seed: int) -> None:
    """Six senders write one message after another to a store that flaps and hangs: none lost, doubled or overtaken."""
    spool = FileSpool(tmp_path, PLENTY, file_bytes=2000)
    receiving = SpoolingInbox(store, store, spool, SEALER, spool.set_aside, Timing(patience=0.02))
    drainer(receiving, store.probe)
    chance, senders, each = random.Random(seed), range(6), 150
    done, flapped, flaps, refused = Event(), Event(), 0, []

    def write(sender: int) -> None:
        for number in range(each):
            assert number < each // 2 or flapped.wait(60)
            refused.extend([] if receiving.accept(message(number, sender)) else [(sender, number)])

    threads = [Thread(target=write, args=[sender]) for sender in senders]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        store.away = chance.random() < 0.4
        (store.open.clear if chance.random() < 0.3 else store.open.set)()
        flaps += 1
        if flaps > 3:
            flapped.set()
        done.wait(chance.random() * 0.03)
    store.away = False
    store.open.set()
    until(lambda: len(store.messages) == len(senders) * each and spool.waiting() == 0)
    for sender in senders:
        mine = [sid for sid in store.sids if sid.startswith(f"SM{sender}-")]
        assert mine == [message(number, sender).sid for number in range(each)]
    receiving.close()
    until(lambda: not receiving._spooling)
    spool.close()
