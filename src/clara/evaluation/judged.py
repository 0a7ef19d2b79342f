"""One judged case of an evaluation of answers: whether what Clara did with it was right."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Judged:
    """A case and whether it passed. `group` is what its figure is counted under, such as "danger" or "near miss".

    `note` says in short what was wrong, without repeating a whole text.
    """

    id: str
    language: str
    group: str
    passed: bool
    note: str = ""
