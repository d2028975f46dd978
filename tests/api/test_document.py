"""Whatever is sent to any route of the document, the answer is one that the document names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import asyncpg
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    create_test,
)
from schemathesis.generation.hypothesis.builder import HypothesisTestMode as Mode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.specs.openapi.schemas import OpenApiSchema

from messor.access.csrf import csrf_token
from messor.access.roles import Role
from messor.api.app import SESSION_COOKIE, make_api
from messor.settings import Settings
from messor.store.database import Database
from tests.api.serving import Served
from tests.api.test_gate import routes
from tests.template_server import with_database

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
# A stream has no end to wait for; each has tests of its own.
STREAMS = {"/api/v1/events/stream", "/api/v1/changes/stream"}
# Those of the document, as `test_gate` makes sure: to make that takes a second, and each process of
# a run collects all tests.
OPERATIONS = sorted(
    {f"{method} {path}" for method, path, _ in routes()}
    - {f"GET {path}" for path in STREAMS}
    - {"GET /api/v1/openapi.json"}
)


@cache
def document() -> dict[str, Any]:
    return make_api(Settings(), Database("postgresql://nowhere")).openapi()


@cache
def schema() -> OpenApiSchema:
    return schemathesis.openapi.from_dict(document())


def operation_at(place: str) -> APIOperation[Any, Any, Any, Any]:
    method, _, path = place.partition(" ")
    found: APIOperation[Any, Any, Any, Any] = schema()[path][method.lower()]
    return found


@pytest.fixture(scope="module")
def served(server_dsn: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    name = f"test_document_{os.getpid()}"

    async def run(sql: str) -> None:
        connection = await asyncpg.connect(server_dsn, ssl=False)
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    asyncio.run(run(f"CREATE DATABASE {name} TEMPLATE template_messor STRATEGY file_copy"))
    with Served(with_database(server_dsn, name), tmp_path_factory.mktemp("api")) as served:
        yield served
    asyncio.run(run(f"DROP DATABASE {name} WITH (FORCE)"))


def test_it_is_openapi_3_1_and_complete() -> None:
    assert document()["openapi"] == "3.1.0"
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            answers = operation["responses"]
            good = [answers[status] for status in answers if status.startswith("2")]
            assert good, (method, path)
            for answer in good:
                shown = answer.get("content", {})
                assert "204" in answers or all(one.get("schema") for one in shown.values())
            assert operation["summary"]
            assert operation.get("description"), (method, path)


# What is sent is thought of when the test runs: Schemathesis' own decorator does it for all routes
# in every process that collects tests, which takes longer than most suites.
@pytest.mark.parametrize("place", OPERATIONS)
def test_every_answer_is_as_documented(place: str, served: Served) -> None:
    send_cases(operation_at(place), served, [Mode.EXAMPLES, Mode.FUZZING], examples=4)


@pytest.mark.wide
@pytest.mark.parametrize("place", OPERATIONS)
def test_every_answer_to_many_requests_is_as_documented(place: str, served: Served) -> None:
    """With every boundary of every parameter, which is some dozen requests."""
    send_cases(operation_at(place), served, list(Mode), examples=20)


def send_cases(
    operation: APIOperation[Any, Any, Any, Any], served: Served, modes: list[Mode], *, examples: int
) -> None:
    # Of an ingestion a submitter is told that it needs approval: nobody works on it here.
    role = Role.SUBMITTER if operation.path.endswith("/ingest") else Role.ADMIN
    ends_sessions = operation.path.startswith(("/api/v1/session", "/api/v1/members"))
    kept = served.session(role)

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answer_is_as_documented(case: schemathesis.Case[Any]) -> None:
        token = served.session(role) if ends_sessions else kept
        headers = {"X-CSRF-Token": csrf_token(token)}
        response = case.call(
            base_url=served.url, headers=headers, cookies={SESSION_COOKIE: token}, timeout=120
        )
        case.validate_response(response, checks=CHECKS)

    config = HypothesisTestConfig(schema().config, modes)
    create_test(operation=operation, test_func=answer_is_as_documented, config=config)()
