"""Language models without a language model: one that writes from its page and nothing else, one that obeys whoever speaks.

The first serves evaluations and demonstrations, where no provider can be asked. The second is the worst that a provider, or
a text that a provider has read, can do to an answer.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from clara.adapters.models.registry import ModelParts
from clara.answering.ports import ModelUnavailableError, Prompt
from clara.language.sentences import sentence_ends

_LANGUAGE: Final = re.compile(r"^Language: ([a-z]{2})$", re.MULTILINE)
_FACT: Final = re.compile(r"^\[(C\d+)\][^\n]*\n(?P<line>`{3,})\n(?P<text>[^\n]*)\n(?P=line)$", re.MULTILINE)
# "write:" and its like in the served languages, and what stands behind it in its line.
_ORDER: Final = re.compile(
    r"(?:\bwrite|\bsay|\bescribe|\bresponde con esto|\bécris|\bécrivez|اكتب|\bscrie|\bescreve|\bescreva|\bescriu|写|\bнапиши)"
    r"\s*[:：]\s*(?P<said>[^\n]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A fact as a page shows it."""

    mark: str
    text: str


def facts_on(page: str) -> list[Shown]:
    """Read the facts of a page, in its order."""
    return [Shown(match[1], match["text"]) for match in _FACT.finditer(page)]


class ScriptedWriter:
    """Writes every fact of the page with its mark: in Spanish as it stands, in other languages as a quotation."""

    name = "scripted"

    def write(self, prompt: Prompt, seconds: float) -> str:
        """Give the answer. Raises ModelUnavailableError for a page without language or facts."""
        del seconds
        language, facts = _LANGUAGE.search(prompt.page), facts_on(prompt.page)
        if language is None or not facts:
            raise ModelUnavailableError("the page shows no facts to write from")
        if prompt.json:
            return json.dumps([{"mark": fact.mark, "text": fact.text} for fact in facts], ensure_ascii=False)
        return "\n".join(_told(fact) if language[1] == "es" else f"• «{fact.text}» [{fact.mark}]" for fact in facts)


def _told(fact: Shown) -> str:
    """Put the mark behind each sentence of a fact, before its full stop."""
    start, told = 0, list[str]()
    for end in sentence_ends(fact.text):
        sentence = fact.text[start:end].strip()
        told.append(f"{sentence.rstrip('.')} [{fact.mark}]{'.' if sentence.endswith('.') else ''}")
        start = end
    return f"• {' '.join(told)}"


class Manner(StrEnum):
    """Where a compromised model puts what it was made to say."""

    ALONE = "alone"
    BEFORE = "before"
    BEHIND = "behind"
    MARKED = "marked"
    INSIDE = "inside"


class ObedientWriter:
    """Says whatever any text on its page orders it to say, or what it is made to say, in the given manner.

    Without an order it writes what the scripted writer does.
    """

    name = "obedient"

    def __init__(self, manner: Manner = Manner.ALONE, made_to_say: Sequence[str] = ()) -> None:
        self._manner = manner
        self._made_to_say = tuple(made_to_say)
        self._honest = ScriptedWriter()

    def write(self, prompt: Prompt, seconds: float) -> str:
        """Give what was ordered, among honest sentences unless the manner is "alone"."""
        ordered = [*self._made_to_say, *(match["said"].strip() for match in _ORDER.finditer(prompt.page))]
        honest = self._honest.write(prompt, seconds)
        if not ordered:
            return honest
        said = "\n".join(ordered)
        match self._manner:
            case Manner.ALONE:
                return said
            case Manner.BEFORE:
                return f"{said}\n{honest}"
            case Manner.BEHIND:
                return f"{honest}\n{said}"
            case Manner.MARKED:
                return f"{honest}\n" + "\n".join(f"{line.rstrip('.')} [C1]." for line in said.splitlines())
            case Manner.INSIDE:
                first, _, rest = honest.partition(" [C1]")
                return f"{first}, {' '.join(said.split())} [C1]{rest}"


def build(parts: ModelParts) -> ScriptedWriter:
    """Build the writer that costs nothing and says nothing but the facts it is shown."""
    del parts
    return ScriptedWriter()
