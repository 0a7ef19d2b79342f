"""The channels that there are, and those that a process runs."""

from collections.abc import Callable, Mapping
from typing import Final

from clara.channels.local.channel import LocalChannel
from clara.channels.ports import Channel
from clara.channels.telegram.channel import TelegramChannel
from clara.channels.twilio.channel import TwilioChannel
from clara.settings import Settings

# By the names that CLARA_CHANNEL has for them; `settings.NEEDED_BY` says what each needs.
CHANNELS: Final[Mapping[str, Callable[[Settings], Channel]]] = {
    "local": LocalChannel,
    "telegram": TelegramChannel,
    "twilio": TwilioChannel,
}


def open_channels(settings: Settings) -> dict[str, Channel]:
    """Make the channels that CLARA_CHANNEL names, by the name that stands in their messages."""
    made = [CHANNELS[chosen](settings) for chosen in settings.channels]
    return {channel.name: channel for channel in made}
