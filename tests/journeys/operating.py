"""A Clara with something for operators to look at."""

import hashlib

import psycopg
from psycopg.types.json import Jsonb

OPERATOR, READER = "the-operators-token", "the-readers-token"
TOKENS = {
    "clara_admin_token_sha256": hashlib.sha256(OPERATOR.encode()).hexdigest(),
    "clara_reader_token_sha256": hashlib.sha256(READER.encode()).hexdigest(),
}
AS_OPERATOR, AS_READER = {"Authorization": f"Bearer {OPERATOR}"}, {"Authorization": f"Bearer {READER}"}
AS_STRANGER = {"Authorization": "Bearer a-guess"}
FINDING = """
    insert into findings (source_id, kind, weight, place, title, before, after, figures, digest, state)
    values ('BOE-A-2021-21007', 'article', %s, %s, 'Artículo 16', 'son 604,21 euros', 'son 658,81 euros', %s, %s, %s)
    returning id
"""


def stock(url: str) -> list[int]:
    """Put findings, checks, a day of the gazette and an answered message into the database; give the findings' numbers."""
    with psycopg.connect(url, autocommit=True) as connection:
        fact, document = connection.execute(
            "select id, document_id from passages where document_id = 'imv' order by id limit 1"
        ).fetchone()
        numbers = []
        for place, (weight, state) in enumerate([("substantive", "open"), ("substantive", "open"), ("cosmetic", "rejected")]):
            figures = Jsonb({"gone": [{"kind": "amount", "value": "604.21"}], "new": [{"kind": "amount", "value": "658.81"}]})
            row = connection.execute(FINDING, [weight, f"a{place}", figures, f"digest {place}", state]).fetchone()
            numbers.append(row[0])
            connection.execute(
                "insert into finding_facts (finding_id, fact_id, relation, proposal) values (%s, %s, 'provision', %s)",
                [row[0], fact, Jsonb({"text": "La cuantía es de 658,81 euros."}) if place == 0 else None],
            )
        connection.execute(
            "insert into checks (source_id, checked_at, reached_at, outcome) values "
            "('BOE-A-2021-21007', now() - interval '2 days', now() - interval '2 days', 'substantive'), "
            "('a-source-of-another-release', now() - interval '300 days', null, 'unreachable')"
        )
        connection.execute("insert into gazette_days (day, state, issues, items) values ('2026-04-25', 'read', 1, 287)")
        connection.execute("insert into gazette_days (day, state, error) values ('2026-04-26', 'failed', 'HTTP 503')")
        for number in (1, 2, 3):
            connection.execute(
                "insert into gazette_items (id, day, section, department, title, url, score, reasons, norms, facts) values "
                "(%s, '2026-04-25', '1', 'JEFATURA DEL ESTADO', 'Real Decreto', 'https://www.boe.es/', 1, %s, '{}', %s)",
                [f"BOE-A-2026-{number}", Jsonb([{"norm": "BOE-A-2021-21007", "relation": "modifica"}]), [fact]],
            )
        inbox = connection.execute(
            "insert into inbox (message_sid, channel, pseudonym, body) values ('SM1', 'local', 'somebody', 'soy Ana') "
            "returning id"
        ).fetchone()
        connection.execute(
            "insert into turns (inbox_id, pseudonym, language, status, total_ms, citations) "
            "values (%s, 'somebody', 'es', 'answered', 1, %s)",
            [inbox[0], Jsonb([{"passage_id": fact, "document_id": document}])],
        )
    return numbers
