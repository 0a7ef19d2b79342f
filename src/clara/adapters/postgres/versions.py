"""Which state of a corpus a result belongs to."""

from sqlalchemy import Engine, text

from clara.adapters.postgres.engine import DatabaseUnavailableError, translated

VERSION = text("select version from corpora where name = :corpus")


class CorpusVersions:
    """Reads the version of a corpus, which grows with every change of its passages, whoever makes it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def current(self, corpus: str) -> str | None:
        """Give the version; None for an unknown corpus and while the database is away: then nothing may be called current."""
        try:
            with translated(), self._engine.connect() as connection:
                version = connection.scalar(VERSION, {"corpus": corpus.replace("\x00", " ")})
        except DatabaseUnavailableError:
            return None
        return None if version is None else str(version)
