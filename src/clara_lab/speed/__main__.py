"""Measuring speed and memory: `make bench`. Prints medians, ratios and the goals; times nothing in tests.

Walls on a shared machine are weather; the ratios are climate.
"""

import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from urllib.parse import urlencode
from uuid import uuid4

import click
from sqlalchemy import Engine
from twilio.request_validator import RequestValidator

from clara.knowledge.passages import CORPUS
from clara.processes.children import Child
from clara.processes.commands import measure_recall
from clara.processes.preparation import fill, running_container
from clara.retrieval.hybrid import HybridIndex
from clara.retrieval.passage import Query, Retrieve
from clara.retrieval.ports import Embedder
from clara.settings import DEMO_ACCOUNT, DEMO_TOKEN, SAMPLE_KEY, child_environment, load_settings
from clara_lab.speed.engine import interleaved, milliseconds, over_floor
from clara_lab.speed.engine import measure as measure_engine

QUESTIONS = (
    "¿Cuánto se cobra con el IMV?", "que documentos necesito para empadronarme", "how do I renew my TIE",
    "كيف أحصل على رقم NIE؟", "me han despedido, ¿cuántos días tengo para pedir el paro?", "abogado gratis sin papeles",
)  # fmt: skip
ROUNDS = 20
POSTS = 200
WEB_PORT = 8179


def main() -> None:
    """Run every measurement and print one line each."""
    with running_container(load_settings(), lambda said: click.echo(said, err=True)) as container:
        recall = partial(measure_recall, container, progress=lambda _done, _total: None, sample=100)
        measure_engine(container, container.snapshot().knowledge.passages, recall, QUESTIONS, _say)
        _retrieval(container.embedder, container.index(), container.retriever)
        spent = [milliseconds(lambda: fill(container, lambda _said: None)) for _ in range(5)]
        _say("ingestion with nothing to do, p50", f"{statistics.median(spent):.0f} ms", "<= 1000 ms")
        environment = child_environment(RAG_DB_URL=str(container.database_url))
        _processes(environment, container.engine)
        _cold_start(environment)


def _retrieval(embedder: Embedder, index: HybridIndex, retrieve: Retrieve) -> None:
    vectors = {question: embedder.embed([question], "query")[0] for question in QUESTIONS}
    for question in QUESTIONS:
        retrieve(Query(question, CORPUS))
    acts: dict[str, Callable[[Query], object]] = {
        "embedding": lambda query: embedder.embed([query.text], "query"),
        "statement": lambda query: index.search(query, vectors[query.text]),
        "whole": retrieve,
    }
    spent = interleaved(acts, [Query(question, CORPUS) for question in QUESTIONS], ROUNDS)
    for what, act in (("embedding", "embedding"), ("hybrid statement", "statement"), ("retrieve()", "whole")):
        _say(f"{what}, p50", f"{statistics.median(spent[act]):.1f} ms")
    ratio = over_floor(spent["whole"], spent["embedding"], spent["statement"])
    _say("retrieve() / (embedding + statement)", f"{ratio:.2f} x", "<= 1.25 x")


def _processes(environment: Mapping[str, str], database: Engine) -> None:
    with _serving(environment) as (web, worker):
        acknowledged = [milliseconds(_poster(number)) for number in range(POSTS)]
        until_answered = monotonic() + 60
        while _left(database) and monotonic() < until_answered:
            sleep(0.2)
        _say("webhook acknowledgement, p50", f"{statistics.median(acknowledged):.1f} ms", "<= 15 ms")
        _say("webhook acknowledgement, p99", f"{sorted(acknowledged)[int(0.99 * POSTS)]:.1f} ms")
        shared_out, peak = (
            partial(_megabytes, file="smaps_rollup", name="Pss"),
            partial(_megabytes, file="status", name="VmHWM"),
        )
        _say("memory after it, web (PSS, both processes)", f"{sum(map(shared_out, web)):.0f} MB", "<= 130 MB")
        _say("peak memory, web (VmHWM, each process)", " + ".join(f"{peak(pid):.0f}" for pid in web) + " MB")
        _say("memory after it, worker (PSS)", f"{sum(map(shared_out, worker)):.0f} MB")
        _say("peak memory, worker (VmHWM)", f"{sum(map(peak, worker)):.0f} MB", "<= 220 MB")


