"""What a newcomer finds: the workflow, the hooks and the services name what there is."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.journeys.documented import Line, fault_of

from clara.settings import Settings

ROOT = Path(__file__).parents[2]


def read(name: str) -> dict[Any, Any]:
    return dict(yaml.safe_load((ROOT / name).read_text("utf-8")))


def test_the_workflow_runs_the_gate_on_the_pythons_that_are_promised() -> None:
    """The oldest and the newest of the classifiers; what pip fetched is kept by the hash of a lock that is there."""
    job = read(".github/workflows/check.yml")["jobs"]["check"]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    promised = [
        name.rsplit(" ", 1)[1] for name in classifiers if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", name)
    ]
    assert job["strategy"]["matrix"]["python"] == [promised[0], promised[-1]]
    (setup,) = [step["with"] for step in job["steps"] if "setup-python" in step.get("uses", "")]
    assert (ROOT / setup["cache-dependency-path"]).is_file()
    (command,) = [step["run"] for step in job["steps"] if "run" in step]
    assert command.endswith(" check")
    assert fault_of(Line("", command)) is None


def test_the_hooks_run_the_tools_of_lint() -> None:
    """Each hook is a program that the lock brings and that `make lint` runs."""
    (repository,) = read(".pre-commit-config.yaml")["repos"]
    programs = [hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in repository["hooks"]]
    assert set(programs) == set(re.findall(r"\$\(BIN\)/(ruff|mypy|lint-imports)\b", (ROOT / "Makefile").read_text("utf-8")))


@pytest.mark.parametrize("service", ["prepare", "web", "worker"])
def test_a_service_is_set_by_settings(service: str) -> None:
    """What compose sets are settings; the command is one of Clara's; nothing starts before the database is prepared."""
    said = read("compose.yaml")["services"][service]
    given = {name.lower(): re.sub(r"\$\{\w+:-(\w+)\}", r"\1", value) for name, value in said["environment"].items()}
    assert given.keys() <= Settings.model_fields.keys()
    Settings(**given)
    command = said.get("command", "clara web")
    assert command in (ROOT / "Dockerfile").read_text("utf-8") or fault_of(Line("", command)) is None
    assert list(said["depends_on"]) == ["database" if service == "prepare" else "prepare"]


def test_compose_opens_no_port_to_the_network() -> None:
    """The chat page has no login, and the database none worth the name: this machine only, or not at all."""
    services = read("compose.yaml")["services"]
    assert {name: one["ports"] for name, one in services.items() if "ports" in one} == {
        "web": ["127.0.0.1:${HOST_PORT:-8000}:8000"]
    }
    mounted = {volume.split(":")[0] for one in services.values() for volume in one.get("volumes", ())}
    assert mounted == set(read("compose.yaml")["volumes"])
