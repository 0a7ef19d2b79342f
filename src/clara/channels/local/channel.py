"""The local channel: a chat page on this machine, which reads each reply from the outbox."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from clara.delivery.message import Outgoing, Taken
from clara.delivery.ports import ChannelLimits
from clara.settings import Settings
from clara.web.calls import ChannelIntake

if TYPE_CHECKING:
    from flask import Blueprint


class LocalChannel:
    """Implements Channel. Its page has no login, so it runs alone and for this machine only."""

    name = "local"
    limits = ChannelLimits(1_600)  # as on WhatsApp: the page shows what a person there would get

    def __init__(self, settings: Settings) -> None:
        del settings

    def routes(self, intake: ChannelIntake) -> "Blueprint":
        """Give the page and its two calls."""
        from clara.channels.local.page import ChatPage

        return ChatPage(intake).blueprint()

    def sender(self) -> "LocalSender":
        """Give what takes replies."""
        return LocalSender()

    def recordings(self) -> None:
        """Give none: the page takes text."""


class LocalSender:
    """Implements delivery's Sender: the page reads the reply from the outbox, so there is nothing to send."""

    def send(self, outgoing: Outgoing, timely: Callable[[], bool]) -> str | None:
        """Take the message."""
        del outgoing, timely
        return None

    def taken(self, outgoing: Outgoing) -> Sequence[Taken]:
        """Know of nothing that was sent: there is nothing that could be sent twice."""
        del outgoing
        return ()
