"""Goal 12 on a real clock: `python -m tests.faults.providers`. Each way in which Gemini fails, behind production's guards.

While a fault stands, people write messages, and each gets an answer in time: the one that is quoted. Then the model alone is
asked until the breaker opens; then the fault heals, and the time is taken until somebody is answered by the model again. Exit
code 1 when a goal is missed.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from time import monotonic, perf_counter, sleep
from typing import Final

import click
from pydantic import SecretStr

from clara.answering.journey import Tools, converse
from clara.answering.message import Message, ReplyStatus
from clara.answering.ports import ModelUnavailableError, Prompt, TextModel
from clara.container import Container
from clara.logs import configure_logs
from clara.processes.preparation import running_container
from clara.retrieval.ports import Embedder
from clara.settings import Settings, load_settings
from clara_lab.stand_ins.model_server import ModelStandIn
from clara_lab.stand_ins.server import ScriptedReply
from clara_lab.stand_ins.speech import faults_of

# As many as the turns of one worker, and what the writer gives a call at most; all of it within 12 s of the message.
ASKING_AT_ONCE: Final = 4
SECONDS: Final = 8.0
LONGEST: Final = 12.0
CALLS: Final = 40
QUESTIONS: Final = (
    "¿Cuánto se cobra con el IMV?", "how do I renew my TIE", "كيف أحصل على رقم NIE؟", "quels papiers pour le padrón",
    "как получить номер NIE", "怎么申请 NIE", "cum obțin NIE", "abogado gratis sin papeles",
)  # fmt: skip
# Each has connections of its own to the database, which has a hundred.
FAULTS_AT_ONCE: Final = 4
# Goal 12: failures until the breaker opens, beyond those that are under way with it, and seconds until it closes after healing.
OPENS: Final = 5
CLOSES: Final = 30.0
# A day's quota says when it opens: until then Gemini is kept away from, so there is no healing to wait for.
LASTING: Final = frozenset({"quota-day"})
PROMPT: Final = Prompt("Answer from the page alone.", "canary-of-a-person\\nEl NIE cuesta 9,84 €.")
CRITICAL: Final = 50  # logging.CRITICAL: this prints a table, not a log
# A model that is served, and who asks it: for an answer, or alone.
_Served = tuple[ModelStandIn, Tools, TextModel]


@dataclass(frozen=True, slots=True)
class Endured:
    """What became of one fault.

    `waited` are the seconds of each message, `unanswered` how many got no answer, `drafts` how often the model was asked for
    them. Of the model alone: the seconds of each call,
    how many it answered, the reasons it gave, the requests that were made, and the seconds until it was well again.
    """

    name: str
    waited: tuple[float, ...]
    unanswered: int
    drafts: int
    seconds: tuple[float, ...]
    answered: int
    reasons: frozenset[str]
    requests: int
    healed: float | None

    def missed(self, *, declined: bool) -> list[str]:
        """Name the goals that were missed. A declined request says nothing against the provider, so nothing opens."""
        faults = {
            "people without an answer": self.unanswered > 0,
            "messages without the model": self.drafts == 0,
            "people waited": max(self.waited) > LONGEST,
            "the model answered": self.answered > 0,
            "not asked": any("counted" in reason for reason in self.reasons) or self.requests == 0,
            "too slow": max(self.seconds) > LONGEST,
            "leaked": any("canary" in reason for reason in self.reasons),
            "opened late": not declined and self.requests > OPENS + ASKING_AT_ONCE - 1,
            "closed late": self.name not in LASTING and (self.healed is None or self.healed > CLOSES),
        }
        return [name for name, so in faults.items() if so]


def main() -> None:
    """Try every fault, some at the same time, and print a line for each."""
    configure_logs(CRITICAL)
    faults: Mapping[str, ScriptedReply] = {**faults_of("gemini", "failing"), **faults_of("gemini", "declining")}
    with (
        running_container(load_settings(), lambda said: click.echo(said, err=True), prepare="all") as container,
        ThreadPoolExecutor(FAULTS_AT_ONCE) as pool,
    ):
        served = partial(_served, container.settings, container.database_url, container.embedder)
        endured = list(pool.map(lambda named: _endure(served, *named), faults.items()))
    people, model = f"{'messages':>8} {'drafts':>6} {'max s':>6}", f"{'calls':>5} {'max s':>6} {'requests':>8}"
    click.echo(f"{'fault':<14} {people} {model} {'well after s':>13}")
    missed = [told for each in endured if (told := _say(each, declined=each.name in faults_of("gemini", "declining")))]
    for what, spent in (("messages", [each.waited for each in endured]), ("calls", [each.seconds for each in endured])):
        ordered = sorted(seconds for some in spent for seconds in some)
        click.echo(f"all: {len(ordered)} {what}, p99 {ordered[int(0.99 * len(ordered))]:.2f} s, longest {ordered[-1]:.2f} s")
    click.echo(f"goals missed: {missed or 'none'}")
    if missed:
        sys.exit(1)


def _endure(served: Callable[[], AbstractContextManager[_Served]], name: str, fault: ScriptedReply) -> Endured:
    with served() as (server, tools, _), ThreadPoolExecutor(ASKING_AT_ONCE) as people:
        _converse(tools, QUESTIONS[0])  # what is built once is not part of an answer
        server.requests.clear()
        server.standing = fault
        replies = list(people.map(lambda question: _converse(tools, question), QUESTIONS * 2))
        drafts = len(server.requests)
    with served() as (server, _, model):
        server.standing = fault
        with ThreadPoolExecutor(ASKING_AT_ONCE) as people:
            told = list(people.map(lambda _number: _ask(model), range(CALLS)))
        requests = len(server.requests)
        server.standing = None
        healed = None if name in LASTING else _until_answered(model)
    reasons = frozenset(reason for reason, _ in told if reason is not None)
    answered = sum(reason is None for reason, _ in told)
    waited, unanswered = tuple(seconds for _, seconds in replies), sum(not answer for answer, _ in replies)
    seconds = tuple(seconds for _, seconds in told)
    return Endured(name, waited, unanswered, drafts, seconds, answered, reasons, requests, healed)


@contextmanager
def _served(settings: Settings, database_url: str | None, embedder: Embedder) -> Iterator[_Served]:
    """Serve a Gemini, and answer with its help."""
    server = ModelStandIn().serve()
    chosen = {"rag_writer": "gemini", "gemini_api_key": SecretStr("any"), "gemini_base_url": server.url}
    settings = settings.model_copy(update={**chosen, "gemini_calls_per_day": 10**9})
    with Container(settings, database_url) as failing:
        failing.embedder = embedder
        model = failing.models.text_model
        if model is None:
            raise TypeError
        yield server, failing.snapshot().tools, model
    server.close()


def _converse(tools: Tools, question: str) -> tuple[bool, float]:
    started = perf_counter()
    reply = converse(Message(question), tools)
    return reply.status is ReplyStatus.ANSWERED and bool(reply.citations), perf_counter() - started


def _ask(model: TextModel) -> tuple[str | None, float]:
    started = perf_counter()
    try:
        model.write(PROMPT, SECONDS)
    except ModelUnavailableError as error:
        return str(error), perf_counter() - started
    return None, perf_counter() - started


def _until_answered(model: TextModel) -> float | None:
    """Give the seconds until somebody is answered, asking twice a second; None when nobody is in twice the time of the goal."""
    started = monotonic()
    while monotonic() - started < 2 * CLOSES:
        if _ask(model)[0] is None:
            return monotonic() - started
        sleep(0.5)
    return None


def _say(endured: Endured, *, declined: bool) -> str:
    """Print what became of a fault; give what was missed of the goals, empty when nothing was."""
    healed = "when it opens" if endured.name in LASTING else f"{endured.healed or float('inf'):.1f}"
    people = f"{len(endured.waited):>8} {endured.drafts:>6} {max(endured.waited):>6.2f}"
    calls = f"{len(endured.seconds):>5} {max(endured.seconds):>6.2f} {endured.requests:>8} {healed:>13}"
    click.echo(f"{endured.name:<14} {people} {calls}")
    missed = endured.missed(declined=declined)
    return f"{endured.name}: {', '.join(missed)}" if missed else ""


if __name__ == "__main__":
    main()
