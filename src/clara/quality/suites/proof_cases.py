"""The cases of the suites `mutated` and `faithful`: a reply with what it cites, put before the proof as a writer would."""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from clara.answering.snapshot import KnowledgeSnapshot
from clara.answering.verification.prover import StatementFault
from clara.knowledge.passages import fact_of
from clara.language.sentences import sentence_ends
from clara.retrieval.passage import Passage
from clara.settings import resources


def proved(snapshot: KnowledgeSnapshot, name: str, split: str) -> Iterator[tuple[Mapping[str, Any], list[StatementFault]]]:
    """Give each case of a file with what the proof finds wrong; cases whose facts are gone, or were corrected, are left out.

    They were made from the facts of data/: of a corrected fact a faithful case repeats what is not true any more.
    """
    knowledge = snapshot.knowledge
    passages, corrected = {passage.id: passage for passage in knowledge.passages}, knowledge.corrected
    prove = snapshot.prover.prove
    for line in (resources() / "eval" / "answers" / f"{name}.jsonl").read_text("utf-8").splitlines():
        case: Mapping[str, Any] = json.loads(line)
        if case["split"] == split and all(fact in passages and fact not in corrected for fact in case["passages"]):
            text, cited = reply(case, passages)
            yield case, prove(text, cited, case["language"], "")


def reply(case: Mapping[str, Any], passages: Mapping[str, Passage]) -> tuple[str, dict[str, Passage]]:
    """Give the reply of a case and what it cites: below it the facts that limit those it tells, unless they are left out."""
    cited = {f"C{number}": passages[fact] for number, fact in enumerate(case["passages"], 1)}
    lines = [case["text"]]
    waiting = [] if case.get("unlimited") else list(cited.values())
    while waiting:
        for name in fact_of(waiting.pop()).conditions:
            if name in passages and all(passage.id != name for passage in cited.values()):
                mark, limit = f"C{len(cited) + 1}", passages[name]
                cited[mark] = limit
                lines += [f"{sentence} [{mark}]" for sentence in sentences_of(limit.text)]
                waiting.append(limit)
    return "\n".join(lines), cited


def sentences_of(text: str) -> list[str]:
    """Cut a fact into its sentences."""
    return [text[start:end].strip() for start, end in pairwise([0, *sentence_ends(text)])]
