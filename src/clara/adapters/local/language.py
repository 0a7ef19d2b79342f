"""Language identification with eldc, limited to the served languages."""

from collections.abc import Sequence
from threading import Lock

import eldc


class LocalLanguageIdentifier:
    """Names the likeliest of the given languages. The detector's tables are global to the process, hence the lock."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._lock = Lock()
        self._languages = list(languages)
        self._ready = False

    def identify(self, text: str) -> str | None:
        """Give an ISO 639-1 code, or None when the text has no letters to judge by."""
        with self._lock:
            if not self._ready:
                eldc.init()
                eldc.set_languages(self._languages)
                self._ready = True
            code = eldc.detect(text.encode("utf-8", "replace").decode("utf-8"))
        return code if code in self._languages else None
