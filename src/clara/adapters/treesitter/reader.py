"""Reads the programs of a folder: implements ingestion's ProgramReader."""

from collections.abc import Sequence
from pathlib import Path

from clara.adapters.treesitter.cutting import cut
from clara.adapters.treesitter.grammars import GRAMMARS
from clara.adapters.treesitter.walking import programs, source_of
from clara.ingestion.programs import Looked, Reason, Skipped, Survey, Unit, UnreadableProgramsError


class TreeSitterReader:
    """Cuts files one after the other; of each only its units are kept."""

    def read(self, folder: Path, languages: Sequence[str], progress: Looked) -> Survey:
        """Give the units of a folder, in the order of path and line. Raises UnreadableProgramsError."""
        if not folder.is_dir():
            raise UnreadableProgramsError(f"{folder}: is no folder; give the one in which the programs are")
        wanted = [suffix for one in GRAMMARS if not languages or one.language in languages for suffix in one.suffixes]
        units: list[Unit] = []
        skipped: list[Skipped] = []
        files = 0
        found = list(programs(folder, wanted, skipped))
        for number, file in enumerate(found, 1):
            path = file.relative_to(folder).as_posix()
            source = source_of(file)
            if isinstance(source, Reason):
                skipped.append(Skipped(path, source))
            else:
                made, faulty = cut(path, source)
                units += made
                skipped += faulty
                files += bool(made)
            progress(number, len(found))
        if not units:
            raise UnreadableProgramsError(_nothing(folder, wanted, skipped))
        return Survey(tuple(units), tuple(skipped), files)


def _nothing(folder: Path, suffixes: Sequence[str], skipped: Sequence[Skipped]) -> str:
    left_out = "; ".join(f"{one.place} ({one.reason})" for one in skipped[:5])
    because = f" Left out: {left_out}." if left_out else ""
    return f"{folder}: holds no code in {' '.join(suffixes)}; check the folder and --language.{because}"
