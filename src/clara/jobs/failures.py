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
from clara.ingestion.chunks import ChunkingError
from clara.ingestion.documents import UnreadableDocumentsError
from clara.ingestion.ports import StoreUnavailableError
from clara.ingestion.programs import UnreadableProgramsError
from clara.jobs.as_of import NothingRecordedError
from clara.jobs.children import ChildrenFailedError
from clara.jobs.corpora import CorpusNameError
from clara.jobs.delivery_overview import UnknownMessageError
from clara.jobs.drift import NoWebhookError, UnknownSourceError
from clara.jobs.explanation import UnknownTurnError
from clara.jobs.gazette_watch import WatchError
from clara.jobs.index_change import BusyIndexError, IncompleteIndexError
from clara.jobs.ingestion import NothingChosenError
from clara.jobs.knowledge_pages import UnknownProcedureError
from clara.jobs.preparation import OutdatedCorpusError, OutdatedSchemaError
from clara.jobs.publication import BusyPublishingError, UnknownCorrectionError
from clara.jobs.review import MissingReasonError
from clara.json_lines import BatchError
from clara.knowledge.law.norm import UnreadableNormError
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
