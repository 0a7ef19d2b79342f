"""The nearest question that asks the same, of one partition, in a memory that does not grow."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from clara.adapters.models.local import LocalEmbedder
from clara.retrieval.cache.keys import Keys
from clara.retrieval.cache.semantic import SemanticMemory, signature_of

KEYS = Keys(b"a secret of thirty-two bytes, yes")
EAST, NORTH, NEARLY_EAST = (1.0, 0.0), (0.0, 1.0), (0.96, 0.28)


def signed(text):
    return signature_of(text, "es", KEYS)


@pytest.mark.parametrize(
    ("partition", "vector", "text", "found"),
    [
        ("p", EAST, "pedir el NIE", "k"),
        ("p", NEARLY_EAST, "¡Pedir NIE!", "k"),
        ("p", NORTH, "pedir el NIE", None),
        ("p", EAST, "pedir la TIE", None),
        ("other", EAST, "pedir el NIE", None),
    ],
    ids=["the same", "near and the same", "far", "near and another", "another partition"],
)
def test_a_question_is_found_when_near_and_the_same_and_in_the_partition(partition, vector, text, found):
    """All three are needed."""
    memory = SemanticMemory(2)
    memory.remember("p", "k", EAST, signed("pedir el NIE"))
    assert memory.nearest(partition, vector, signed(text)) == found


def test_the_nearest_of_several_wins_and_a_nearer_other_question_does_not():
    """Distance orders, the words decide."""
    memory = SemanticMemory(2)
    memory.remember("p", "other", EAST, signed("pedir la TIE"))
    memory.remember("p", "far", (0.95, 0.3122499), signed("pedir el NIE"))
    memory.remember("p", "near", NEARLY_EAST, signed("pedir NIE"))
    assert memory.nearest("p", EAST, signed("pedir el nie")) == "near"


def test_the_question_unused_for_longest_makes_room():
    """A question that was found stays; the memory never holds more than its capacity."""
    memory = SemanticMemory(2, capacity=2)
    memory.remember("p", "1", EAST, signed("uno"))
    memory.remember("p", "2", EAST, signed("dos"))
    assert memory.nearest("p", EAST, signed("uno")) == "1"
    memory.remember("p", "3", EAST, signed("tres"))
    assert [memory.nearest("p", EAST, signed(text)) for text in ("uno", "dos", "tres")] == ["1", None, "3"]


def test_a_key_is_remembered_once_and_can_be_forgotten():
    """What is remembered again replaces; what is forgotten leaves its room."""
    memory = SemanticMemory(2, capacity=1)
    memory.remember("p", "k", EAST, signed("uno"))
    memory.remember("p", "k", EAST, signed("dos"))
    assert memory.nearest("p", EAST, signed("uno")) is None
    assert memory.nearest("p", EAST, signed("dos")) == "k"
    memory.forget("k")
    memory.forget("unknown")
    assert memory.nearest("p", EAST, signed("dos")) is None
    memory.remember("p", "l", EAST, signed("dos"))
    assert memory.nearest("p", EAST, signed("dos")) == "l"


def test_threads_do_not_harm_it():
    """Four threads that remember, find and forget leave a memory that still answers rightly."""
    memory = SemanticMemory(2, capacity=8)

    def work(worker):
        for turn in range(200):
            text = f"{worker} {turn % 12}"
            memory.remember("p", text, EAST, signed(text))
            assert memory.nearest("p", EAST, signed(text)) in {text, None}
            if turn % 3 == 0:
                memory.forget(text)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    memory.remember("p", "k", EAST, signed("al final"))
    assert memory.nearest("p", EAST, signed("al final")) == "k"
    assert len(memory._questions) + len(memory._free) == 8


def test_real_vectors_reach_the_threshold():
    """With the bundled model a statement is found by the question that repeats it, and its negation is not."""
    told, asked, denied = (
        "Python use indentation to define blocks.",
        "Python use indentation to define what?",
        "Python does not use indentation to define blocks.",
    )
    vectors = LocalEmbedder().embed([told, asked, denied], "query")
    signatures = [signature_of(text, "en", KEYS) for text in (told, asked, denied)]
    memory = SemanticMemory(384)
    memory.remember("p", "k", vectors[0], signatures[0])
    assert memory.nearest("p", vectors[1], signatures[1]) == "k"
    assert memory.nearest("p", vectors[2], signatures[2]) is None
