"""Norms that change: served as they were, looked at as they are."""

from dataclasses import replace

from sqlalchemy import text

from clara.adapters.postgres.snapshots import PostgresSnapshots
from clara.bootstrap import Services
from clara.ingestion.sources import Snapshot, digest_of_content
from clara.jobs.drifting import Choice, check_drift
from clara.jobs.outcome import Outcome
from clara.knowledge.law.norm import Norm, norm_as_json

NORM = "BOE-A-2024-24099"


def serve(services: Services, norm: Norm) -> None:
    content = norm_as_json(norm)
    snapshot = Snapshot(norm.id, "norm", norm.url, digest_of_content(content), content, norm.updated)
    PostgresSnapshots(services.engine.get()).keep(snapshot, "served")


def changed(norm: Norm, key: str, before: str, after: str) -> Norm:
    assert before in norm.by_key[key].text
    return replace(
        norm,
        provisions=tuple(
            replace(one, text=one.text.replace(before, after)) if one.key == key else one for one in norm.provisions
        ),
    )


def look(services: Services, *live: Norm | Exception) -> Outcome:
    """Look at one source whose live state is handed in."""
    state = live[0]

    def fetch(_source: object) -> Norm:
        if isinstance(state, Exception):
            raise state
        return state

    name = state.id if isinstance(state, Norm) else NORM
    return check_drift(services, Choice(source=name), fetch, lambda _line: None, lambda _done, _total: None)


def one_of(services: Services, statement: str) -> object:
    with services.engine.get().connect() as connection:
        return connection.scalar(text(statement))


def numbers(outcome: Outcome) -> list[int]:
    return [finding["id"] for finding in outcome.report["sources"][0]["findings"]]
