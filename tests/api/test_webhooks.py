"""Webhooks with a real receiver: every event once, signed, through the guard, tried again."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from messor.access.csrf import csrf_token
from messor.access.roles import Role
from messor.api.app import SESSION_COOKIE
from messor.jobs.faults import JobError
from messor.ops.webhooks import deliver, dispatch
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import api_over, client_of, problem, session_of
from tests.receiver import Receiver, happen, receiving, settled, working

W = "/api/v1/webhooks"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
def settings(tmp_path: Path, receiver: Receiver) -> Settings:
    port = int(receiver.url.split(":")[2].partition("/")[0])
    opened = {"addresses": ["127.0.0.0/8"], "ports": [port]}
    return Settings.model_validate({"data_dir": tmp_path, "allowed_networks": opened})


@pytest.fixture
async def admin(settings: Settings, database: Database) -> AsyncIterator[httpx.AsyncClient]:
    app = api_over(settings, database)
    token = await session_of(database, Role.ADMIN)
    headers = {"X-CSRF-Token": csrf_token(token)}
    async with client_of(app, cookies={SESSION_COOKIE: token}, headers=headers) as client:
        yield client


async def add(client: httpx.AsyncClient, url: str, *types: str) -> dict[str, Any]:
    answer = await client.post(W, json={"url": url, "types": list(types)})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def test_every_event_arrives_once_and_signed(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    await happen(database, "domain.noted")
    made = await add(admin, receiver.url)
    assert made["secret"] not in (await admin.get(W)).text
    words = ("paused", "recrawled", "resumed", "retried", "stopped", "submitted")
    kinds = [f"tasks.{word}" for word in words]
    async with working(settings, database):
        await happen(database, *kinds)
        await settled(database, done=7)
    assert sorted(receiver.types) == sorted([*kinds, "webhook.added"])
    key = base64.b64decode(made["secret"].removeprefix("whsec_"))
    for headers, body in receiver.got:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        assert headers["webhook-signature"] == f"v1,{expected}"
        assert msgspec.json.decode(body)["id"] == headers["webhook-id"]
    shown = (await admin.get(f"{W}/{made['webhook']['id']}")).json()
    assert (shown["successes"], shown["failures"]) == (7, 0)


async def test_only_the_types_it_wants(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    await add(admin, receiver.url, "tasks.submitted")
    async with working(settings, database):
        await happen(database, "tasks.paused", "tasks.submitted")
        await settled(database, done=1)
    assert receiver.types == ["tasks.submitted"]


async def test_the_url_of_a_page_arrives_as_it_is(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    await add(admin, receiver.url, "url.submitted")
    page = "https://shop.example/item?key=123&session=winter"
    async with working(settings, database):
        answer = await admin.post("/api/v1/urls", json={"url": page, "submit": True})
        assert answer.is_success, answer.text
        await settled(database, done=1)
    assert msgspec.json.decode(receiver.got[0][1])["data"]["url"] == page


async def test_what_did_not_arrive_is_sent_again_under_the_same_id(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    made = await add(admin, receiver.url, "page.flagged")
    receiver.answers = [500, 302, 429]
    async with working(settings, database):
        await happen(database, "page.flagged")
        await settled(database, done=1)
    assert len(receiver.got) == 4  # nor was the redirect followed
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    shown = (await admin.get(f"{W}/{made['webhook']['id']}")).json()
    assert (shown["successes"], shown["failures"], shown["failure_count"]) == (1, 3, 0)


async def test_one_that_is_gone_is_switched_off(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    made = await add(admin, receiver.url, "page.flagged")
    path = f"{W}/{made['webhook']['id']}"
    receiver.answers = [410]
    async with working(settings, database):
        await happen(database, "page.flagged")
        await settled(database, dead=1)
        await happen(database, "page.flagged")
    assert len(receiver.got) == 1
    assert (await admin.get(path)).json()["is_active"] is False
    problem(await admin.post(f"{path}/ping"), 409, "conflict")
    assert (await admin.patch(path, json={"is_active": True})).json()["failure_count"] == 0
    assert await dispatch.dispatch(database) == 0  # what it missed is not told


async def test_a_ping_goes_to_one_alone(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    made = await add(admin, receiver.url, "tasks.stopped")
    path = f"{W}/{made['webhook']['id']}"
    assert (await admin.post(f"{path}/ping")).status_code == 202
    async with working(settings, database):
        await settled(database, done=1)
    assert receiver.types == ["webhook.ping"]
    assert (await admin.delete(path)).status_code == 204
    problem(await admin.get(path), 404, "not_found")


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "https://127.0.0.1/hook",
        "https://10.0.0.1/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/hook",
        "https://example.org:22/hook",
        "https://2130706433/",
        "https://user:password@example.org/",
        "ftp://example.org/",
        "javascript:alert(1)",
    ],
)
async def test_addresses_that_may_not_be_told_are_refused(
    tmp_path: Path, database: Database, url: str
) -> None:
    app = api_over(Settings(data_dir=tmp_path), database)
    token = await session_of(database, Role.ADMIN)
    headers = {"X-CSRF-Token": csrf_token(token)}
    async with client_of(app, cookies={SESSION_COOKIE: token}, headers=headers) as client:
        problem(await client.post(W, json={"url": url}), 422, "usage")


async def test_a_place_that_closed_meanwhile_is_not_reached(
    admin: httpx.AsyncClient, tmp_path: Path, database: Database, receiver: Receiver
) -> None:
    await add(admin, receiver.url, "page.flagged")
    await happen(database, "page.flagged")
    await dispatch.dispatch(database)
    row = await database.fetchrow("SELECT payload FROM messor.jobs WHERE job_type = 'webhook'")
    assert row is not None
    order = msgspec.convert(
        msgspec.json.decode(row["payload"]), deliver.DeliveryRequest, strict=False
    )
    strict = deliver.WebhookSender(Settings(data_dir=tmp_path), database)
    with pytest.raises(JobError, match="Events may not be sent to this URL"):
        await strict.deliver(order)
    assert receiver.got == []


async def test_deliveries_are_listed_and_sent_once_more(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    path = f"{W}/{(await add(admin, receiver.url, 'page.flagged'))['webhook']['id']}"
    receiver.answers = [500]
    async with working(settings, database):
        await happen(database, "page.flagged")
        await settled(database, done=1)
    [first] = (await admin.get(f"{path}/deliveries")).json()["items"]
    assert (first["state"], first["status"], first["attempts"]) == ("done", 200, 2)
    assert first["last_error"] == "It returned 500."
    again = await admin.post(f"{path}/deliveries/{first['id']}/redeliver")
    assert again.status_code == 202
    async with working(settings, database):
        await settled(database, done=2)
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert len((await admin.get(f"{path}/deliveries")).json()["items"]) == 2
    nobody = "00000000-0000-0000-0000-000000000007"
    problem(await admin.post(f"{path}/deliveries/{nobody}/redeliver"), 404, "not_found")
    await admin.patch(path, json={"is_active": False})
    problem(await admin.post(f"{path}/deliveries/{first['id']}/redeliver"), 409, "conflict")


async def test_what_was_given_up_goes_on_under_its_own_job(
    admin: httpx.AsyncClient, settings: Settings, database: Database, receiver: Receiver
) -> None:
    path = f"{W}/{(await add(admin, receiver.url, 'page.flagged'))['webhook']['id']}"
    receiver.answers = [410]
    async with working(settings, database):
        await happen(database, "page.flagged")
        await settled(database, dead=1)
        await admin.patch(path, json={"is_active": True})
        [dead] = (await admin.get(f"{path}/deliveries")).json()["items"]
        assert dead["last_error"] == "It returned 410."
        sent = await admin.post(f"{path}/deliveries/{dead['id']}/redeliver")
        assert sent.json()["job_id"] == dead["id"]
        await settled(database, done=1)
    assert len(receiver.got) == 2
