"""Webhooks of crawls and batches: what is told, how it is signed, and what is retried."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.access import keys
from messor.access.principal import LOCAL_ADMIN
from messor.fetch.proxies.seal import seal_for
from messor.governance import erasure
from messor.jobs import runner as job_runner
from messor.jobs.handlers import Handlers
from messor.jobs.outcomes import Backoff
from messor.ops.webhooks import scrape_jobs
from messor.scrape import hooks
from messor.settings import Settings
from messor.store.database import Database
from tests.api.firecrawl.conftest import Door, opened, rooms
from tests.crawling import PATIENCE
from tests.receiver import FAST, Receiver, receiving


@asynccontextmanager
async def telling(settings: Settings, database: Database) -> AsyncIterator[None]:
    handlers = Handlers()
    scrape_jobs.register(handlers, settings, database)
    made = job_runner.Runner(database, handlers, "hooks", FAST)
    task = asyncio.create_task(made.run())
    try:
        yield
    finally:
        made.stop()
        await asyncio.wait_for(task, PATIENCE)


@pytest.fixture
async def told(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Door, Receiver]]:
    monkeypatch.setattr(scrape_jobs, "RETRIES", Backoff(steps=(0.0, 0.0, 0.0)))
    async with (
        receiving() as receiver,
        opened(database, tmp_path, {"one.test": rooms()}, told=receiver.url) as door,
        telling(door.settings, database),
    ):
        yield door, receiver


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - the receiver has no event
            await asyncio.sleep(0.02)


def bodies(receiver: Receiver, name: str) -> list[dict[str, Any]]:
    found = [msgspec.json.decode(body) for _, body in receiver.got]
    return [body for body in found if body["type"] == name]


async def secret_of(door: Door) -> str:
    prefix = door.key.split("_")[1]
    async with door.database.transaction() as connection:
        key = await keys.get(connection, prefix, by=LOCAL_ADMIN)
        return await hooks.secret_of(connection, seal_for(door.settings), key.id)


async def test_a_crawl_is_told_from_start_to_end(told: tuple[Door, Receiver]) -> None:
    door, receiver = told
    start = await door.post(
        "/v2/crawl", url="http://one.test/docs/one", limit=5,
        webhook={"url": receiver.url, "metadata": {"ours": "7"}, "headers": {"X-Token": "abc"}},
    )  # fmt: skip
    assert start.status_code == 200, start.text
    await until(lambda: "crawl.completed" in receiver.types and len(receiver.got) == 4)
    assert sorted(receiver.types) == [
        "crawl.completed",
        "crawl.page",
        "crawl.page",
        "crawl.started",
    ]
    pages = bodies(receiver, "crawl.page")
    assert {page["data"][0]["metadata"]["url"] for page in pages} == {
        "http://one.test/docs/one", "http://one.test/docs/two"
    }  # fmt: skip
    assert pages[0]["data"][0]["markdown"].startswith("# Docs")
    for page in pages:
        assert (page["id"], page["metadata"]) == (start.json()["id"], {"ours": "7"})
        assert page["success"] is True
        assert page["webhookId"]
    secret = await secret_of(door)
    for headers, body in receiver.got:
        expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
        assert headers["x-firecrawl-signature"] == f"sha256={expected}"
        assert headers["x-token"] == "abc"
        assert headers["content-type"] == "application/json"


async def test_refused_pages_are_told_with_their_code(told: tuple[Door, Receiver]) -> None:
    door, receiver = told
    await door.post(
        "/v2/batch/scrape", urls=["http://one.test/private/x", "http://one.test/a"],
        webhook={"url": receiver.url, "events": ["page"]},
    )  # fmt: skip
    await until(lambda: len(receiver.got) == 2)
    by_success = {page["success"]: page for page in bodies(receiver, "batch_scrape.page")}
    assert by_success[False]["error"].startswith("PAGE_REFUSED: ")
    assert by_success[False]["data"] == []
    assert by_success[True]["data"][0]["metadata"]["title"] == "Page A"


async def test_a_crawl_that_waits_for_approval_is_told(told: tuple[Door, Receiver]) -> None:
    door, receiver = told
    await door.post("/v2/crawl", url="https://example.com/", webhook=receiver.url)
    await until(lambda: len(receiver.got) == 3)
    assert set(receiver.types) == {"crawl.started", "crawl.page", "crawl.completed"}
    assert "APPROVAL_NEEDED" in bodies(receiver, "crawl.page")[0]["error"]


async def test_a_cancelled_job_is_told_as_failed(database: Database, tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        opened(database, tmp_path, {"one.test": rooms()}, keeps=False, told=receiver.url) as door,
    ):
        start = await door.post("/v2/crawl", url="http://one.test/", webhook=receiver.url)
        gone = await door.client.delete(
            start.json()["url"], headers={"Authorization": f"Bearer {door.key}"}
        )
        assert gone.status_code == 200, gone.text
        status = (await door.get(start.json()["url"])).json()
        assert (status["status"], status["error"][:16]) == ("failed", "It was cancelled")
        async with telling(door.settings, database):
            await until(lambda: "crawl.failed" in receiver.types)
        assert bodies(receiver, "crawl.failed")[0]["error"] == "The job was cancelled."


async def test_what_is_refused_is_sent_again_and_then_given_up(
    told: tuple[Door, Receiver],
) -> None:
    door, receiver = told
    receiver.answers = [500, 302, 429]
    await door.post("/v2/batch/scrape", urls=["http://one.test/a"],
                    webhook={"url": receiver.url, "events": ["completed"]})  # fmt: skip
    await until(lambda: len(receiver.got) == 4)
    assert len({msgspec.json.decode(body)["webhookId"] for _, body in receiver.got}) == 1
    receiver.answers = [500] * 4
    await door.post("/v2/batch/scrape", urls=["http://one.test/a"],
                    webhook={"url": receiver.url, "events": ["completed"]})  # fmt: skip

    async def is_dead() -> bool:
        count = await door.database.fetchval(
            "SELECT count(*) FROM messor.jobs WHERE job_type = 'scrape_webhook' AND state = 'dead'"
        )
        return bool(count == 1)

    async with asyncio.timeout(PATIENCE):
        while not await is_dead():  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.05)
    assert len(receiver.got) == 8


async def test_an_erased_page_is_not_sent(database: Database, tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        opened(database, tmp_path, {"one.test": rooms()}, told=receiver.url) as door,
    ):
        await door.post("/v2/scrape", url="http://one.test/a")
        await door.post("/v2/batch/scrape", urls=["http://one.test/a"],
                        webhook={"url": receiver.url, "events": ["page", "completed"]})  # fmt: skip

        async def waiting() -> int:
            found: int = await database.fetchval(
                "SELECT count(*) FROM messor.jobs WHERE job_type = 'scrape_webhook'"
            )
            return found

        async with asyncio.timeout(PATIENCE):
            while await waiting() < 3:  # noqa: ASYNC110 - a database has no event
                await asyncio.sleep(0.05)
        async with database.transaction() as connection:
            await erasure.erase_url(connection, "http://one.test/a", reason="asked", actor="tester")
        async with telling(door.settings, database):
            await until(lambda: len(receiver.got) == 2)
        assert all(b"It tells at length" not in body for _, body in receiver.got)


async def test_addresses_that_nothing_is_sent_to(database: Database, tmp_path: Path) -> None:
    async with opened(database, tmp_path, {"one.test": rooms()}) as door:
        for url in (
            "http://169.254.169.254/latest",
            "https://10.0.0.1/hook",
            "http://example.org/",
        ):
            refused = await door.post("/v2/crawl", url="http://one.test/", webhook={"url": url})
            assert (refused.status_code, refused.json()["code"]) == (403, "OPTION_REFUSED"), url
        for wrong in (
            {"events": ["everything"]}, {"headers": {"Host": "x"}}, {"headers": {"A": "b\nc"}},
        ):  # fmt: skip
            told = {"url": "https://example.org/hook", **wrong}
            refused = await door.post("/v2/crawl", url="http://one.test/", webhook=told)
            assert refused.status_code == 400, wrong
        assert await database.fetchval("SELECT count(*) FROM messor.scrape_jobs") == 0


async def test_a_revoked_key_tells_nothing(database: Database, tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        opened(database, tmp_path, {"one.test": rooms()}, keeps=False, told=receiver.url) as door,
    ):
        await door.post("/v2/crawl", url="http://one.test/", webhook=receiver.url)
        await database.fetch(
            "UPDATE messor.api_keys SET revoked_at = messor.clock(), revoked_by = 'ada'"
        )
        async with telling(door.settings, database), asyncio.timeout(PATIENCE):
            while await database.fetchval(  # noqa: ASYNC110 - a database has no event
                "SELECT EXISTS (SELECT FROM messor.jobs WHERE state = 'queued')"
            ):
                await asyncio.sleep(0.05)
        assert receiver.got == []
