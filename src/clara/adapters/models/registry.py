"""The models of this release, a line each. A module of a provider is loaded when something of it is asked for."""

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from clara.adapters.models.guards import CallGuard
    from clara.settings import Settings

# A person gets the answer within twelve seconds, whatever a provider does: two are for the rest. Whoever asks gives less.
LONGEST_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class ModelParts:
    """What models are built from.

    `guard` gives what stands between a part of the program and a provider, for a call of so many seconds at most; connections
    are given back by `closing`.
    """

    settings: "Settings"
    guard: "Callable[[str, float], CallGuard]"
    closing: ExitStack


@dataclass(frozen=True, slots=True)
class EmbedderProvider:
    """Who embeds for the vector spaces whose names match `spaces`.

    `module` has `space_of(settings)`, the name of the space that the settings ask for, and `build(space, parts, patient=...)`:
    patient is what fills corpora, and may wait for quotas; the other one answers people.
    """

    module: str
    spaces: re.Pattern[str]


# By what `clara index build --model` takes, beside "local" for the bundled one. The size is part of a space's name: vectors of
# one model in two sizes are two spaces.
EMBEDDERS: Final[Mapping[str, EmbedderProvider]] = {
    "gemini": EmbedderProvider(f"{__package__}.gemini_embedder", re.compile(r"gemini-[a-z0-9.-]+-768")),
}
# By the value of a setting: each module has `build(parts)`, or the function behind the colon.
WRITERS: Final[Mapping[str, str]] = {"gemini": "gemini_generation:build_writer", "scripted": "scripted"}
TRANSCRIBERS: Final[Mapping[str, str]] = {"gemini": "gemini_generation:build_transcriber", "whisper": "whisper"}
TRANSLATORS: Final[Mapping[str, str]] = {"gemini": "gemini_generation:build_translator"}
RERANKERS: Final[Mapping[str, str]] = {"gemini": "gemini_generation:build_reranker", "endpoint": "endpoint_reranker"}
# Calls that cost money must be counted.
PAID: Final = frozenset({"gemini"})


def build_model(choices: Mapping[str, str], choice: str, parts: ModelParts) -> Any:  # noqa: ANN401  each part has its own port
    """Build what a setting chose; None for what is nobody's, as "none" is."""
    if choice not in choices:
        return None
    module, _, function = choices[choice].partition(":")
    return getattr(import_module(f"{__package__}.{module}"), function or "build")(parts)
