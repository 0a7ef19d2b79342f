"""The description of what is served over HTTP: the same addresses as the application, and the answers that it gives."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jsonschema_rs
import psycopg
import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families
from tests.journeys.operating import AS_OPERATOR, AS_READER, AS_STRANGER, TOKENS, stock
from tests.journeys.talking import ACCOUNT, ADDRESS_KEY, FORMS, PSEUDONYM_KEY, PUBLIC_URL, TOKEN, signature
from werkzeug.test import TestResponse

from clara.adapters.postgres.operations.runs import PostgresRuns
from clara.container import Container
from clara.editorial.ports import JobOutcome
from clara.processes.run_record import recorded
from clara.settings import resources
from clara.web.app import MAX_BODY_BYTES
from clara.web.auth import WRONG_AT_ONCE

DOCUMENT: Mapping[str, Any] = json.loads((resources() / "data" / "openapi.json").read_text("utf-8"))
METHODS = ("get", "post", "put", "patch", "delete")
TWILIO = {
    "clara_channel": "twilio",
    "clara_public_url": PUBLIC_URL,
    "clara_pseudonym_key": PSEUDONYM_KEY,
    "clara_address_key": ADDRESS_KEY,
    "twilio_account_sid": ACCOUNT,
    "twilio_auth_token": TOKEN,
}
Operation = tuple[str, str]
Asked = tuple[str, str, int]
Serve = Callable[..., FlaskClient]


def operations() -> Iterator[tuple[Operation, Mapping[str, Any]]]:
    """Each documented operation, by path and method."""
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method in item:
                yield (path, method), item[method]


def resolved(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference within the document."""
    if "$ref" not in value:
        return value
    found: Any = DOCUMENT
    for step in value["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return resolved(found)


DOCUMENTED: dict[Asked, Mapping[str, Any]] = {
    (path, method, int(status)): resolved(response)
    for (path, method), operation in operations()
    for status, response in operation["responses"].items()
}


def check(path: str, method: str, answer: TestResponse) -> Asked:
    """Hold an answer against what is documented for it; give what it is an example of."""
    asked = (path, method, answer.status_code)
    assert asked in DOCUMENTED, f"{asked}: not documented; {answer.text[:200]}"
    content = DOCUMENTED[asked].get("content")
    if content is None:
        assert answer.data == b""
        return asked
    assert list(content) == [answer.mimetype], asked
    for header in DOCUMENTED[asked].get("headers", {}):
        assert header in answer.headers
    if answer.mimetype == "application/json":
        schema = {**content["application/json"]["schema"], "components": DOCUMENT["components"]}
        faults = [f"{asked} {fault.instance_path}: {fault.message}" for fault in validator(schema).iter_errors(answer.json)]
        assert faults == []
    return asked


def validator(schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=True)


def filled(path: str, number: int = 1, item: str = "BOE-A-2026-1") -> str:
    return path.replace("{number}", str(number)).replace("{item}", item)


@pytest.fixture
def services(knowledge_url: str, services_on: Callable[..., Container]) -> Container:
    switched_on = {"rag_boe_monitor_enabled": True, "rag_drift_check_enabled": True}
    made = services_on(knowledge_url, **TWILIO, **TOKENS, **switched_on)
    recorded(PostgresRuns(made.engine), "drift", "--stale", lambda: JobOutcome(1, {"findings": 2}))
    return made


@pytest.fixture
def web(services: Container, serve: Callable[..., FlaskClient]) -> FlaskClient:
    return serve(services)


@pytest.fixture
def away(services_on: Callable[..., Container], serve: Callable[..., FlaskClient], tmp_path: Any) -> FlaskClient:
    """An application whose database is away, and whose spool cannot be used."""
    (tmp_path / "file").write_text("")
    url = "postgresql://clara@127.0.0.1:1/secret"
    services = services_on(url, **TWILIO, **TOKENS, rag_drift_check_enabled=True, clara_spool=tmp_path / "file" / "spool")
    return serve(services)


def form(web: FlaskClient, path: str, body: str, signed: str | None = None) -> TestResponse:
    headers = {"X-Twilio-Signature": signature(PUBLIC_URL + path, body) if signed is None else signed}
    return web.post(path, data=body.encode(), content_type="application/x-www-form-urlencoded", headers=headers)


def test_the_same_addresses(web: FlaskClient) -> None:
    """What is documented is served, and what is served is documented: every path with its methods."""
    served = {
        (re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule), method.lower())
        for rule in web.application.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }
    assert served == {operation for operation, _ in operations()}


