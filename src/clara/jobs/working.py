"""The worker: takes the turns of stored messages, one of a sender at a time."""

import structlog

from clara.adapters.postgres.engine import plain_url
from clara.adapters.postgres.metrics import PostgresMetrics
from clara.adapters.procrastinate.engine import Worker
from clara.bootstrap import Services
from clara.conversation.journey import converse
from clara.conversation.message import Reply, ReplyStatus
from clara.conversation.ports import Case, Outgoing, Sender, TemporarySendError
from clara.conversation.turns import message_of, take_turn
from clara.retrieval.counters import MetricsUnavailableError
from clara.retrieval.measured import hand_on

# A message that ended its worker twice is answered without embedder and database; if even that fails, with an apology.
SAFE_AFTER = 2
APOLOGISE_AFTER = 4
log = structlog.get_logger()


class LocalSender:
    """The sender of the local channel: the page reads the reply from the outbox, so there is nothing to send."""

    def send(self, outgoing: Outgoing) -> str | None:
        """Take the message."""
        del outgoing
        return None


def build_worker(services: Services) -> Worker:
    """Build the worker of this process."""
    desk, sender, store = services.desk(), build_sender(services), PostgresMetrics(services.engine.get())

    def take(inbox_id: int, attempts: int) -> str:
        try:
            outcome = take_turn(inbox_id, desk, lambda case: answer(services, case, attempts), sender)
        except TemporarySendError as error:
            log.warning("reply not taken, trying again later", error=str(error), attempts=attempts)
            raise
        finally:
            hand_on(services.metrics, store, _kept)
        log.info("turn taken", outcome=outcome, attempts=attempts)
        return outcome

    return Worker(plain_url(str(services.database_url)), take)


def _kept(error: MetricsUnavailableError) -> None:
    log.warning("counters kept for later", error=str(error))


def answer(services: Services, case: Case, attempts: int) -> Reply:
    """Answer a message, more carefully the more often it failed before."""
    if attempts >= APOLOGISE_AFTER:
        language = case.previous_language or "es"
        return Reply(services.safe_tools.get().say(language, "error"), ReplyStatus.OUTAGE, language)
    tools = (services.safe_tools if attempts >= SAFE_AFTER else services.tools).get()
    reply = converse(message_of(case), tools, first_contact=case.first_contact, previous_language=case.previous_language)
    log.info(
        "message answered",
        status=reply.status.value,
        tier=reply.tier,
        language=reply.language,
        total_ms=round(reply.timings_ms["total"], 1),
    )
    return reply


def build_sender(services: Services) -> Sender:
    """Build the sender of the configured channel."""
    settings = services.settings
    if settings.clara_channel == "local":
        return LocalSender()
    from clara.adapters.twilio.sender import TwilioSender  # noqa: PLC0415  33 MB that the local channel does not need

    token = settings.twilio_auth_token
    return TwilioSender(
        str(settings.twilio_account_sid),
        token.get_secret_value() if token else "",
        f"{settings.clara_public_url}/webhook/status",
        settings.twilio_api_url,
    )
