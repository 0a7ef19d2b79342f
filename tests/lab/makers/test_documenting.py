"""The documents say what the settings are, and the blueprints what the schedule is."""

import re
from pathlib import Path

import pytest
import yaml

from clara.processes.schedule import SCHEDULES
from clara.settings import Settings, resources
from clara_lab.makers.settings_table import BEGIN, DOCUMENTS, END, MissingMarkersError, renewed, table

ROOT = Path(__file__).parents[3]
BLUEPRINTS = ("render.yaml", "render.single.yaml")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_table_is_the_settings(name: str) -> None:
    """Run `python -m clara_lab.makers.settings_table --write` after a change of a setting."""
    document = (ROOT / name).read_text("utf-8")
    assert renewed(document) == document


def test_every_setting_is_explained() -> None:
    """Each variable has a row with its default, what it may be, and a meaning."""
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table().splitlines()[2:]]
    assert [row[0] for row in rows] == [f"`{name.upper()}`" for name in Settings.model_fields]
    assert [row[0] for row in rows if not all(row)] == []


def test_only_the_table_is_rewritten() -> None:
    """What stands around the markers stays; a document without them is refused."""
    document = f"before\n{BEGIN}\n| old |\n{END}\nafter\n"
    assert renewed(document) == f"before\n{BEGIN}\n{table()}\n{END}\nafter\n"
    with pytest.raises(MissingMarkersError):
        renewed("no table here")


@pytest.mark.parametrize("name", BLUEPRINTS)
def test_blueprints_set_what_exists(name: str) -> None:
    """Every variable of a blueprint is a setting with a value that it takes."""
    blueprint = yaml.safe_load((ROOT / name).read_text("utf-8"))
    variables = [variable for service in blueprint["services"] for variable in service["envVars"] if "key" in variable]
    variables += [variable for group in blueprint.get("envVarGroups", ()) for variable in group["envVars"]]
    assert {variable["key"].lower() for variable in variables} <= Settings.model_fields.keys()
    given = {variable["key"].lower(): variable["value"] for variable in variables if "value" in variable}
    Settings(**given)
    assert given.keys() & SCHEDULES.keys()


def test_cron_lines_run_what_the_schedule_runs() -> None:
    """Each job that runs by itself has a line for the platform's cron, and the flag that raises the alarm."""
    blueprint = yaml.safe_load((ROOT / "render.yaml").read_text("utf-8"))
    commands = {service["dockerCommand"] for service in blueprint["services"] if service["type"] == "cron"}
    assert commands == {" ".join(("/opt/venv/bin/clara", *scheduled.arguments)) for scheduled in SCHEDULES.values()}
    (web,) = [service for service in blueprint["services"] if service["type"] == "web"]
    assert {variable.get("key", "").lower() for variable in web["envVars"]} >= SCHEDULES.keys()


def test_the_run_book_has_the_schedule() -> None:
    """Flag, command and cron line of each job stand in the run book as they are."""
    text = (resources() / "docs" / "operations.md").read_text("utf-8")
    for flag, scheduled in SCHEDULES.items():
        command = " ".join(("clara", *scheduled.arguments))
        assert f"| `{flag.upper()}` | `{command}` |" in text
        assert re.search(rf"^{re.escape(scheduled.cron)} +{re.escape(command)}$", text, re.MULTILINE)
        assert f"| {scheduled.allowed_days:.0f} days |" in text
