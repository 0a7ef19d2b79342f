"""What the engine needs from outside, and how those things may fail."""

from collections.abc import Sequence
from typing import Literal, Protocol

from clara.errors import Unavailable

Role = Literal["query", "passage"]
Vector = Sequence[float]


class IndexUnavailableError(Unavailable):
    """The search index could not be asked. Nothing is known about what it holds."""


class EmbedderUnavailableError(IndexUnavailableError):
    """The embedding model could not be asked, so the dense leg of the index is out of reach."""


class ForeignVectorError(IndexUnavailableError):
    """A question's vector is of another model than the index: comparing them would mean nothing, so nothing was asked."""


class Embedder(Protocol):
    """Turns texts into unit vectors of one fixed size.

    Any text is allowed, blank and hostile ones too; implementations make it safe for their model. A text with nothing to
    embed gives the zero vector. Raises EmbedderUnavailableError.
    """

    model: str
    dimensions: int

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Give one vector of `dimensions` floats, of length 1, for each text, in order."""


class TextVectors(Protocol):
    """Gives the vectors of the texts of one turn, each made once."""

    def of(self, embedder: Embedder, text: str) -> Vector:
        """Give the vector of a question. Raises EmbedderUnavailableError."""
