"""What another embedder costs: a file of its own, a line in the registry, a setting."""

import shutil
import subprocess
import sys
from pathlib import Path

from clara.settings import child_environment

ROOT = Path(__file__).parents[2]
ADAPTER = '''"""An embedder for this test: every text lies in the same direction."""

from collections.abc import Sequence

from clara.adapters.models.registry import ModelParts
from clara.retrieval.ports import Embedder, Role
from clara.settings import Settings


class ScratchEmbedder:
    """Implements retrieval's Embedder."""

    dimensions = 4

    def __init__(self, space: str) -> None:
        self.model = space

    def embed(self, texts: Sequence[str], role: Role) -> list[list[float]]:
        """Give the same vector for every text."""
        return [[0.5] * self.dimensions for _ in texts]


def space_of(settings: Settings) -> str:
    """Name the space."""
    return settings.scratch_model


def build(space: str, parts: ModelParts, *, patient: bool) -> Embedder:
    """Build it."""
    return ScratchEmbedder(space)
'''
LINE = (
    '    "gemini": E',
    '    "scratch": EmbedderProvider(f"{__package__}.scratch", re.compile("scratch-[0-9]+")),\n    "gemini": E',
)
SETTING = (
    "    gemini_model: str =",
    '    scratch_model: str = Field("scratch-4", description="x")\n    gemini_model: str =',
)
ASKING = """
from clara.container import Container
from clara.settings import Settings

embedders = Container(Settings(scratch_model="scratch-8"), None).embedders
space = embedders.model_of("scratch")
print(space, embedders.knows(space), embedders.knows("other-8"), *embedders.asking(space).embed(["owl"], "query")[0])
"""


def add(file: Path, change: tuple[str, str]) -> None:
    before = file.read_text("utf-8")
    assert change[0] in before
    file.write_text(before.replace(*change, 1), "utf-8")


def run(copy: Path, *arguments: str) -> str:
    environment = {**child_environment(), "PYTHONPATH": str(copy / "src")}
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, cwd=copy, capture_output=True, text=True, check=True, timeout=240
    )
    return done.stdout


def test_a_new_embedder_is_a_file_a_line_and_a_setting(tmp_path: Path) -> None:
    """In a copy with these three changes, the embedder has a space, embeds, and can be chosen on the command line."""
    shutil.copytree(ROOT / "src" / "clara", tmp_path / "src" / "clara", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("data", "eval", "migrations"):
        (tmp_path / name).symlink_to(ROOT / name)
    models = tmp_path / "src" / "clara" / "adapters" / "models"
    (models / "scratch.py").write_text(ADAPTER, "utf-8")
    add(models / "registry.py", LINE)
    add(tmp_path / "src" / "clara" / "settings.py", SETTING)
    assert run(tmp_path, "-c", ASKING).split() == ["scratch-8", "True", "False", "0.5", "0.5", "0.5", "0.5"]
    assert "[local|scratch|gemini]" in run(tmp_path, "-m", "clara", "index", "build", "--help")
