"""Where the variables of a run come from: a .env or TOML file, and the environment, which has the last word."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dotenv import dotenv_values

from clara.settings import environment_of
from clara_lab.bench.plan import VARIABLES, PlanError, RunPlan, planned


def read_plan(file: Path | None) -> RunPlan:
    """Read and check the variables of a run. Raises PlanError, which names every fault at once."""
    return planned(_values(file))


def read_storage(file: Path | None) -> RunPlan:
    """Read the variables of the storage alone, for writing a data set: what a run needs may be missing. Raises PlanError."""
    return planned({name: value for name, value in _values(file).items() if name.startswith("MINIO_")}, whole=False)


def _values(file: Path | None) -> dict[str, Any]:
    """Give what is set. An empty value in a file is one that is not, as the template leaves it."""
    values = _read(file) if file else {}
    given = {name.upper(): value for name, value in values.items() if value is not None and value != ""}
    return {**given, **environment_of(VARIABLES)}


def _read(file: Path) -> Mapping[str, Any]:
    try:
        if file.suffix == ".toml":
            return tomllib.loads(file.read_text("utf-8"))
        with file.open(encoding="utf-8") as opened:
            return dotenv_values(stream=opened)
    except OSError as error:
        raise PlanError(
            f"{file}: {error.strerror}; `python -m clara_lab bench variables > {file}` writes a template"
        ) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PlanError(f"{file}: {error}; write it as UTF-8, a variable a line") from error
