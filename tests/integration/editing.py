"""The editorial journey on a container, for tests."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from clara.container import Container
from clara.editorial import publication
from clara.editorial.intake import SourceChoice
from clara.editorial.ports import JobOutcome
from clara.editorial.publication import Judge
from clara.editorial.records import Settled
from clara.editorial.review import Decider, Verdicts
from clara.editorial.source_ingestion import IngestionChoice, ingest_chosen
from clara.editorial.sources import Fetch, Read
from clara.ingestion.journey import IngestionReport
from clara.processes.commands import build_explainer, build_search
from clara.processes.editorial import build_editorial, build_norms
from clara.processes.editorial_jobs import build_means
from clara.retrieval.search import SearchChoice, found_json

NOTHING_DECIDED = Verdicts()


def quiet(*_told: object) -> None:
    """Say nothing."""


def look_at(services: Container, chosen: SourceChoice, fetch: Fetch, say: Callable[[str], None] = quiet) -> JobOutcome:
    return build_editorial(services).look(chosen, fetch, say, quiet)


def waiting(services: Container) -> list[dict[str, Any]]:
    return build_editorial(services).waiting()


def one(services: Container, number: int, bases: Mapping[str, Decimal] | None = None) -> dict[str, Any]:
    return build_editorial(services).finding(number, bases)


def accept(services: Container, number: int, verdicts: Verdicts = NOTHING_DECIDED, *, say: Callable[[str], None]) -> Settled:
    return build_editorial(services).accept(number, verdicts, Decider(), say)


def reject(services: Container, number: int, reason: str, say: Callable[[str], None]) -> Settled:
    return build_editorial(services).reject(number, reason, Decider(), say)


def publish(
    services: Container, judge: Judge, say: Callable[[str], None] = quiet, *, by: str = "cli", dry_run: bool = False
) -> JobOutcome:
    desk = build_editorial(services).desk
    return publication.rehearse(desk, say) if dry_run else publication.publish(desk, judge, by, say, quiet)


def undo(services: Container, say: Callable[[str], None]) -> JobOutcome:
    return publication.undo(build_editorial(services).desk, say)


def withdraw(services: Container, fact: str, say: Callable[[str], None]) -> JobOutcome:
    return publication.withdraw(build_editorial(services).desk, fact, say)


def settle(services: Container, norm: str) -> IngestionReport:
    return build_norms(services).settle(norm)


def ingest(services: Container, chosen: IngestionChoice, net: Read, say: Callable[[str], None] = quiet) -> JobOutcome:
    return ingest_chosen(build_means(services), chosen, net, say, quiet)


def explain(services: Container, question: str, corpus: str, *, plan: bool) -> dict[str, Any]:
    return build_explainer(services).explain(question, corpus, plan=plan)


def replay(services: Container, turn: int, *, again: bool = False) -> dict[str, Any]:
    return build_explainer(services).replay(turn, again=again)


def search(services: Container, text: str, asking: SearchChoice) -> dict[str, Any]:
    return found_json(build_search(services).find(text, asking))
