"""What an operator sees of the messages on their way."""

from sqlalchemy import Engine

from clara.adapters.postgres.statements import AtOnce
from clara.delivery.overview import DeliveryStatus, SetAside
from clara.delivery.ports import StoreUnavailableError


class PostgresOverview:
    """Reads how delivery stands. Raises StoreUnavailableError."""

    def __init__(self, engine: Engine) -> None:
        self._at_once = AtOnce(engine, StoreUnavailableError)

    def status(self) -> DeliveryStatus:
        """Count what is on its way."""
        return self._at_once.read(DeliveryStatus, "overview.status")[0]

    def set_aside(self) -> list[SetAside]:
        """Give the messages that a person should look at, the oldest first."""
        return self._at_once.read(SetAside, "overview.aside")

    def looked_at(self, inbox_id: int) -> bool:
        """Record that a person has looked at it; False when there was no such message."""
        return bool(self._at_once.changed("overview.looked_at", id=inbox_id))


def ask(engine: Engine) -> None:
    """Ask the database for nothing, to see whether it answers. Raises StoreUnavailableError."""
    AtOnce(engine, StoreUnavailableError).row("overview.nothing")
