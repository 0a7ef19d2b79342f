"""How much of a disk a package takes with all that it needs, by what pip wrote down when it installed them."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True, slots=True)
class Installed:
    """Packages and the bytes of their files. What is installed as an editable checkout counts without its own code."""

    packages: tuple[str, ...]
    size: int


def installed(requirements: tuple[str, ...]) -> Installed:
    """Follow requirements, extras and markers included, through this environment; what is not installed counts nothing."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    left = [(requirement, extra) for requirement in map(Requirement, requirements) for extra in ("", *requirement.extras)]
    while left:
        requirement, extra = left.pop()
        name = canonicalize_name(requirement.name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        for needed in map(Requirement, found[name].requires or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                left += [(needed, part) for part in ("", *needed.extras)]
    sizes = {name: sum(_sizes(one)) for name, one in found.items()}
    return Installed(tuple(sorted(sizes)), sum(sizes.values()))


def _sizes(one: Distribution) -> Iterator[int]:
    for file in one.files or ():
        path = file.locate()
        stat = getattr(path, "stat", None)
        if stat is not None and path.is_file():  # type: ignore[attr-defined]  # a path as pathlib has it, outside of archives
            yield stat().st_size
