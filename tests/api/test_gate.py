"""Every route of the application is behind the gate: nobody enters unknown, or beyond their role."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from fastapi import APIRouter, FastAPI

from messor.access.csrf import csrf_token
from messor.access.ratelimits import Limit
from messor.access.roles import NEVER_BY_KEY, PERMISSIONS, Act, Role
from messor.api.app import PREFIX, ROUTERS, SESSION_COOKIE, make_api, own
from messor.api.context import ApiLimits
from messor.api.gate import GatedRoute, terms_of
from messor.api.routes import ingestion
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import AsRole, client_of, key_of, problem, session_of

FEED = "/api/v1/watches/feeds/{token}/{form}"  # opened by the token of its watch
PUBLIC = {("GET", "/api/v1/health/live"), ("GET", "/api/v1/health/ready"), ("GET", FEED)}
SAMPLES = {"form": "atom", "domain": "example.org", "slug": "example-org", "trace_id": "0" * 32}


def routes() -> Iterator[tuple[str, str, Act | None]]:
    """Method, path and act of every route there is."""
    for router, prefix in [*((one, PREFIX) for one in (*ROUTERS, own)), (ingestion.orbit, "")]:
        for route in router.routes:
            assert isinstance(route, GatedRoute)
            for method in route.methods or ():
                yield method, prefix + route.path, terms_of(route.endpoint).act


def filled(path: str) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name in SAMPLES:
            return SAMPLES[name]
        return "1" if name in ("page_id", "snapshot_id", "proxy_id") else str(uuid4())

    return re.sub(r"\{(\w+)\}", value, path)


def test_the_routes_are_those_of_the_document(app: FastAPI) -> None:
    shown = {
        (method.upper(), path, operation["x-messor-act"])
        for path, operations in app.openapi()["paths"].items()
        for method, operation in operations.items()
    }
    known = {(method, path, act.value if act else "public") for method, path, act in routes()}
    assert known - shown == {("GET", "/api/v1/openapi.json", "read")}
    assert shown <= known
    assert len(shown) > 70


def test_only_health_and_feeds_are_public() -> None:
    assert {(method, path) for method, path, act in routes() if act is None} == PUBLIC


def test_a_route_that_declares_nothing_cannot_be_made() -> None:
    router = APIRouter(route_class=GatedRoute)

    async def forgotten() -> None: ...

    with pytest.raises(TypeError, match="must declare its permission"):
        router.get("/forgotten")(forgotten)


async def test_strangers_are_refused_everywhere(anybody: httpx.AsyncClient) -> None:
    for method, path, act in routes():
        answer = await anybody.request(method, filled(path), json={})
        if act is None:
            assert answer.status_code == (404 if path == FEED else 200), path
        else:
            problem(answer, 401, "unauthenticated")
            assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("role", list(Role))
async def test_every_role_is_refused_what_it_does_not_include(as_role: AsRole, role: Role) -> None:
    client = await as_role(role)
    refused = 0
    for method, path, act in routes():
        if act is None or role in PERMISSIONS[act]:
            continue
        answer = await client.request(method, filled(path), json={})
        problem(answer, 403, "forbidden")
        refused += 1
    assert refused == 0 if role is Role.ADMIN else refused > 10


async def test_a_key_is_refused_what_its_scopes_leave_out(app: FastAPI, database: Database) -> None:
    key = await key_of(database, Role.ADMIN, [Act.READ])
    async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as client:
        for method, path, act in routes():
            if act in (None, Act.READ):
                continue
            assert act is not None
            answer = await client.request(method, filled(path), json={})
            problem(answer, 403, "forbidden")
        assert (await client.get("/api/v1/domains")).status_code == 200


async def test_no_key_manages_people(app: FastAPI, database: Database) -> None:
    key = await key_of(database, Role.ADMIN)
    async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as client:
        for method, path, act in routes():
            if act in NEVER_BY_KEY:
                problem(await client.request(method, filled(path), json={}), 403, "forbidden")


async def test_changes_by_cookie_need_the_token_of_a_page(app: FastAPI, database: Database) -> None:
    mine = await session_of(database, Role.ADMIN)
    other = await session_of(database, Role.ADMIN)
    for token in (None, "nonsense", csrf_token(other)):
        headers = {"X-CSRF-Token": token} if token else {}
        async with client_of(app, cookies={SESSION_COOKIE: mine}, headers=headers) as client:
            for method, path, act in routes():
                if method != "GET" and act is not None:
                    answer = await client.request(method, filled(path), json={})
                    problem(answer, 403, "forged_request")
            assert (await client.get("/api/v1/session")).status_code == 200


async def test_the_token_comes_with_the_session(app: FastAPI, database: Database) -> None:
    mine = await session_of(database, Role.REVIEWER)
    async with client_of(app, cookies={SESSION_COOKIE: mine}) as client:
        me = (await client.get("/api/v1/session")).json()
        assert me["role"] == "reviewer"
        assert "domains.review" in me["acts"]
        headers = {"X-CSRF-Token": me["csrf_token"]}
        answer = await client.post("/api/v1/domains", json={"domain": "a.org"}, headers=headers)
        assert answer.status_code == 201
        assert (await client.delete("/api/v1/session", headers=headers)).status_code == 204
        problem(await client.get("/api/v1/session"), 401, "session_ended")


async def test_a_bad_key_is_not_made_up_for_by_a_cookie(app: FastAPI, database: Database) -> None:
    cookies = {SESSION_COOKIE: await session_of(database, Role.ADMIN)}
    for shown in ("Bearer messor_000000000000_" + "x" * 43, "Bearer x", "Basic YTpi", "Bearer"):
        async with client_of(app, cookies=cookies, headers={"Authorization": shown}) as client:
            problem(await client.get("/api/v1/domains"), 401, "bad_key")


async def test_over_https_the_cookie_has_its_prefix(app: FastAPI, database: Database) -> None:
    token = await session_of(database, Role.VIEWER)
    for name, status in ((SESSION_COOKIE, 401), (f"__Host-{SESSION_COOKIE}", 200)):
        async with client_of(app, headers={"Cookie": f"{name}={token}"}) as client:
            answer = await client.get("https://messor.example/api/v1/session")
            assert answer.status_code == status


async def test_limits_are_told_and_kept(settings: Settings, database: Database) -> None:
    few = ApiLimits(known=Limit(3, timedelta(hours=1)), unknown=Limit(2, timedelta(hours=1)))
    app = make_api(settings, database, limits=few)
    key = await key_of(database, Role.VIEWER)
    async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as client:
        left = []
        for _ in range(3):
            answer = await client.get("/api/v1/domains")
            assert answer.status_code == 200
            assert answer.headers["ratelimit-limit"] == "3"
            left.append(int(answer.headers["ratelimit-remaining"]))
        assert left == [2, 1, 0]
        answer = await client.get("/api/v1/domains")
        problem(answer, 429, "throttled")
        assert int(answer.headers["retry-after"]) > 0
        assert answer.headers["ratelimit-remaining"] == "0"
    async with client_of(app) as stranger:
        codes = [(await stranger.get("/api/v1/domains")).status_code for _ in range(4)]
        assert codes == [401, 401, 429, 429]
        assert (await stranger.get("/api/v1/health/live")).status_code == 200


async def test_what_belongs_to_somebody_else_is_not_there(
    as_role: AsRole, admin: httpx.AsyncClient
) -> None:
    made: dict[str, Any] = (
        await admin.post("/api/v1/keys", json={"name": "mine", "scopes": ["read"]})
    ).json()
    viewer = await as_role(Role.VIEWER)
    owner = made["key"]["member_id"]
    problem(await viewer.get(f"/api/v1/keys/{made['key']['id']}"), 404, "not_found")
    problem(await viewer.delete(f"/api/v1/keys/{made['key']['id']}"), 404, "not_found")
    problem(await viewer.get(f"/api/v1/members/{owner}/sessions"), 404, "not_found")
    problem(await viewer.delete(f"/api/v1/members/{owner}/sessions"), 404, "not_found")
    given = {"name": "theirs", "scopes": ["read"], "member_id": owner}
    problem(await viewer.post("/api/v1/keys", json=given), 404, "not_found")
    problem(await viewer.get("/api/v1/keys", params={"everybody": True}), 403, "forbidden")
