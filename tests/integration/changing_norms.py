"""Norms that change: served as they were, looked at as they are."""

from dataclasses import replace

from sqlalchemy import text
from tests.integration.editing import look_at

from clara.adapters.postgres.editorial.findings import PostgresSnapshots
from clara.container import Container
from clara.editorial.intake import SourceChoice
from clara.editorial.ports import JobOutcome
from clara.editorial.sources import Live, Snapshot, digest_of_content, live_norm
from clara.knowledge.law.norm import Norm, norm_as_json

NORM = "BOE-A-2024-24099"
# The provision that fixes the IPREM, and the same with another one.
BUDGET = "BOE-A-2022-22128"
LAW = f'''---
title: "Ley 31/2022, de 23 de diciembre"
identifier: "{BUDGET}"
source: "https://www.boe.es/eli/es/l/2022/12/23/31"
---
# Ley 31/2022, de 23 de diciembre

##### Disposición adicional nonagésima. Determinación del indicador público de rentas de efectos múltiples (IPREM) para 2023.

a) El IPREM diario, 20 euros.

b) El IPREM mensual, 600 euros.

c) El IPREM anual, 7.200 euros.

d) La cuantía anual del IPREM será de 8.400 euros cuando las normas se refieran al salario mínimo interprofesional.
'''
RAISED = LAW.replace(" 20 euros", " 20,67 euros").replace("600 ", "620 ").replace("7.200", "7.440").replace("8.400", "8.680")


def serve(services: Container, norm: Norm) -> None:
    content = norm_as_json(norm)
    snapshot = Snapshot(norm.id, "norm", norm.url, digest_of_content(content), content, norm.updated)
    PostgresSnapshots(services.engine).keep(snapshot, "served")


def changed(norm: Norm, key: str, before: str, after: str) -> Norm:
    assert before in norm.by_key[key].text
    return replace(
        norm,
        provisions=tuple(
            replace(one, text=one.text.replace(before, after)) if one.key == key else one for one in norm.provisions
        ),
    )


def look(services: Container, *live: Norm | Exception) -> JobOutcome:
    """Look at one source whose live state is handed in."""
    state = live[0]

    def fetch(_source: object) -> Live:
        if isinstance(state, Exception):
            raise state
        return live_norm(state, state.url)

    name = state.id if isinstance(state, Norm) else NORM
    return look_at(services, SourceChoice(source=name), fetch)


def one_of(services: Container, statement: str) -> object:
    with services.engine.connect() as connection:
        return connection.scalar(text(statement))


def numbers(outcome: JobOutcome) -> list[int]:
    return [finding["id"] for finding in outcome.report["sources"][0]["findings"]]
