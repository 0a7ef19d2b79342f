"""What the tests of the grounded writer share."""

from pathlib import Path
from typing import Any

import pytest
from grounding import Parts, parts_on

from clara.language.detection import LanguageDetector


@pytest.fixture(scope="session")
def parts(data: Path, real: Any, detector: LanguageDetector) -> Parts:
    """What reviews drafts, on the real data."""
    return parts_on(data, real.catalogue, detector)
