"""What a channel is to the rest of Clara: the way in, the way out, what it takes, and its voice notes."""

from typing import TYPE_CHECKING, Protocol

from clara.answering.ports import Recording, Recordings, RecordingUnavailableError
from clara.delivery.ports import ChannelLimits, Sender
from clara.delivery.turn_processor import Outlet
from clara.web.calls import ChannelIntake

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flask import Blueprint


class Channel(Protocol):
    """A channel in one process. Made from the settings, it is light: the half that a process needs is built when asked for.

    `name` stands in each of its messages, in the database too, and never changes.
    """

    name: str
    limits: ChannelLimits

    def routes(self, intake: ChannelIntake) -> "Blueprint":
        """Give the addresses at which messages and reports arrive; nothing is kept that is not verified."""

    def sender(self) -> Sender:
        """Build what sends. One serves all threads."""

    def recordings(self) -> Recordings | None:
        """Build what fetches voice notes; None: none can come."""


class ChannelRecordings:
    """Implements Recordings over those of several channels: a name begins with its channel's, and a colon."""

    def __init__(self, channels: "Mapping[str, Channel]") -> None:
        made = {name: channel.recordings() for name, channel in channels.items()}
        self._recordings = {name: recordings for name, recordings in made.items() if recordings is not None}

    def fetch(self, name: str, seconds: float) -> Recording:
        """Give a voice note, within so many seconds. Raises RecordingUnavailableError."""
        channel, _, own = name.partition(":")
        if channel not in self._recordings:
            raise RecordingUnavailableError("came by a channel that is not in CLARA_CHANNEL")
        return self._recordings[channel].fetch(own, seconds)

    def __bool__(self) -> bool:
        """Whether voice notes can come at all."""
        return bool(self._recordings)

    def close(self) -> None:
        """Close the connections."""
        for recordings in self._recordings.values():
            recordings.close()


def outlets(channels: "Mapping[str, Channel]") -> dict[str, Outlet]:
    """Build the way out of each channel."""
    return {name: Outlet(channel.sender(), channel.limits) for name, channel in channels.items()}
