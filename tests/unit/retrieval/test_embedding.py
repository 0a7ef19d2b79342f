"""What an embedder gives is checked before it is used."""

from collections.abc import Sequence

import pytest

from clara.retrieval.embedders import AbsentEmbedder, LenientEmbedder, MaskingEmbedder, embedded, is_blank
from clara.retrieval.ports import EmbedderUnavailableError, Role

NAN = float("nan")


class Provider:
    """Gives what it was told, whatever it is asked."""

    model = "provider"
    dimensions = 2

    def __init__(self, vectors: list[list[float]]) -> None:
        self._vectors = vectors
        self.asked: list[str] = []
        self.error: EmbedderUnavailableError | None = None

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        self.asked += texts
        if self.error:
            raise self.error
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


@pytest.mark.parametrize("text", ["", " \t\n", "\x00", "\u200b", "\u2028 \ufeff", "\ud800"])
def test_blank(text: str) -> None:
    """What cannot be seen is nothing to embed."""
    assert is_blank(text)
    assert not is_blank(f"{text}¿{text}")


def test_only_questions_are_masked() -> None:
    """What says who asks does not go to the model with a question; a corpus is public, and embedded as it is."""
    provider = Provider([[1.0, 0.0]])
    masking = MaskingEmbedder(provider, lambda text: text.replace("X1", "[NIE]"))
    assert masking.embed(["mi NIE es X1"], "query") == masking.embed(["X1"], "passage") == [[1.0, 0.0]]
    assert provider.asked == ["mi NIE es [NIE]", "X1"]
    assert (masking.model, masking.dimensions) == ("provider", 2)


def test_a_model_that_is_absent_says_why() -> None:
    """It has its name and size, and whoever asks it learns the reason."""
    absent = AbsentEmbedder("big", 768, "it needs a key")
    assert (absent.model, absent.dimensions) == ("big", 768)
    with pytest.raises(EmbedderUnavailableError, match="it needs a key"):
        absent.embed(["x"], "query")


def test_leniency() -> None:
    """Once the model is out, texts get no vectors, it is told once, and nobody waits for it again."""
    told: list[EmbedderUnavailableError] = []
    provider = Provider([[1.0, 0.0]])
    lenient = LenientEmbedder(provider, told.append)
    assert lenient.embed(["a"], "passage") == [[1.0, 0.0]]
    provider.error = EmbedderUnavailableError("out")
    assert [lenient.embed(["b", "c"], "passage") for _ in range(2)] == [[[0.0, 0.0]] * 2] * 2
    assert (told, provider.asked) == ([provider.error], ["a", "b", "c"])
