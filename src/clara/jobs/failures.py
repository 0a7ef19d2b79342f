"""The errors whose message tells a person what to mend."""

from clara.adapters.postgres.embedded import EmbeddedServerError
from clara.adapters.postgres.engine import DatabaseUnavailableError, UnsuitableServerError
from clara.conversation.texts import TextsError
from clara.ingestion.ports import StoreUnavailableError
from clara.jobs.children import ChildrenFailedError
from clara.jobs.knowing import UnknownProcedureError
from clara.jobs.preparing import OutdatedCorpusError, OutdatedSchemaError
from clara.jobs.searching import BatchError
from clara.knowledge.faults import DataError
from clara.retrieval.ports import EmbedderUnavailableError
from clara.settings import SettingsError

MENDABLE = (
    BatchError,
    DataError,
    ChildrenFailedError,
    DatabaseUnavailableError,
    EmbedderUnavailableError,
    EmbeddedServerError,
    OutdatedCorpusError,
    OutdatedSchemaError,
    SettingsError,
    StoreUnavailableError,
    TextsError,
    UnknownProcedureError,
    UnsuitableServerError,
)
