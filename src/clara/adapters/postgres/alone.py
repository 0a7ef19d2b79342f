"""Being the only one who brings a document into the index, on however many machines it is tried."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from clara.adapters.postgres.engine import DatabaseUnavailableError, translated
from clara.ingestion.ports import StoreUnavailableError

# Any constant beside those of other locks of two numbers.
DOCUMENT: Final = 5_305_011
# Whoever has the document embeds it meanwhile: the largest norm, 2,600 passages at four a second, takes eleven minutes.
PATIENCE_SECONDS: Final = 1_800
TAKE: Final = text("select pg_advisory_lock(:lock, hashtext(:name))")
# The lock of a machine that vanished without a word goes when the server notices, by default after two hours.
PREPARE: Final = text(
    "select set_config('lock_timeout', :patience, false), set_config('statement_timeout', '0', false), "
    "set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false), set_config('application_name', 'clara ingestion', false)"
)
NOT_AVAILABLE: Final = "55P03"


class BusyDocumentError(Exception):
    """Somebody else has been ingesting this document for half an hour. Look whether that process is alive; then try again."""


@contextmanager
def alone_with(engine: Engine, corpus: str, document: str, patience_seconds: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Wait until nobody else ingests the document, and keep others waiting while the block runs; ends with the process, too.

    Raises BusyDocumentError, StoreUnavailableError.
    """
    with _outages():
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    try:
        with _outages():
            connection.detach()  # the lock is the session's: no other user of the pool may ever get this connection
            connection.execute(PREPARE, {"patience": f"{patience_seconds * 1000:.0f}ms"})
            try:
                connection.execute(TAKE, {"lock": DOCUMENT, "name": f"{corpus}\n{document}"})
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) == NOT_AVAILABLE:
                    raise BusyDocumentError(f"somebody else ingests {document}; look whether that process is alive") from error
                raise
        yield
    finally:
        connection.close()


@contextmanager
def _outages() -> Iterator[None]:
    try:
        with translated():
            yield
    except DatabaseUnavailableError as error:
        raise StoreUnavailableError(str(error)) from error
