"""When a turn that failed is taken again."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.jobs import Job

from clara.delivery.ports import LostAnswerError, StoreUnavailableError, SupersededError, TemporarySendError
from clara.delivery.turns import SETTLED_SECONDS

# After this long a try to send is old enough to be looked for at the channel.
LOOK_AGAIN_SECONDS: Final = SETTLED_SECONDS + 0.1
SHORT_SECONDS: Final = 2.0
# Twilio asks for exponential back-off on 20429; five minutes is late, and still useful to a person who waits.
LONGEST_SECONDS: Final = 300.0


def wait_after(error: BaseException, attempts: int) -> float:
    """Give the seconds to wait, after so many earlier tries. There is no last try: the turn itself gives up after a day."""
    if isinstance(error, LostAnswerError):
        return LOOK_AGAIN_SECONDS
    if isinstance(error, TemporarySendError) and error.wait is not None:
        return error.wait
    if isinstance(error, StoreUnavailableError | SupersededError):
        return SHORT_SECONDS
    return float(min(SHORT_SECONDS * 2 ** min(attempts, 10), LONGEST_SECONDS)) * random.uniform(0.8, 1.2)  # noqa: S311


class Patience(BaseRetryStrategy):
    """Sets the time of the next try by the database's clock, which is the one that decides when it has come."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision:
        """Give when to try again; there is always a next try."""
        return RetryDecision(retry_at=self._now() + timedelta(seconds=wait_after(exception, job.attempts)))
