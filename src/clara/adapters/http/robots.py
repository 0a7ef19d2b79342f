"""What hosts ask robots to leave alone: robots.txt (RFC 9309), read once a day."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import httpx
from protego import Protego

from clara.editorial.sources import HostOutError, SourceUnreachableError

# As the standard recommends: rules are used for a day at most, and half a megabyte of them is read.
KEPT_SECONDS: Final = 86_400.0
MOST_BYTES: Final = 500 * 1024
CLIENT_ERROR, SERVER_ERROR = 400, 500


@dataclass(frozen=True, slots=True)
class Rules:
    """What a host asks of one robot."""

    rules: Protego
    robot: str

    def allow(self, url: str) -> bool:
        """Whether the page may be fetched."""
        return bool(self.rules.can_fetch(url, self.robot))

    @property
    def pause_seconds(self) -> float:
        """Give the pause between two requests that the host asks for; 0 when it asks for none."""
        return float(self.rules.crawl_delay(self.robot) or 0.0)


class Robots:
    """Reads and remembers the rules of hosts. `robot` is the name by which rules may call us."""

    def __init__(self, robot: str, clock: Callable[[], float]) -> None:
        self._robot = robot
        self._clock = clock
        self._held: dict[str, tuple[float, Rules]] = {}

    def of(self, origin: str, get: Callable[[str], httpx.Response]) -> Rules:
        """Give the rules of an origin ("https://host"), asked with `get` if they are not known.

        A host without the file allows everything. One that cannot say is left alone: raises SourceUnreachableError.
        """
        known = self._held.get(origin)
        if known is None or known[0] < self._clock():
            known = (self._clock() + KEPT_SECONDS, Rules(self._asked(f"{origin}/robots.txt", get), self._robot))
            self._held[origin] = known
        return known[1]

    def _asked(self, url: str, get: Callable[[str], httpx.Response]) -> Protego:
        try:
            answer = get(url)
        except SourceUnreachableError as error:
            msg = f"{url} could not be read, so it is unknown what may be fetched there: {error}"
            raise type(error)(msg, error.retry_seconds) from error
        if answer.status_code >= SERVER_ERROR:
            raise HostOutError(f"{url} answered {answer.status_code}, so nothing is fetched there for now")
        allowed = answer.status_code >= CLIENT_ERROR
        return Protego.parse("" if allowed else answer.content[:MOST_BYTES].decode("utf-8", "replace"))
