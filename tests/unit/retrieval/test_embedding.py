"""What an embedder gives is checked before it is used."""

from collections.abc import Sequence

import pytest

from clara.retrieval.embedding import embedded
from clara.retrieval.ports import EmbedderUnavailableError, Role

NAN = float("nan")


class Provider:
    """Gives what it was told, whatever it is asked."""

    model = "provider"
    dimensions = 2

    def __init__(self, vectors: list[list[float]]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        return self._vectors


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        pytest.param([[1.0, 0.0]], "1 vectors for 2 texts", id="too-few"),
        pytest.param([[1.0, 0.0]] * 3, "3 vectors for 2 texts", id="too-many"),
        pytest.param([[1.0, 0.0], [1.0, 0.0, 0.0]], "3 dimensions instead of 2", id="too-long"),
        pytest.param([[1.0], [1.0, 0.0]], "1 dimensions instead of 2", id="too-short"),
        pytest.param([[1.0, 0.0], [0.6, 0.6]], "length 0.849 instead of 1", id="not-a-unit"),
        pytest.param([[1.0, 0.0], [NAN, 0.0]], "length nan", id="no-number"),
        pytest.param([[1.0, 0.0], [float("inf"), 0.0]], "length inf", id="infinite"),
    ],
)
def test_what_an_index_must_not_take(vectors: list[list[float]], said: str) -> None:
    """Anything but one unit vector of the promised size for each text counts as an outage of the embedder."""
    with pytest.raises(EmbedderUnavailableError, match=said):
        embedded(Provider(vectors), ["a", "b"], "query")


def test_unit_vectors_and_zeros_pass() -> None:
    """What the port promises comes through as it is: half precision, and zeros for a text with nothing to embed."""
    vectors = [[0.6, 0.8005], [0.0, 0.0]]
    assert embedded(Provider(vectors), ["a", ""], "passage") == vectors
