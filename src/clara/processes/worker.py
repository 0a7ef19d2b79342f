"""The worker: takes the turns of stored messages, one of a sender at a time."""

import sys
from dataclasses import replace

import structlog

from clara.adapters.postgres.connections import plain_url
from clara.adapters.postgres.delivery.overview import PostgresOverview
from clara.adapters.postgres.delivery.turn_store import SET_ASIDE_AFTER
from clara.adapters.postgres.operations.metrics import PostgresMetrics
from clara.adapters.postgres.operations.upkeep import PostgresUpkeep
from clara.adapters.procrastinate.engine import TurnScheduler, Worker
from clara.answering.journey import Tools, converse
from clara.answering.message import Message, Reply, ReplyStatus
from clara.answering.safety.danger import Alarm, AlarmLevel
from clara.channels.ports import outlets
from clara.container import Container
from clara.delivery import ports
from clara.delivery.message import Case, Limit
from clara.delivery.turn_processor import Clerk, Converse, take_turn
from clara.retrieval.metrics import MetricsUnavailableError, hand_on

# A message that ended its worker twice is answered without embedder and database (desk.SET_ASIDE_AFTER); if even that fails,
# with an apology.
APOLOGISE_AFTER = 4
# So often a thread that computes lets the others go on, in seconds. Reading a long message computes for .2 s without a pause,
# and an ordinary turn asks for the interpreter again after each of its trips: beside such a reader it took .44 s with Python's
# own 5 ms, .12 s with this, .04 s alone.
SWITCH_SECONDS = 0.0002
# The text that a message over a limit is answered with.
NOTICES = {
    Limit.SENDER_MINUTE: "limit_minute",
    Limit.SENDER_DAY: "limit_day",
    Limit.EVERYONE_MINUTE: "busy",
    Limit.EVERYONE_DAY: "busy",
}
# What a turn may meet without anything being wrong with the program: it is taken again.
PUT_OFF = (
    ports.TemporarySendError, ports.LostAnswerError, ports.SupersededError,
    ports.StoreUnavailableError, ports.UnsealableError,
)  # fmt: skip
log = structlog.get_logger()


def build_worker(services: Container, converse_with: Converse | None = None) -> Worker:
    """Build the worker of this process. `converse_with` stands in for the answering, to try out everything around it."""
    settings, engine = services.settings, services.engine
    sys.setswitchinterval(SWITCH_SECONDS)
    if converse_with is None:
        _ = services.snapshot().tools  # built now, which takes seconds, not while the first person waits
    clerk = Clerk(services.desk(), converse_with or (lambda case: answer(services, case)), outlets(services.channels))
    store = PostgresMetrics(engine)

    def take(inbox_id: int) -> str:
        try:
            outcome = take_turn(inbox_id, clerk)
        except PUT_OFF as error:
            log.warning("turn put off", error=type(error).__name__, reason=str(error))
            raise
        finally:
            hand_on(services.metrics, store, _kept)
        log.info("turn taken", outcome=outcome)
        return outcome

    upkeep = PostgresUpkeep(engine, services.sealer, TurnScheduler().schedule)
    return Worker(plain_url(str(services.database_url)), take, settings.clara_worker_turns, upkeep.run)


def _kept(error: MetricsUnavailableError) -> None:
    log.warning("counters kept for later", error=str(error))


def answer(services: Container, case: Case) -> Reply:
    """Answer a message, more carefully the more often it failed before. Raises StoreUnavailableError."""
    if case.limit is not None:
        return notice(services, case, case.limit)
    if case.tries >= APOLOGISE_AFTER:
        language = case.previous_language or "es"
        apology = Reply(services.snapshot().safe_tools.say(language, "error"), ReplyStatus.OUTAGE, language)
        return _helped(services, case, language) or apology
    recordings = tuple(f"{case.incoming.channel}:{name}" for name in case.incoming.recordings)
    message = Message(case.incoming.text, case.incoming.media_types, recordings)
    tools = replace(
        _tools(services, case),
        known=lambda: PostgresOverview(services.engine).known(case.pseudonym),
        vectors=services.turn_vectors,
    )
    reply = converse(message, tools, first_contact=case.first_contact, previous_language=case.previous_language, past=case.past)
    log.info(
        "message answered",
        status=reply.status.value,
        tier=reply.tier,
        language=reply.language,
        attempts=case.tries,
        total_ms=round(reply.timings_ms["total"], 1),
        reason=reply.trace.get("reason"),
    )
    return reply


def _helped(services: Container, case: Case, language: str) -> Reply | None:
    """Tell somebody in danger whom to call, even where nothing else will be answered."""
    guard = services.snapshot().safe_tools.guard
    kinds = guard.danger.recognise(case.incoming.text or "")
    return guard.urgent(Alarm(AlarmLevel.SURE, kinds), language) if kinds else None


def notice(services: Container, case: Case, limit: Limit) -> Reply:
    """Say that a message will not be answered, and what to do: it was over a limit."""
    tools = services.snapshot().safe_tools
    language = tools.detector.detect(case.incoming.text or "", case.previous_language)
    log.info("message over a limit", reason=limit.value)
    if helped := _helped(services, case, language):
        return helped
    text = tools.say(language, NOTICES[limit])
    if case.first_contact:
        text = f"{tools.texts.say(language, 'first_contact', human='').strip()}\n\n{text}"
    return Reply(text, ReplyStatus.LIMITED, language)


def _tools(services: Container, case: Case) -> Tools:
    if case.tries >= SET_ASIDE_AFTER:
        return services.snapshot().safe_tools
    first_try = case.tries == 0  # a message costs one share, however often its worker dies
    if services.settings.pays_for_answers and first_try and not services.budget().spend(case.pseudonym):
        log.info("answered without a paid model", reason="the day's share is used up")
        return services.snapshot().unaided_tools
    return services.snapshot().tools
