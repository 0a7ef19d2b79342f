"""The proof of what is said: every right answer is delivered, none with a wrong thing in it; and of any reply what is wrong."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from clara.answering.message import Reply
from clara.answering.snapshot import KnowledgeSnapshot
from clara.answering.verification.prover import StatementFault
from clara.answering.writing.frame import END_ISOLATE, ISOLATE
from clara.data_files import TEXT, TEXTS
from clara.knowledge.passages import fact_of
from clara.language.sentences import sentence_ends
from clara.quality.suites.suite import Case, Judged, Stage, Suite, judged
from clara.retrieval.passage import Passage

BULLET: Final = "• "
MARKED: Final = re.compile(r" \[(C\d{1,2})\]$")
# Changes of a figure, as the cases name them.
FIGURES: Final = ("digit", "swap", "decimal", "unit", "currency", "month", "phone", "url", "norm", "added", "other", "word")


def faults_in(snapshot: KnowledgeSnapshot, reply: Reply, question: str) -> list[str]:
    """Give in short what is wrong with the claims of a reply: its bullets; the texts around them are fixed.

    A quotation is right when it is the cited fact to the letter. Whatever else is claimed is proved.
    """
    passages = {passage.id: passage for passage in snapshot.knowledge.passages}
    cited = {citation.mark: passages[citation.passage_id] for citation in reply.citations}
    caution = snapshot.texts.say(reply.language, "secondary")
    plain = reply.text.replace(ISOLATE, "").replace(END_ISOLATE, "")
    bullets = (line.removeprefix(BULLET).removeprefix(f"{caution} ") for line in plain.splitlines() if line.startswith(BULLET))
    claims = "\n".join(bullet for bullet in bullets if not _quoted(bullet, cited))
    faults = snapshot.prover.prove(claims, cited, reply.language, question) if claims else []
    return [f"{fault.kind}: {fault.what}" for fault in faults]


def _quoted(bullet: str, cited: Mapping[str, Passage]) -> bool:
    marked = MARKED.search(bullet)
    return marked is not None and marked[1] in cited and bullet[: marked.start()] == cited[marked[1]].text


def _proved(stage: Stage, cases: Sequence[Case]) -> Iterator[tuple[Case, list[StatementFault]]]:
    """Give each case with what the proof finds wrong; cases whose facts are gone, or were corrected, are left out.

    They were made from the facts of data/: of a corrected fact a faithful case repeats what is not true any more.
    """
    passages, corrected = {passage.id: passage for passage in stage.passages}, stage.snapshot.knowledge.corrected
    prove = stage.snapshot.prover.prove
    for case in cases:
        if all(fact in passages and fact not in corrected for fact in case["passages"]):
            text, cited = written_reply(case, passages)
            yield case, prove(text, cited, case["language"], "")


def written_reply(case: Case, passages: Mapping[str, Passage]) -> tuple[str, dict[str, Passage]]:
    """Give the reply of a case and what it cites: below it the facts that limit those it tells, unless they are left out."""
    cited = {f"C{number}": passages[fact] for number, fact in enumerate(case["passages"], 1)}
    lines = [case["text"]]
    waiting = [] if case.get("unlimited") else list(cited.values())
    while waiting:
        for name in fact_of(waiting.pop()).conditions:
            if name in passages and all(passage.id != name for passage in cited.values()):
                mark, limit = f"C{len(cited) + 1}", passages[name]
                cited[mark] = limit
                ends = pairwise([0, *sentence_ends(limit.text)])
                lines += [f"{limit.text[start:end].strip()} [{mark}]" for start, end in ends]
                waiting.append(limit)
    return "\n".join(lines), cited


def _faithful(stage: Stage, cases: Sequence[Case]) -> Iterator[Judged]:
    for case, faults in _proved(stage, cases):
        note = ", ".join(f"{fault.kind.value}: {fault.what}" for fault in faults[:2])
        yield judged({**case, "id": f"faithful-{case['id']}"}, "faithful", not faults, note)


def _mutated(stage: Stage, cases: Sequence[Case]) -> Iterator[Judged]:
    for case, faults in _proved(stage, cases):
        group = "figure" if case["change"] in {*FIGURES, "figure"} else "sense"
        yield judged({**case, "id": f"mutated-{case['id']}"}, group, bool(faults), case["change"])


# An answer that says the facts otherwise is delivered. A case passes when the proof finds nothing wrong.
FAITHFUL: Final = Suite("faithful", {"passages": TEXTS, "text": TEXT}, {"faithful": 0.99}, _faithful)
# An answer with one wrong thing in it is not delivered. A case passes when the proof finds a fault. Of figures none may pass;
# the sense of a sentence is judged without a model, by what it denies and by its words.
MUTATED: Final = Suite("mutated", {"passages": TEXTS, "text": TEXT, "change": TEXT}, {"figure": 1.0, "sense": 0.99}, _mutated)
