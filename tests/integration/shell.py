"""The command line in processes that are forked from one which has imported what commands need: that is paid once."""

import multiprocessing
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from multiprocessing.connection import Connection

from click.testing import CliRunner

import clara.processes.preparation
import clara.quality.release
import clara_lab.runner.run

__all__ = ["clara", "clara_lab"]

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([__name__])


def serve(commands: Connection, module: str, environment: Mapping[str, str]) -> None:
    """Run one command after the other, each as in a fresh shell, until there is none."""
    os.environ.clear()  # noqa: TID251  a process of its own begins with what it is given
    os.environ.update(environment)  # noqa: TID251
    sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123  as long as the process
    place, _, name = module.partition(":")
    cli = getattr(import_module(place), name or "cli")
    while (arguments := commands.recv()) is not None:
        done = CliRunner().invoke(cli, arguments)
        raised = done.exception if not isinstance(done.exception, SystemExit) else None
        commands.send((done.exit_code, done.stdout, done.stderr, raised and repr(raised)))