def _cold_start(environment: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "clara", "ask", QUESTIONS[0]]
    spent = [
        milliseconds(lambda: subprocess.run(command, env=dict(environment), check=True, capture_output=True))  # noqa: S603
        for _ in range(5)
    ]
    _say("`clara ask`, cold start, p50", f"{statistics.median(spent) / 1000:.2f} s", "<= 3 s")


@contextmanager
def _serving(environment: Mapping[str, str]) -> Iterator[tuple[list[int], list[int]]]:
    """Run web and worker as in production; give their process ids."""
    environment = {
        **environment,
        "PORT": str(WEB_PORT),
        "OMP_NUM_THREADS": "1",
        "CLARA_CHANNEL": "twilio",
        "CLARA_PUBLIC_URL": f"http://127.0.0.1:{WEB_PORT}",
        "CLARA_PSEUDONYM_KEY": SAMPLE_KEY,
        "CLARA_ADDRESS_KEY": SAMPLE_KEY,
        "TWILIO_ACCOUNT_SID": DEMO_ACCOUNT,
        "TWILIO_AUTH_TOKEN": DEMO_TOKEN,
        "TWILIO_API_URL": "http://127.0.0.1:1",  # nothing is sent: replies wait in the outbox
    }
    children = [Child("web", environment, quiet=True), Child("worker", environment, quiet=True)]
    try:
        for child in children:
            child.keep_running()
        deadline = monotonic() + 30
        while not _listening() and monotonic() < deadline:
            sleep(0.1)
        begun = [Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split() for child in children]
        web, worker = ([child.pid, *map(int, its)] for child, its in zip(children, begun, strict=True))
        yield web, worker
    finally:
        for child in children:
            child.stop()


def _poster(number: int) -> Callable[[], None]:
    url = f"http://127.0.0.1:{WEB_PORT}/webhook"
    fields = {
        "From": f"whatsapp:+3460000{number:04}",
        "To": "whatsapp:+15555550100",
        "MessageSid": f"SM{uuid4().hex}",
        "Body": QUESTIONS[number % len(QUESTIONS)],
        "NumMedia": "0",
    }
    headers = {
        "X-Twilio-Signature": RequestValidator(DEMO_TOKEN).compute_signature(url, fields),
        "Content-Type": "application/x-www-form-urlencoded",
    }

    def post() -> None:
        connection = HTTPConnection("127.0.0.1", WEB_PORT, timeout=10)
        connection.request("POST", "/webhook", urlencode(fields), headers)
        status = connection.getresponse().status
        connection.close()
        if status != 200:  # noqa: PLR2004
            msg = f"the webhook answered {status}"
            raise click.ClickException(msg)

    return post


def _left(database: Engine) -> int:
    with database.connect() as connection:
        unanswered = "select count(*) from inbox i where not exists (select from outbox o where o.inbox_id = i.id)"
        return int(connection.exec_driver_sql(unanswered).scalar() or 0)


def _listening() -> bool:
    try:
        connection = HTTPConnection("127.0.0.1", WEB_PORT, timeout=1)
        connection.request("GET", "/health")
        return connection.getresponse().status == 200  # noqa: PLR2004
    except OSError:
        return False


def _megabytes(pid: int, file: str, name: str) -> float:
    """Give a figure of a process: VmHWM of `status` is its peak, Pss of `smaps_rollup` counts shared pages once among all."""
    lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), 0.0)


def _say(what: str, measured: str, goal: str = "") -> None:
    click.echo(f"{what:<50} {measured:>10}   {f'goal {goal}' if goal else ''}")


if __name__ == "__main__":
    main()
