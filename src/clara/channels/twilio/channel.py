"""WhatsApp through Twilio. Its client takes 33 MB that the web does without: each half is imported when it is built."""

from typing import TYPE_CHECKING, Final

from clara.delivery.ports import ChannelLimits
from clara.settings import Settings
from clara.web.calls import ChannelIntake

if TYPE_CHECKING:
    from flask import Blueprint

    from clara.channels.twilio.media import TwilioMedia
    from clara.channels.twilio.sender import TwilioSender

# WhatsApp takes free text only within a day of the person's last message (Twilio's error 63016).
WINDOW_SECONDS: Final = 24 * 3600.0


class TwilioChannel:
    """Implements Channel."""

    name = "whatsapp"  # in the rows of every release
    limits = ChannelLimits(longest=1_600, window_seconds=WINDOW_SECONDS, window_code="63016")

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = settings.secret("twilio_auth_token")
        self._account = str(settings.twilio_account_sid)

    def routes(self, intake: ChannelIntake) -> "Blueprint":
        """Give the addresses that Twilio calls. Raises SettingsError: without a token anybody could sign."""
        self._settings.require_channel()
        from clara.channels.twilio.forms import TwilioForms
        from clara.web.webhook import Webhook

        return Webhook(TwilioForms(self._token, WINDOW_SECONDS), intake, str(self._settings.clara_public_url)).blueprint()

    def sender(self) -> "TwilioSender":
        """Build Twilio's client."""
        from clara.channels.twilio.sender import TwilioSender

        status = f"{self._settings.clara_public_url}/webhook/status"
        return TwilioSender(self._account, self._token, status, self._settings.twilio_api_url)

    def recordings(self) -> "TwilioMedia":
        """Build what fetches voice notes from Twilio."""
        from clara.channels.twilio.media import TwilioMedia

        return TwilioMedia(self._account, self._token, self._settings.twilio_api_url)
