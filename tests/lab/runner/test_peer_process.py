"""What a peer's process is handed, and what it reports of its environment."""

import json
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
import pytest

from clara_lab.bench.dataset import BenchDocument
from clara_lab.bench.plan import RunPlan
from clara_lab.runner.peer import JOB, RESULT, Work, installed, main, read_work, write_work
from clara_lab.runner.peers import PEERS, UnknownPeerError, chosen_from, contenders

SETTING = {"url": "postgresql://nowhere", "dimensions": 2, "dictionary": "english", "way": "vector"}


def test_work_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Line separators inside of a text, empty titles and float32 vectors survive."""
    documents = [BenchDocument("d1", "", "one\u2028two\nthree", "p"), BenchDocument("d2", "Title", "Ñ")]
    vectors = np.array([[0.6, 0.8], [1, 0]], np.float32)
    write_work(tmp_path, Work(documents, [("q", "what\u2029?")], vectors, vectors[:1]))
    read = read_work(tmp_path)
    assert read.documents == documents
    assert list(read.questions) == [("q", "what\u2029?")]
    assert read.document_vectors.dtype == np.float32
    assert np.array_equal(read.document_vectors, vectors)
    assert np.array_equal(read.question_vectors, vectors[:1])


def test_a_framework_that_is_missing_is_a_result(tmp_path: Path) -> None:
    """The process of a peer whose module cannot be imported leaves its name instead of a traceback."""
    job = {"target": "no_such_framework.peers:Peer", "setting": SETTING, "limit": 5, "distribution": "", "requirements": []}
    (tmp_path / JOB).write_text(json.dumps(job), "utf-8")
    main(tmp_path)
    assert json.loads((tmp_path / RESULT).read_text("utf-8")) == {"missing": "no_such_framework"}


def test_a_fault_of_our_own_is_not_taken_for_a_missing_framework(tmp_path: Path) -> None:
    """A module of Clara's that is not there ends the process."""
    job = {"target": "clara_lab.peers.nobody:Peer", "setting": SETTING, "limit": 5, "distribution": "", "requirements": []}
    (tmp_path / JOB).write_text(json.dumps(job), "utf-8")
    with pytest.raises(ModuleNotFoundError):
        main(tmp_path)


def test_what_is_installed_is_followed_through_extras() -> None:
    """Psycopg alone is less than psycopg with its extra, and what is not installed weighs nothing."""
    bare, whole = installed(("psycopg",)), installed(("psycopg[binary]",))
    assert set(bare) < set(whole)
    assert "psycopg-binary" in whole
    assert sum(bare.values()) < sum(whole.values())
    assert installed(("no-such-distribution>=1",)) == {}


def test_no_size_is_counted_twice() -> None:
    """A package that is needed by two others is counted once."""
    assert installed(("numpy", "numpy>=1", "pgvector")) == installed(("pgvector", "numpy"))
    assert len(installed(("clara-tramites",))) <= len(list(distributions()))


def test_the_profile_of_the_run_is_compared_when_it_names_one() -> None:
    """Clara's strategies come first; without a profile there are two of them."""
    assert [one.name for one in contenders(RunPlan())][:3] == ["SIMPLE_VECTOR", "CONTEXTUAL_HYBRID", "plain"]
    with_profile = contenders(RunPlan.model_validate({"RETRIEVAL_STRATEGY": "PROFILE:encyclopedia"}))
    assert with_profile[2].name == "PROFILE:encyclopedia"


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    """A misspelt --only measures nothing."""
    with pytest.raises(UnknownPeerError, match=r"there is no llamaindex; choose from .*llama-index"):
        chosen_from(PEERS, ("llamaindex",))
    assert [one.name for one in chosen_from(PEERS, ("haystack", "plain"))] == ["plain", "haystack"]


def test_the_remedy_makes_the_environment_that_is_looked_for(tmp_path: Path) -> None:
    """The command that a row names makes the very Python that is used next time."""
    langchain = next(one for one in PEERS if one.name == "langchain")
    assert f"python3 -m venv {tmp_path}/langchain" in langchain.remedy(tmp_path)
    assert "'langchain-postgres>=" in langchain.remedy(tmp_path)
    assert langchain.python(tmp_path) is None
    python = tmp_path / "langchain" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert langchain.python(tmp_path) == python
