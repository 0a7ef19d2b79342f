"""How long to wait before a page is asked for again."""

import random
from collections.abc import Callable
from typing import Final

# Answers after which the same request may do better: overload, and failures of servers behind the one that answers.
WORTH_ANOTHER_TRY: Final = frozenset({429, 500, 502, 503, 504})
FIRST_SECONDS: Final = 1.0
FACTOR: Final = 4.0
# Who asks to be left alone for longer is asked by the next run.
MOST_PATIENCE_SECONDS: Final = 60.0


def back_off(attempt: int, chance: Callable[[], float] = random.random) -> float:
    """Give the seconds to wait after so many failed tries: 1, 4, 16, each a fifth more or less."""
    return FIRST_SECONDS * float(FACTOR ** (attempt - 1)) * (0.8 + 0.4 * chance())
