"""The errors whose message tells a person what to mend."""

from clara.adapters.http.alerts import AlertNotTakenError
from clara.adapters.postgres.connections import DatabaseUnavailableError, UnsuitableServerError
from clara.adapters.postgres.corpus.passages import BusyDocumentError, UnknownCorpusError
from clara.adapters.postgres.corpus.spaces import NameTakenError
from clara.adapters.postgres.editorial.findings import DecidedFindingError, UnknownFindingError, UntouchedFactError
from clara.adapters.postgres.editorial.publications import NothingToUndoError, ServedChangedError
from clara.adapters.postgres.embedded import EmbeddedServerError
from clara.data_files import DataError
from clara.delivery.ports import StoreUnavailableError as MessagesUnavailableError
from clara.editorial.as_of import NothingRecordedError
from clara.editorial.drift_check import NoWebhookError, UnknownSourceError
from clara.editorial.gazette_watch import WatchError
from clara.editorial.ingestion import NothingChosenError
from clara.editorial.knowledge_pages import UnknownProcedureError
from clara.editorial.publication import BusyPublishingError, UnknownCorrectionError
from clara.editorial.review import MissingReasonError
from clara.ingestion.chunks import ChunkingError
from clara.ingestion.documents import UnreadableDocumentsError
from clara.ingestion.ports import StoreUnavailableError
from clara.ingestion.programs import UnreadableProgramsError
from clara.jobs.corpora import CorpusNameError
from clara.jobs.delivery_overview import UnknownMessageError
from clara.jobs.index_change import BusyIndexError, IncompleteIndexError
from clara.json_lines import BatchError
from clara.knowledge.law.norm import UnreadableNormError
from clara.processes.children import ChildrenFailedError
from clara.processes.preparation import OutdatedCorpusError, OutdatedSchemaError
from clara.quality.explanation import UnknownTurnError
from clara.retrieval.embedding_memory import EmbeddingMemoryUnavailableError
from clara.retrieval.metrics import MetricsUnavailableError
from clara.retrieval.options.strategies import UnknownStrategyError
from clara.retrieval.ports import EmbedderUnavailableError, IndexUnavailableError
from clara.retrieval.profile import ProfileError
from clara.retrieval.tokens import TokenCounterUnavailableError
from clara.retrieval.validation import InvalidQueryError
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
