"""A language model that completes a prompt, whichever service it stands behind: for enriching, writing and judging."""

from dataclasses import dataclass
from typing import Protocol

from clara.errors import Unavailable


class ChatUnavailableError(Unavailable):
    """The model gave no usable text. The message is a short reason without a word of the prompt or the answer."""


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """What a model is told: who it is, and what is asked. `max_tokens` bounds what it writes; 0 leaves that to the model.

    `json` asks for a JSON document instead of running text.
    """

    system: str
    user: str
    max_tokens: int = 0
    json: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, how many tokens it read and wrote as it says itself (0: it does not say), and how long it took."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


class ChatModel(Protocol):
    """Completes prompts; safe to share between threads, which wait for their turn inside."""

    @property
    def name(self) -> str:
        """The model's name, as its service calls it."""
        ...

    def complete(self, prompt: ChatPrompt) -> Completion:
        """Give what the model wrote. Raises ChatUnavailableError."""
        ...
