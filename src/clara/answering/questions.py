"""Asking on the command line, through the journey of a message: one question, or a file of them."""

import hashlib
import json
from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from clara.answering.journey import Tools, converse
from clara.answering.message import Act, Message, Past, Reply, after
from clara.answering.privacy.rights import asks_to_forget
from clara.data_files import TEXT, TEXTS, BatchError, optional, read_lines

# A line of a batch: `turns` are the messages before the question, of the same person.
FIELDS: Final = {"id": TEXT, "query": TEXT, "turns": optional(TEXTS)}
# Questions answered at the same time: embedding and searching leave the interpreter to each other.
AT_ONCE: Final = 2
# What is said of an answer is one act, whatever was said.
RATINGS: Final = frozenset({Act.HELPFUL, Act.UNHELPFUL, Act.WRONG})
NAMED: Final = {"human": "person"}


def ask(tools: Tools, question: str) -> dict[str, Any]:
    """Give the reply as JSON: status, tier, language, text, citations, timings_ms by stage."""
    return _told(converse(Message(question), tools))


def _told(reply: Reply) -> dict[str, Any]:
    return {
        "status": reply.status.value,
        "tier": reply.tier,
        "language": reply.language,
        "text": reply.text,
        "citations": [asdict(citation) for citation in reply.citations],
        "timings_ms": {stage: round(spent, 3) for stage, spent in reply.timings_ms.items()},
    }


def last_reply(tools: Tools, messages: Sequence[str]) -> Reply:
    """Hold the conversation of one person, and give the reply to the last message. Raises IndexError without a message."""
    *before, last = messages
    past: tuple[Past, ...] = ()
    for message in before:
        past = after(past, message, _next(tools, message, past))
    return _next(tools, last, past)


def _next(tools: Tools, message: str, past: Sequence[Past]) -> Reply:
    return converse(Message(message), tools, previous_language=past[0].language if past else None, past=past)


def act_of(reply: Reply) -> str | None:
    """Name what was done or asked about beside the answer: erase, ask_erase, remember, feedback, person, ...; or None."""
    if asks_to_forget(reply.options):
        return "ask_erase"
    if reply.act is not None:
        return "feedback" if reply.act in RATINGS else reply.act.value
    said = reply.trace.get("command") or reply.trace.get("wish")
    return NAMED.get(str(said), str(said)) if said else None


def batch_row(line: Mapping[str, Any], reply: Reply, names: Container[str]) -> dict[str, Any]:
    """Give what a batch tells of one reply; `names` are those of the procedures."""
    return {
        "id": line["id"],
        **_told(reply),
        "offers": [option for option in reply.options if option in names],
        "danger": list(reply.trace.get("danger", ())),
        "act": act_of(reply),
    }


def ask_batch(
    tools: Tools, names: Container[str], source: Path, target: Path, asked_of: str, progress: Callable[[int, int], None]
) -> int:
    """Answer every line of `source` into `target`, in order; give how many there are.

    `names` are those of the procedures. What is done waits beside `target`, in a file whose name tells the questions and what
    they were asked of (`asked_of`, a release on a day): the same call goes on with it after it was stopped, and `target`
    appears when all are answered. Raises BatchError before anything is asked.
    """
    lines = read_lines(source, FIELDS)
    if not target.parent.is_dir():
        raise BatchError(f"{target}: its folder does not exist; make it first")
    mark = hashlib.sha256(source.read_bytes() + asked_of.encode()).hexdigest()[:12]
    partial = target.with_name(f"{target.name}.{mark}.part")
    done = _done(partial)
    progress(done, len(lines))

    def answered(line: Mapping[str, Any]) -> str:
        reply = last_reply(tools, [*line.get("turns", ()), line["query"]])
        return json.dumps(batch_row(line, reply, names)) + "\n"

    threads = ThreadPoolExecutor(AT_ONCE, "question")
    try:
        with partial.open("a", encoding="utf-8") as out:
            for number, row in enumerate(threads.map(answered, lines[done:]), done + 1):
                out.write(row)
                out.flush()
                progress(number, len(lines))
    finally:
        threads.shutdown(cancel_futures=True)  # who stops a run does not wait for all its questions
    partial.replace(target)
    return len(lines)


def _done(partial: Path) -> int:
    """Count the lines that were written whole, and cut off what a stopped run left of the next one."""
    if not partial.exists():
        return 0
    written = partial.read_bytes()
    whole = written[: written.rfind(b"\n") + 1]
    if whole != written:
        partial.write_bytes(whole)
    return whole.count(b"\n")
