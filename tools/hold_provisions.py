"""Hold the provisions that facts cite, so that every check and every reader sees what was read.

    python tools/hold_provisions.py FOLDER

FOLDER holds consolidated norms in Markdown, named by their number in the gazette. Writes data/provisions/<norm>.json.
"""

import json
import sys
from pathlib import Path

from clara.data_files import package_folder
from clara.knowledge.catalogue import read_catalogue
from clara.knowledge.law.markdown import read_markdown
from clara.knowledge.law.norm import UnreadableNormError
from clara.knowledge.law.references import provisions_of
from clara.knowledge.provisions import FOLDER


def main() -> None:
    """Write one file a norm, and say what could not be held."""
    if len(sys.argv) != 2:  # noqa: PLR2004  the folder alone
        sys.exit(f"{__doc__}")
    data, norms = package_folder() / "data", Path(sys.argv[1])
    cited: dict[str, set[str]] = {}
    for procedure in read_catalogue(data).procedures.values():
        for fact in procedure.facts:
            for basis in fact.legal_basis:
                cited.setdefault(basis.norm, set()).update(provisions_of(basis))
    target = data / FOLDER
    target.mkdir(exist_ok=True)
    absent: list[str] = []
    for name, keys in sorted(cited.items()):
        file = norms / f"{name}.md"
        try:
            norm = read_markdown(file.read_text("utf-8"))
        except (OSError, UnreadableNormError):
            absent.append(name)
            continue
        texts = {key: norm.by_key[key].text for key in sorted(keys) if key in norm.by_key and norm.by_key[key].text}
        absent += [f"{name} {key}" for key in sorted(keys - texts.keys())]
        if texts:
            held = {
                "$schema": "../schema/provisions.schema.json",
                "norm": name,
                "updated": norm.updated.isoformat() if norm.updated else None,
                "source": f"https://www.boe.es/buscar/act.php?id={name}",
                "texts": texts,
            }
            (target / f"{name}.json").write_text(json.dumps(held, ensure_ascii=False, indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{len(list(target.glob('*.json')))} norms held; not held: {', '.join(absent)}\n")


if __name__ == "__main__":
    main()
