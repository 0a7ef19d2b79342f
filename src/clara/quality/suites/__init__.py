"""The suites of the evaluation of answers, each running real code over its file in eval/answers."""

from collections.abc import Mapping
from typing import Final

from clara.quality.suites.choices import CHOICES
from clara.quality.suites.comprehension import UNDERSTANDING
from clara.quality.suites.conversations import CONVERSATIONS
from clara.quality.suites.hostile import HOSTILE
from clara.quality.suites.needs import NEEDS
from clara.quality.suites.proof import FAITHFUL, MUTATED
from clara.quality.suites.recognition import DANGER, ERASURE, MASKING
from clara.quality.suites.replies import END_TO_END, LANGUAGES, SCOPE
from clara.quality.suites.suite import Suite

# In the order in which they run.
SUITES: Final[Mapping[str, Suite]] = {
    suite.name: suite
    for suite in (
        CHOICES,
        CONVERSATIONS,
        DANGER,
        END_TO_END,
        ERASURE,
        FAITHFUL,
        HOSTILE,
        LANGUAGES,
        MASKING,
        MUTATED,
        NEEDS,
        SCOPE,
        UNDERSTANDING,
    )
}
