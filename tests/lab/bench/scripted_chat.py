"""A chat model for tests of what asks one: it says what it is told to, and remembers what it was asked."""

from collections.abc import Callable
from dataclasses import dataclass, field

from clara_lab.bench.prompts import ChatPrompt, ChatUnavailableError, Completion


@dataclass
class ScriptedChat:
    """Gives the same text to every prompt, or what a function makes of it; without a text it is unavailable."""

    says: str | Callable[[ChatPrompt], str] | None = "ok"
    name: str = "scripted"
    prompts: list[ChatPrompt] = field(default_factory=list)

    def complete(self, prompt: ChatPrompt) -> Completion:
        """Keep to the script."""
        self.prompts.append(prompt)
        if self.says is None:
            raise ChatUnavailableError(f"{self.name} answered 500")
        return Completion(self.says if isinstance(self.says, str) else self.says(prompt))
