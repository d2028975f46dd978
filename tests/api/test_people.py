"""Members, sessions, keys and proxies over the API; secrets are shown once and never again."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import AsRole, client_of, problem
from tests.held_lanes import BILL, make_domain

V = "/api/v1"


async def test_members_come_change_and_go(admin: httpx.AsyncClient, app: FastAPI) -> None:
    given = {"email": "Ada@Example.org", "name": "Ada", "role": "reviewer"}
    made = await admin.post(f"{V}/members", json=given)
    assert made.status_code == 201
    ada = made.json()
    assert ada["email"] == "ada@example.org"
    path = made.headers["location"]
    assert (await admin.get(path)).json() == ada
    problem(await admin.post(f"{V}/members", json=given), 409, "conflict")
    link = (await admin.post(f"{path}/links")).json()
    assert link["path"].startswith("/link/")
    changed = await admin.patch(path, json={"role": "viewer"})
    assert changed.json()["role"] == "viewer"
    assert (await admin.patch(path, json={"disabled": True})).json()["disabled_at"]
    problem(await admin.post(f"{path}/links"), 409, "conflict")
    assert (await admin.patch(path, json={"disabled": False})).json()["disabled_at"] is None
    problem(await admin.patch(path, json={}), 422, "usage")
    problem(await admin.patch(path, json={"role": "owner"}), 422, "invalid")
    problem(await admin.patch(path, json={"password_hash": "x"}), 422, "invalid")
    emails = {member["email"] for member in (await admin.get(f"{V}/members")).json()["items"]}
    assert emails == {"admin@example.org", "ada@example.org"}


async def test_the_last_admin_stays(admin: httpx.AsyncClient) -> None:
    me = (await admin.get(f"{V}/session")).json()["member_id"]
    problem(await admin.patch(f"{V}/members/{me}", json={"disabled": True}), 409, "conflict")
    problem(await admin.patch(f"{V}/members/{me}", json={"role": "viewer"}), 409, "conflict")


async def test_a_key_is_shown_once_works_and_ends(
    app: FastAPI, as_role: AsRole, database: Database
) -> None:
    reviewer = await as_role(Role.REVIEWER)
    given = {"name": "ci", "scopes": ["read", "domains.submit"], "days": 7}
    made = (await reviewer.post(f"{V}/keys", json=given)).json()
    shown = (await reviewer.get(f"{V}/keys")).json()["items"]
    assert [key["id"] for key in shown] == [made["key"]["id"]]
    assert made["secret"] not in str(shown)
    async with client_of(app, headers={"Authorization": f"Bearer {made['secret']}"}) as client:
        me = (await client.get(f"{V}/session")).json()
        assert me["by_key"] is True
        assert me["csrf_token"] is None
        assert me["acts"] == ["domains.submit", "read"]
        assert (await client.post(f"{V}/domains", json={"domain": "a.org"})).status_code == 201
        ended = await reviewer.delete(f"{V}/keys/{made['key']['id']}")
        assert ended.json()["is_good"] is False
        problem(await client.get(f"{V}/session"), 401, "bad_key")
    beyond = {"name": "too much", "scopes": ["data.erase"]}
    problem(await reviewer.post(f"{V}/keys", json=beyond), 422, "usage")
    never = {"name": "too much", "scopes": ["members.manage"]}
    problem(await reviewer.post(f"{V}/keys", json=never), 422, "usage")


async def test_the_policy_of_a_key(as_role: AsRole, database: Database) -> None:
    reviewer, submitter = await as_role(Role.REVIEWER), await as_role(Role.SUBMITTER)
    made = (await reviewer.post(f"{V}/keys", json={"name": "agent", "scopes": ["read"]})).json()
    path = f"{V}/keys/{made['key']['id']}/policy"
    problem(await reviewer.get(path), 404, "not_found")
    given = {"domains": ["https://www.example.org/x", "example.net"], "pages_a_day": 20}
    policy = (await reviewer.put(path, json=given)).json()
    assert policy["domains"] == ["example.net", "example.org"]
    assert (policy["max_depth"], policy["pages_a_day"]) == (2, 20)
    assert (await reviewer.get(path)).json() == policy
    assert (await reviewer.put(path, json={"domains": ["any"]})).json()["domains"] == ["*"]
    bad: tuple[dict[str, Any], ...] = (
        {"domains": []},
        {"domains": ["::"]},
        {"domains": ["a.org"], "max_depth": 101},
    )
    for wrong in bad:
        assert (await reviewer.put(path, json=wrong)).status_code == 422
    assert (await reviewer.delete(path)).status_code == 204
    problem(await reviewer.get(path), 404, "not_found")

    own = (await submitter.post(f"{V}/keys", json={"name": "own", "scopes": ["read"]})).json()
    refused = await submitter.put(f"{V}/keys/{own['key']['id']}/policy", json=given)
    problem(refused, 403, "forbidden")
    problem(await submitter.get(path), 404, "not_found")
    types = await database.fetch("SELECT type FROM messor.events WHERE type LIKE 'key.policy%'")
    assert [row["type"] for row in types] == ["key.policy_set"] * 2 + ["key.policy_dropped"]


async def test_sessions_are_seen_and_ended(admin: httpx.AsyncClient, as_role: AsRole) -> None:
    viewer = await as_role(Role.VIEWER)
    other = await as_role(Role.VIEWER)
    me = (await viewer.get(f"{V}/session")).json()["member_id"]
    path = f"{V}/members/{me}/sessions"
    assert len((await viewer.get(path)).json()["items"]) == 2
    assert (await viewer.delete(path)).json() == {"sessions": 1}
    problem(await other.get(f"{V}/session"), 401, "session_ended")
    (left,) = (await admin.get(path)).json()["items"]
    assert (await admin.delete(f"{path}/{left['id']}")).status_code == 204
    problem(await viewer.get(f"{V}/session"), 401, "session_ended")
    problem(await admin.delete(f"{path}/{left['id']}"), 404, "not_found")


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "127.0.0.1", "10.0.0.7", "[::1]", "[fd00:ec2::254]", "localhost"],
)
async def test_a_proxy_cannot_be_put_at_an_internal_address(
    admin: httpx.AsyncClient, host: str
) -> None:
    refused = await admin.post(f"{V}/proxies", json={"url": f"http://{host}:3128"})
    problem(refused, 422, "usage")
    assert "address is not allowed" in refused.text
    assert (await admin.get(f"{V}/proxies")).json()["items"] == []


async def test_proxies_have_a_bill(admin: httpx.AsyncClient, database: Database) -> None:
    domain = await make_domain(database, "shop.test")
    made = await admin.post(f"{V}/proxies", json={"url": "http://p.example:1"})
    await database.fetch(BILL, domain, made.json()["id"])
    [found] = (await admin.get(f"{V}/proxies/costs")).json()["items"]
    day = found.pop("day")
    assert found == {
        "domain": "shop.test", "proxy_id": made.json()["id"], "proxy": "http://p.example:1",
        "requests": 3, "cost": "0.75",
    }  # fmt: skip
    assert len(day) == len("2026-01-01")
    other = await admin.get(f"{V}/proxies/costs", params={"domain": "other.test"})
    assert other.json()["items"] == []
    assert (await admin.get(f"{V}/proxies/costs", params={"days": 0})).status_code == 422


async def test_proxies_hide_their_passwords(admin: httpx.AsyncClient, database: Database) -> None:
    given = {
        "url": "socks5://user@proxy.example:1080",
        "password": "hunter22",
        "cost_per_request": 0.5,
    }
    made = await admin.post(f"{V}/proxies", json=given)
    assert made.status_code == 201, made.text
    assert "hunter22" not in made.text
    assert made.json()["proxy_password"] == "***"
    path = made.headers["location"]
    assert not await database.fetchval("SELECT trusted FROM messor.proxies")
    problem(await admin.post(f"{V}/proxies", json=given), 409, "conflict")
    off = await admin.patch(path, json={"is_active": False})
    assert off.json()["is_active"] is False
    assert (await admin.get(path)).json()["cost_per_request"] == 0.5
    assert len((await admin.get(f"{V}/proxies")).json()["items"]) == 1
    assert (await admin.delete(path)).status_code == 204
    problem(await admin.get(path), 404, "not_found")
    problem(await admin.post(f"{V}/proxies", json={"url": "gopher://x:1"}), 422, "usage")
