"""The menu: topics, and the procedures of each, so that no list is longer than a message."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clara.data_files import DataError, Fault, read_data

MENU_FILE: Final = "menu.json"


@dataclass(frozen=True, slots=True)
class Menu:
    """The procedures of every topic by the name of its text, and those that stand in none."""

    topics: Mapping[str, tuple[str, ...]]
    others: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """Give what the menu offers first, in its order."""
        return (*self.topics, *self.others)


def read_menu(folder: Path, held: Collection[str], titles: Collection[str]) -> Menu:
    """Read `folder`/menu.json for the procedures that are held; `titles` are the names of the texts there are.

    Raises DataError when a procedure stands in two topics, or a topic has no title.
    """
    document = read_data(folder, MENU_FILE, "menu")
    listed: dict[str, str] = {}
    faults = [
        Fault(MENU_FILE, f"$.topics.{topic}", f"'{name}' stands in {first} too; keep it in one topic")
        for topic, procedures in document["topics"].items()
        for name in procedures
        if (first := listed.setdefault(name, topic)) != topic
    ]
    faults += [
        Fault(MENU_FILE, f"$.topics.{topic}", f"has no title; add the text menu_{topic} to every languages/<code>/texts.json")
        for topic in document["topics"]
        if f"menu_{topic}" not in titles
    ]
    if faults:
        raise DataError(faults)
    topics = {
        f"menu_{topic}": kept
        for topic, procedures in document["topics"].items()
        if (kept := tuple(name for name in procedures if name in held))
    }
    return Menu(topics, tuple(name for name in held if name not in listed))
