"""What a run will do, drawn from a seed before it starts: which messages come when and how often, what is killed when."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

RECIPIENT: Final = "whatsapp:+15555550100"
PRIMARY, FALLBACK = 0, 1
LONG: Final = " long"
MOBILES, STEP = 10**7, 7919
# Letters of which no syllable is made that could be heard as a cry for help: that would overtake, as it should.
LETTERS: Final = "gjkqvwxz"
# Of a run's kills. Each kind comes at least once; the rest is drawn by these weights. Kills of the database are the rarest,
# because nothing else can be seen while it starts again.
KINDS: Final = {
    "worker": 6,
    "web child": 5,
    "web parent": 3,
    "backend terminated": 4,
    "backend killed": 2,
    "postmaster": 2,
    "worker stalled": 3,
    "rolling restart": 1,
}


@dataclass(frozen=True, slots=True)
class Again:
    """The same form once more: so many seconds after the first one was posted, to that listener."""

    after: float
    listener: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message to post: `at` is in seconds since the run began."""

    sid: str
    sender: str
    body: str
    at: float
    listener: int = PRIMARY
    again: tuple[Again, ...] = ()


@dataclass(frozen=True, slots=True)
class Shape:
    """How messages come: so many, at a rate a second, from so many senders; shares are of 1.

    `delay` is the longest that a message is held back; `spread` is the share that goes to the second listener at once.
    """

    messages: int
    rate: float
    senders: int
    duplicates: float = 0.2
    late: float = 0.1
    delay: float = 4.0
    long: float = 0.1
    spread: float = 0.0
    start: float = 0.0
    prefix: str = "a"


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill to come: `pick` (0 to 1) chooses among the processes, `seconds` is how long it lasts where it does."""

    at: float
    kind: str
    pick: float
    seconds: float


def plan_messages(seed: int, shape: Shape, bodies: tuple[str, ...] = ()) -> tuple[Message, ...]:
    """Draw the messages, ordered by when they come. Bodies are made up, each with a word of its own, unless given."""
    random = Random(f"{seed} messages {shape.prefix}")
    senders = _addresses(random, shape.senders)
    drawn = [_message(random, shape, number, senders, bodies) for number in range(shape.messages)]
    return tuple(sorted(drawn, key=lambda message: message.at))


def _message(random: Random, shape: Shape, number: int, senders: list[str], bodies: tuple[str, ...]) -> Message:
    late = random.uniform(0.5, shape.delay) if random.random() < shape.late else 0.0
    long = LONG if random.random() < shape.long else ""
    body = f"question {shape.prefix}{number} {canary(random)}{long}"
    return Message(
        sid=f"SM{shape.prefix}{number:06d}{random.getrandbits(64):016x}",
        sender=senders[number] if len(senders) == shape.messages else random.choice(senders),
        body=bodies[number % len(bodies)] if bodies else body,
        at=shape.start + number / shape.rate + late,
        listener=FALLBACK if random.random() < shape.spread else PRIMARY,
        again=tuple(_again(random, shape.duplicates)),
    )


def _again(random: Random, share: float) -> Iterator[Again]:
    """Draw duplicates: some race with the first one, most come later, some long after the reply."""
    while random.random() < share:
        after = random.choice((0.0, random.uniform(0, 0.05), random.uniform(0.05, 1), random.uniform(1, 6)))
        yield Again(after, random.choice((PRIMARY, FALLBACK)))


def canary(random: Random) -> str:
    """Make up a word that stands nowhere else."""
    return "zq" + "".join(random.choices(LETTERS, k=14))


def _addresses(random: Random, count: int) -> list[str]:
    """Make up addresses: Spanish mobiles, and every tenth a user name, which WhatsApp gives instead of a number."""
    first = random.randrange(MOBILES)
    # A step without a common divisor: all differ, and those of two shapes hardly ever meet.
    numbers = [(first + place * STEP) % MOBILES for place in range(count)]
    return [
        f"whatsapp:US.900000{number:07d}" if place % 10 == 9 else f"whatsapp:+3469{number:07d}"
        for place, number in enumerate(numbers)
    ]


def plan_kills(seed: int, count: int, seconds: float, kinds: dict[str, int] | None = None) -> tuple[Kill, ...]:
    """Draw so many kills over the given time, every kind at least once when there are enough."""
    random = Random(f"{seed} kills")
    weights = KINDS if kinds is None else kinds
    names = list(weights)[:count]
    names += random.choices(list(weights), list(weights.values()), k=count - len(names))
    random.shuffle(names)
    times = sorted(random.uniform(0.03, 0.97) * seconds for _ in names)
    return tuple(Kill(at, kind, random.random(), _lasting(random, kind)) for at, kind in zip(times, names, strict=True))


def _lasting(random: Random, kind: str) -> float:
    match kind:
        case "postmaster":
            return random.uniform(0.5, 3.0)
        case "worker stalled":
            return random.uniform(4.0, 6.0)
    return 0.0
