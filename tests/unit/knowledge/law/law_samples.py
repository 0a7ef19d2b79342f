"""Norms for the tests of law: real ones, trimmed, and small ones written on the spot."""

from functools import cache
from pathlib import Path

from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import Norm

DATA = Path(__file__).parents[3] / "data"
FRONT = '---\ntitle: "Ley 1/2000, de pruebas"\nidentifier: "BOE-A-2000-1"\nsource: "https://www.boe.es/eli/es/l/2000/01/01/1"\n---\n'


@cache
def sample(name: str, folder: str = "legislation") -> Norm:
    """A real norm as it stood in August, or in another collection."""
    return read_markdown((DATA / folder / f"{name}.md").read_text("utf-8"))


def written(*lines: str) -> Norm:
    """A norm of a few lines."""
    return read_markdown(FRONT + "# Ley 1/2000, de pruebas\n\n" + "\n\n".join(lines))
