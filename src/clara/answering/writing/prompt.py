"""The page that a language model writes from: question and facts as data, links as tokens it cannot make up."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from clara.answering.message import Citation
from clara.answering.ports import Prompt
from clara.data_files import read_data
from clara.knowledge.passages import fact_of
from clara.language.packs import read_languages
from clara.retrieval.passage import Passage
from clara.retrieval.quotation import fence, one_line, unmarked, visible

# The addresses of the facts are of these top-level domains; what looks like another one is no address there ("p.ej.").
_SITE = (
    r"(?<![\w@.-])(?:https?://[^\s«»“”\"<>]+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?:[a-z0-9-]+\.)+(?:es|cat|eus|gal|eu|org|com|net|info)(?![\w@])(?:/[^\s,;)«»]*)?)"
)
_ADDRESS: Final = re.compile(_SITE, re.IGNORECASE)
_BEHIND: Final = ").]},;:!?…*'’"
TOKEN: Final = re.compile(r"\{\{L\d+\}\}")


def with_tokens(texts: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Put tokens where the texts hold addresses; give the texts and the address of each token."""
    tokens: dict[str, str] = {}

    def token(match: re.Match[str]) -> str:
        address = match[0].rstrip(_BEHIND)
        name = tokens.setdefault(address, f"{{{{L{len(tokens) + 1}}}}}")
        return name + match[0][len(address) :]

    hidden = [_ADDRESS.sub(token, text) for text in texts]
    return hidden, {name: address for address, name in tokens.items()}


def with_addresses(text: str, addresses: Mapping[str, str]) -> str:
    """Put the addresses back where their tokens stand; unknown tokens stay, for the gates to find."""
    return TOKEN.sub(lambda match: addresses.get(match[0], match[0]), text)


# What a model writes when the evidence leaves a part of the question open.
NOT_KNOWN: Final = "{{NOT_KNOWN}}"


@dataclass(frozen=True, slots=True)
class Prompts:
    """What a model is told, as data. `problems` say by kind of fault what was wrong with a draft."""

    instruction: str
    rewrite: str
    problems: Mapping[str, str]
    languages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts that an answer may be written from, each cited by its mark.

    `limits` are, by mark, the marks of the facts that must be said with it. `main` is the mark of the fact found first.
    `texts` are what a model is shown of them, by mark, with tokens instead of addresses; `addresses` are the tokens'.
    `places` are the names of the facts' territories, by code.
    """

    cited: tuple[tuple[Citation, Passage], ...]
    limits: Mapping[str, tuple[str, ...]]
    main: str
    texts: Mapping[str, str]
    addresses: Mapping[str, str]
    places: Mapping[str, str]

    @property
    def passages(self) -> dict[str, Passage]:
        """The facts by their marks."""
        return {citation.mark: passage for citation, passage in self.cited}


def evidence_of(
    cited: Sequence[tuple[Citation, Passage]], limits: Mapping[str, Sequence[str]], main: str, places: Mapping[str, str]
) -> Evidence:
    """Make the evidence of an answer. `limits` and `main` name facts by their ids."""
    marks = {passage.id: citation.mark for citation, passage in cited}
    texts, addresses = with_tokens([one_line(passage.text) for _, passage in cited])
    return Evidence(
        tuple(cited),
        {marks[name]: tuple(marks[limit] for limit in wanted if limit in marks) for name, wanted in limits.items()},
        marks[main],
        dict(zip(marks.values(), texts, strict=True)),
        addresses,
        places,
    )


def prompt_of(prompts: Prompts, question: str, evidence: Evidence, language: str, characters: int) -> Prompt:
    """Lay out the page. The question is as it may be shown: without what says who somebody is."""
    instruction = prompts.instruction.format(language=prompts.languages[language], characters=characters)
    asked = unmarked(one_line(question))
    line = fence([asked, *evidence.texts.values()])
    parts = [f"Language: {language}", f"Question:\n{line}\n{asked}\n{line}", "Evidence:"]
    for citation, passage in evidence.cited:
        text = unmarked(evidence.texts[citation.mark])
        parts.append(f"[{citation.mark}] {_fields(citation, passage, evidence)}\n{line}\n{text}\n{line}")
    return Prompt(instruction, "\n\n".join(parts))


def again(prompts: Prompts, prompt: Prompt, draft: str, problems: Sequence[tuple[str, str]]) -> Prompt:
    """Ask for the answer once more. `problems` are sentences of the draft, each with the kind of its fault."""
    draft = visible(draft)
    line = fence([draft, prompt.page])
    listed = "\n".join(
        f"- {json.dumps(one_line(sentence), ensure_ascii=False)}: {prompts.problems.get(kind, prompts.problems['other'])}"
        for sentence, kind in problems
    )
    page = f"{prompt.page}\n\nDraft:\n{line}\n{draft}\n{line}\n\nProblems:\n{listed}"
    return Prompt(f"{prompt.instruction}\n{prompts.rewrite}", page)


def _fields(citation: Citation, passage: Passage, evidence: Evidence) -> str:
    shown = {
        "Main": "yes" if citation.mark == evidence.main else "",
        "Territory": evidence.places.get(passage.territory, passage.territory),
        "Certainty": fact_of(passage).certainty.value,
        "Checked": citation.verified_on,
        "Limited by": ", ".join(evidence.limits.get(citation.mark, ())),
    }
    # In quotes, so that no value can go on to name a field of its own.
    return ", ".join(
        f"{name}: {json.dumps(unmarked(one_line(value)), ensure_ascii=False)}" for name, value in shown.items() if value
    )


def read_prompts(folder: Path) -> Prompts:
    """Read `folder`/prompts.json and how languages are named. Raises DataError naming every fault."""
    document = read_data(folder, "prompts.json", "prompts")
    languages = {code: language.prompt for code, language in read_languages(folder).items()}
    return Prompts("\n".join(document["instruction"]), "\n".join(document["rewrite"]), document["problems"], languages)
