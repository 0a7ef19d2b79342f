"""Taking messages in: the row and its job are stored in one transaction, before the channel gets its acknowledgement."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.dialects.postgresql import insert as upsert

from clara.adapters.postgres.engine import DatabaseUnavailableError, translated
from clara.adapters.postgres.schema import inbox, outbox, turns
from clara.adapters.postgres.search import storable
from clara.conversation.message import Incoming
from clara.conversation.ports import LocalReply, StoreUnavailableError

# Schedules the turn of an inbox row on the driver's own connection, inside its transaction: (connection, row id, pseudonym).
Schedule = Callable[[Any, int, str], None]


def pseudonym(key: str, address: str) -> str:
    """Name a sender without revealing the address: keyed, because all Spanish mobiles can be hashed in two minutes."""
    return hmac.new(key.encode(), address.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


class PostgresInbox:
    """Implements the conversation's Inbox, and reads replies back for the local chat page."""

    def __init__(self, engine: Engine, key: str, schedule: Schedule) -> None:
        self._engine = engine
        self._key = key
        self._schedule = schedule

    def accept(self, incoming: Incoming) -> bool:
        """Store and schedule; False when the message was known already. Raises StoreUnavailableError."""
        name = pseudonym(self._key, incoming.sender)
        row = {
            "message_sid": storable(incoming.sid),
            "channel": incoming.channel,
            "pseudonym": name,
            "sender": storable(incoming.sender),
            "recipient": storable(incoming.recipient),
            "body": None if incoming.text is None else storable(incoming.text),
            "media_types": [storable(kind) for kind in incoming.media_types],
        }
        try:
            with translated(), self._engine.begin() as connection:
                made = connection.scalar(upsert(inbox).values(row).on_conflict_do_nothing().returning(inbox.c.id))
                if made is None:
                    return False
                self._schedule(connection.connection.driver_connection, made, name)
        except DatabaseUnavailableError as error:
            raise StoreUnavailableError(str(error)) from error
        return True

    def reply_to(self, sid: str) -> LocalReply | None:
        """Give the reply to a message; None while there is none. Raises KeyError when the message is unknown."""
        wanted = (
            select(inbox.c.id, outbox.c.body, turns.c.language)
            .outerjoin(outbox, outbox.c.inbox_id == inbox.c.id)
            .outerjoin(turns, turns.c.inbox_id == inbox.c.id)
            .where(inbox.c.message_sid == storable(sid))
        )
        try:
            with translated(), self._engine.connect() as connection:
                row = connection.execute(wanted).one_or_none()
        except DatabaseUnavailableError as error:
            raise StoreUnavailableError(str(error)) from error
        if row is None:
            raise KeyError(sid)
        return LocalReply(row.body, row.language) if row.body is not None else None