def test_the_document_holds_together() -> None:
    """It is OpenAPI 3.1: its schemas are JSON Schemas, every reference leads somewhere, every part of a path is described."""
    assert DOCUMENT["openapi"].startswith("3.1.")
    for name, schema in DOCUMENT["components"]["schemas"].items():
        jsonschema_rs.meta.validate({**schema, "components": DOCUMENT["components"]})
        validator({"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]})
    text = json.dumps(DOCUMENT)
    pointed = set(re.findall(r'"#/components/(\w+)/(\w+)"', text))
    held = {(kind, name) for kind, parts in DOCUMENT["components"].items() for name in parts if kind != "securitySchemes"}
    assert pointed == held
    names = [operation["operationId"] for _, operation in operations()]
    assert len(names) == len(set(names))
    for (path, method), operation in operations():
        item = DOCUMENT["paths"][path]
        parameters = [resolved(parameter) for parameter in (*item.get("parameters", ()), *operation.get("parameters", ()))]
        in_path = {parameter["name"] for parameter in parameters if parameter["in"] == "path"}
        assert in_path == set(re.findall(r"\{(\w+)\}", path)), (path, method)
        assert operation["summary"]


def test_it_is_served_to_whoever_has_a_token(web: FlaskClient) -> None:
    """Readers find it beside what it describes."""
    assert web.get("/admin/openapi.json", headers=AS_READER).json == DOCUMENT


def test_every_documented_answer_is_given(
    web: FlaskClient, away: FlaskClient, serve: Serve, services_on: Callable[..., Container], knowledge_url: str
) -> None:
    """Each documented status of each operation is seen from a real application on a real database, and looks as documented."""
    findings = stock(knowledge_url)
    given = {*fine(web, findings[0]), *decided(web, findings), *refused(web, findings[0]), *twilio(web), *outages(away)}
    # Where nobody can decide, and where no token is configured and somebody asks from another machine.
    alone = serve(services_on(knowledge_url, **TWILIO, **TOKENS), reviewing=None)
    without_token = serve(services_on(knowledge_url, **TWILIO))
    for act in ("accept", "reject"):
        answer = alone.post(f"/admin/review/1/{act}", json={"reason": "so"}, headers=AS_OPERATOR)
        given.add(check(f"/admin/review/{{number}}/{act}", "post", answer))
    far = without_token.get("/metrics", environ_base={"REMOTE_ADDR": "192.0.2.1"})
    given.add(check("/metrics", "get", far))
    given.add(check("/health", "get", healthy(web, knowledge_url)))
    assert DOCUMENTED.keys() - given == set()


def healthy(web: FlaskClient, url: str) -> TestResponse:
    """Look at /health while a worker gives signs of life."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("insert into procrastinate_workers default values")
        connection.execute("delete from inbox")
    return web.get("/health")


def fine(web: FlaskClient, number: int) -> Iterator[Asked]:
    """Everything that is read."""
    yield check("/health", "get", web.get("/health"))
    yield check("/health/live", "get", web.get("/health/live"))
    metrics = web.get("/metrics", headers=AS_READER)
    assert list(text_string_to_metric_families(metrics.text))
    yield check("/metrics", "get", metrics)
    for (path, method), _ in operations():
        if path.startswith("/admin") and method == "get":
            yield check(path, method, web.get(filled(path, number), headers=AS_READER))
    for query in (
        "staleness?by=source",
        "staleness?by=fact",
        "staleness?by=fact&limit=1",
        "review?state=all",
        "boe?unseen&limit=1",
    ):
        yield check(f"/admin/{query.partition('?')[0]}", "get", web.get(f"/admin/{query}", headers=AS_READER))


def decided(web: FlaskClient, numbers: list[int]) -> Iterator[Asked]:
    """Everything that is done, and what cannot be: again, on what is unknown, without a reason."""
    for act, number in zip(("accept", "reject"), numbers, strict=False):
        path = f"/admin/review/{{number}}/{act}"
        for asked_for in (number, number, 10**9):
            answer = web.post(filled(path, asked_for), json={"reason": "so"}, headers=AS_OPERATOR)
            yield check(path, "post", answer)
    path = "/admin/boe/{item}/seen"
    for item in ("BOE-A-2026-1", "BOE-A-2026-99"):
        yield check(path, "post", web.post(filled(path, item=item), headers=AS_OPERATOR))
    yield check("/admin/review/{number}", "get", web.get("/admin/review/999999", headers=AS_READER))


def refused(web: FlaskClient, number: int) -> Iterator[Asked]:
    """Without a token, with a reader's for acts, with a parameter that there is not, and after too many guesses."""
    guessing = {"REMOTE_ADDR": "192.0.2.9"}
    for _ in range(WRONG_AT_ONCE):
        assert web.get("/admin/jobs", headers=AS_STRANGER, environ_base=guessing).status_code == 401
    for (path, method), _ in operations():
        if not path.startswith(("/admin", "/metrics")):
            continue
        ask = getattr(web, method)
        yield check(path, method, ask(filled(path, number)))
        yield check(path, method, ask(filled(path, number), environ_base=guessing))
        if path.startswith("/admin"):
            yield check(path, method, ask(f"{filled(path, number)}?nonsense=1", headers=AS_OPERATOR))
        if method == "post":
            yield check(path, method, ask(filled(path, number), headers=AS_READER))


def twilio(web: FlaskClient) -> Iterator[Asked]:
    """Messages and reports: signed, forged, of nobody, and too long."""
    message = next(body for body in FORMS.values() if "MessageSid" in body and "From" in body)
    for path in ("/webhook", "/webhook/fallback"):
        yield check(path, "post", form(web, path, message))
        yield check(path, "post", form(web, path, "Body=hola"))
    yield check("/webhook/status", "post", form(web, "/webhook/status", message))
    for path in ("/webhook", "/webhook/fallback", "/webhook/status"):
        yield check(path, "post", form(web, path, message, signed="forged"))
        yield check(path, "post", form(web, path, f"Body={'x' * MAX_BODY_BYTES}"))


def outages(away: FlaskClient) -> Iterator[Asked]:
    """While database and spool are away."""
    yield check("/health", "get", away.get("/health"))
    yield check("/metrics", "get", away.get("/metrics", headers=AS_READER))
    message = "MessageSid=SM1&From=whatsapp%3A%2B34600000001&Body=hola"
    report = "MessageSid=SM1&MessageStatus=delivered"
    for path, body in (("/webhook", message), ("/webhook/fallback", message), ("/webhook/status?reply=1", report)):
        yield check(path.partition("?")[0], "post", form(away, path, body))
    for (path, method), operation in operations():
        if path.startswith("/admin") and "503" in operation["responses"]:
            body = {"json": {"reason": "so"}} if path.startswith("/admin/review") and method == "post" else {}
            yield check(path, method, getattr(away, method)(filled(path), headers=AS_OPERATOR, **body))
