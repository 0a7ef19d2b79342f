"""The runs there are: what comes in, what is killed, what else must hold besides an account without faults."""

from dataclasses import dataclass, field, replace
from typing import Final

from tests.faults.plan import KINDS, Kill, Message, Shape, plan_kills, plan_messages
from tests.faults.stage import Cast

# Real questions, for runs that answer as Clara does.
QUESTIONS: Final = (
    "¿Cuánto cuesta el NIE?", "¿Quién expide la TIE?", "¿Qué papeles necesito para empadronarme?",
    "How do I get a health card?", "¿Qué plazo tengo para renovar la tarjeta?", "Comment demander la nationalité ?",
)  # fmt: skip
# The database is killed before the first message of the run without it.
LEAD_SECONDS: Final = 2.0
# So often there is a flood, and so long a pause before and after it.
FLOODS: Final = 4
PAUSE_SECONDS: Final = 2.0
# Long messages: so many senders, as many characters as WhatsApp lets through; Chinese, and four scripts mixed.
ATTACKERS: Final = 8
LONGEST: Final = 4_096
LONG_BODIES: Final = (
    "我想在西班牙申请居留许可但是我不知道需要准备哪些文件以及去哪里办理手续请告诉我",
    "我想申请居留 quiero pedir el permiso de residencia и не знаю какие документы нужны كيف يمكنني ",
)
CRY: Final = "quiero morir"
# Others ask so many questions in each stretch, this often a second; the cry for help comes when the attack has begun.
OTHERS: Final = 20
CRY_AFTER_SECONDS: Final = 0.5
REST_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line chose; None is the scenario's own choice."""

    scenario: str = "kills"
    seed: int = 1
    messages: int | None = None
    kills: int | None = None
    rate: float | None = None
    workers: int | None = None
    answers: str = "stand-in"
    writer_ms: float | None = None
    database_down: float | None = None
    faults: bool = True
    kinds: tuple[str, ...] = tuple(KINDS)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run. `database_down` is (when, for how many seconds) the database is killed, whatever the plan of kills says."""

    name: str
    cast: Cast
    messages: tuple[Message, ...]
    kills: tuple[Kill, ...] = ()
    database_down: tuple[float, float] | None = None
    # The longest that something may take, by the name of the measure, in seconds.
    limits: dict[str, float] = field(default_factory=dict)


def scenario(options: Options) -> Scenario:
    """Build the scenario of that name. Raises KeyError."""
    built = {"kills": _kills, "down": _down, "order": _order, "flood": _flood, "stop": _stop, "long": _long}
    return built[options.scenario](options)


def _cast(options: Options, workers: int, turns: int = 4, *, limited: bool = False, faults: bool = True) -> Cast:
    return Cast(
        seed=options.seed,
        workers=options.workers or workers,
        turns=turns,
        answers="clara" if options.answers == "clara" else "stand-in",
        writer_ms=options.writer_ms or 20.0,
        faults=faults and options.faults,
        limited=limited,
    )


def _kinds(options: Options) -> dict[str, int]:
    return {kind: KINDS[kind] for kind in options.kinds}


def _kills(options: Options) -> Scenario:
    """Kill everything, again and again."""
    messages, rate = options.messages or 3_000, options.rate or 20.0
    real = options.answers == "clara"
    shape = Shape(messages, rate, senders=messages if real else max(10, messages // 12))
    kills = plan_kills(options.seed, 60 if options.kills is None else options.kills, messages / rate, _kinds(options))
    if options.database_down is not None:
        kills = tuple(
            Kill(kill.at, kill.kind, kill.pick, options.database_down) if kill.kind == "postmaster" else kill for kill in kills
        )
    planned = plan_messages(options.seed, shape, QUESTIONS if real else ())
    return Scenario("kills", _cast(options, 3), planned, kills)


def _down(options: Options) -> Scenario:
    """Let everything come while the database is dead."""
    messages, rate = options.messages or 2_000, options.rate or 80.0
    shape = Shape(messages, rate, senders=messages // 3, late=0.0, spread=0.5, start=LEAD_SECONDS)
    seconds = options.database_down or LEAD_SECONDS / 2 + messages / rate + 1.0
    return Scenario(
        "down",
        _cast(options, 2, 8, faults=False),
        plan_messages(options.seed, shape),
        plan_kills(options.seed, options.kills or 0, seconds, {"worker": 1, "web child": 1}),
        (LEAD_SECONDS / 2, seconds),
        {"caught up after the database's return": 30.0, "acknowledged, database down": 1.0},
    )


def _order(options: Options) -> Scenario:
    """Let few people write much, to many workers."""
    messages, rate = options.messages or 10_000, options.rate or 40.0
    shape = Shape(messages, rate, senders=50, duplicates=0.05, late=0.0)
    kills = plan_kills(options.seed, 40 if options.kills is None else options.kills, messages / rate, _kinds(options))
    return Scenario("order", _cast(options, 8), plan_messages(options.seed, shape), kills)


def _flood(options: Options) -> Scenario:
    """Let one person flood now and then, and see whether the others notice.

    Times with and without the flood alternate, so that what else the machine does falls on both alike.
    """
    rate, count = options.rate or 5.0, (options.messages or 800) // (2 * FLOODS)
    others, flood = rate, 20.0
    seconds = count / others
    planned: list[Message] = []
    for turn in range(2 * FLOODS):
        start = turn * (seconds + PAUSE_SECONDS)
        prefix = f"{'b' if turn % 2 else 'a'}{turn}x"
        shape = Shape(count, others, max(1, count // 2), duplicates=0.0, late=0.0, start=start, prefix=prefix)
        planned += plan_messages(options.seed, shape)
        if turn % 2:
            shape = Shape(int(flood * seconds), flood, 1, duplicates=0.0, late=0.0, long=0.0, start=start, prefix=f"f{turn}x")
            planned += plan_messages(options.seed, shape)
    # The others' replies take what a model takes: a flood that costs milliseconds is none.
    cast = _cast(replace(options, writer_ms=options.writer_ms or 300.0), 2, 8, limited=True, faults=False)
    return Scenario("flood", cast, tuple(sorted(planned, key=lambda message: message.at)))


def _long(options: Options) -> Scenario:
    """Let a few people write the longest messages there are, and see whether who is in danger, or the others, wait for them.

    Clara herself answers, with one worker as it comes. Stretches with and without the attack alternate; the first is a warm-up.
    """
    rate = options.rate or 2.0
    seconds = OTHERS / rate
    planned: list[Message] = []
    for turn in range(1 + 2 * max(1, (options.messages or 2 * OTHERS) // (2 * OTHERS))):
        start = turn * (seconds + REST_SECONDS)
        kind = "w" if not turn else "b" if turn % 2 == 0 else "a"
        shape = Shape(OTHERS, rate, OTHERS, duplicates=0.0, late=0.0, long=0.0, start=start, prefix=f"{kind}{turn}x")
        planned += plan_messages(options.seed, shape, QUESTIONS)
        if kind == "b":
            planned += _attack(options.seed, start, turn)
    cast = replace(_cast(options, 1, faults=False), answers="clara")
    limits = {"danger answered": 2.0}
    return Scenario("long", cast, tuple(sorted(planned, key=lambda message: message.at)), limits=limits)


def _attack(seed: int, start: float, turn: int) -> tuple[Message, ...]:
    """Draw the long messages, all at once, and the cry for help in the midst of them."""
    shape = Shape(ATTACKERS, 1_000.0, ATTACKERS, duplicates=0.0, late=0.0, long=0.0, start=start, prefix=f"l{turn}x")
    bodies = tuple((body * LONGEST)[:LONGEST] for body in LONG_BODIES)
    cry = Shape(1, 1.0, 1, duplicates=0.0, late=0.0, long=0.0, start=start + CRY_AFTER_SECONDS, prefix=f"d{turn}x")
    return plan_messages(seed, shape, bodies) + plan_messages(seed, cry, (CRY,))


def _stop(options: Options) -> Scenario:
    """Ask every process to end, one after the other, while messages come."""
    messages, rate = options.messages or 1_200, options.rate or 20.0
    kills = plan_kills(options.seed, options.kills or 3, messages / rate, {"rolling restart": KINDS["rolling restart"]})
    planned = plan_messages(options.seed, Shape(messages, rate, senders=messages // 10))
    return Scenario("stop", _cast(options, 3, faults=False), planned, kills, limits={"longest stop": 10.0})
