"""Proving what was said in a reply against the facts it cites."""

import re
from collections.abc import Mapping
from typing import Final

from clara.answering.message import Reply
from clara.answering.snapshot import KnowledgeSnapshot
from clara.answering.writing.extractive import END_ISOLATE, ISOLATE
from clara.retrieval.passage import Passage

BULLET: Final = "• "
MARKED: Final = re.compile(r" \[(C\d{1,2})\]$")


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
