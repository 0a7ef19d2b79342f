"""The errors whose message tells a person what to mend."""

from clara.adapters.alerting import AlertNotTakenError
from clara.adapters.postgres.alone import BusyDocumentError
from clara.adapters.postgres.embedded import EmbeddedServerError
from clara.adapters.postgres.engine import DatabaseUnavailableError, UnsuitableServerError
from clara.adapters.postgres.fact_decisions import UntouchedFactError
from clara.adapters.postgres.findings import DecidedFindingError, UnknownFindingError
from clara.adapters.postgres.passages import UnknownCorpusError
from clara.adapters.postgres.publications import NothingToUndoError, ServedChangedError
from clara.adapters.postgres.spaces import NameTakenError
from clara.delivery.ports import StoreUnavailableError as MessagesUnavailableError
from clara.ingestion.chunking import ChunkingError
from clara.ingestion.ports import StoreUnavailableError
from clara.ingestion.programs import UnreadableProgramsError
from clara.ingestion.reading import UnreadableDocumentsError
from clara.jobs.batches import BatchError
from clara.jobs.children import ChildrenFailedError
from clara.jobs.corpora import CorpusNameError
from clara.jobs.delivering import UnknownMessageError
from clara.jobs.drifting import NoWebhookError, UnknownSourceError
from clara.jobs.explaining import UnknownTurnError
from clara.jobs.indexing import BusyIndexError, IncompleteIndexError
from clara.jobs.ingesting import NothingChosenError
from clara.jobs.knowing import UnknownProcedureError
from clara.jobs.preparing import OutdatedCorpusError, OutdatedSchemaError
from clara.jobs.publishing import BusyPublishingError, UnknownCorrectionError
from clara.jobs.remembering import NothingRecordedError
from clara.jobs.reviewing import MissingReasonError
from clara.jobs.watching import WatchError
from clara.knowledge.faults import DataError
from clara.knowledge.law.norm import UnreadableNormError
from clara.retrieval.counters import MetricsUnavailableError
from clara.retrieval.memory import EmbeddingMemoryUnavailableError
from clara.retrieval.ports import EmbedderUnavailableError, IndexUnavailableError
from clara.retrieval.profile import ProfileError
from clara.retrieval.strategies import UnknownStrategyError
from clara.retrieval.tokens import TokenCounterUnavailableError
from clara.retrieval.validating import InvalidQueryError
from clara.retrieval.vocabulary import VocabularyError
from clara.settings import SettingsError

MENDABLE = (
    BusyDocumentError,
    NothingChosenError,
    BatchError,
    BusyIndexError,
    BusyPublishingError,
    ChunkingError,
    CorpusNameError,
    EmbeddingMemoryUnavailableError,
    IncompleteIndexError,
    IndexUnavailableError,
    InvalidQueryError,
    MessagesUnavailableError,
    MetricsUnavailableError,
    NameTakenError,
    NothingRecordedError,
    NothingToUndoError,
    ProfileError,
    ServedChangedError,
    TokenCounterUnavailableError,
    UnknownCorpusError,
    UnknownCorrectionError,
    UnreadableDocumentsError,
    UnreadableProgramsError,
    VocabularyError,
    DataError,
    ChildrenFailedError,
    DatabaseUnavailableError,
    EmbedderUnavailableError,
    EmbeddedServerError,
    OutdatedCorpusError,
    OutdatedSchemaError,
    SettingsError,
    StoreUnavailableError,
    UnknownMessageError,
    UnknownProcedureError,
    UnknownStrategyError,
    UnknownTurnError,
    UnsuitableServerError,
    WatchError,
    AlertNotTakenError,
    DecidedFindingError,
    MissingReasonError,
    UnknownFindingError,
    UntouchedFactError,
    NoWebhookError,
    UnknownSourceError,
    UnreadableNormError,
)
