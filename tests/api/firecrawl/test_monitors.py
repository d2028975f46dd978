"""Monitors: made, checked by hand and on schedule, changed, and told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.store.database import Database
from messor.watches import checks
from tests.api.firecrawl.conftest import TEXT, Door, article, opened, rooms
from tests.api.firecrawl.test_hooks import telling, until
from tests.crawling import PATIENCE
from tests.receiver import receiving

TARGET: dict[str, Any] = {
    "type": "scrape",
    "urls": ["http://one.test/a", "http://one.test/b", "http://one.test/c", "http://one.test/gone"],
}


async def made(door: Door, **given: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"name": "Prices", "schedule": {"text": "every 30 minutes"},
                            "targets": [TARGET], **given}  # fmt: skip
    answer = await door.post("/v2/monitor", **body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["data"]
    return found


async def ended(door: Door, path: str) -> dict[str, Any]:
    """A check once it has ended."""
    async with asyncio.timeout(PATIENCE):
        while True:
            await checks.advance(door.database)
            body = (await door.get(path)).json()
            if body["data"]["finishedAt"]:
                return {**body["data"], "next": body.get("next")}
            await asyncio.sleep(0.05)


def statuses(check: dict[str, Any]) -> dict[str, str]:
    return {page["url"].removeprefix("http://one.test"): page["status"] for page in check["pages"]}


async def test_what_became_of_each_page(door: Door) -> None:
    monitor = await made(door)
    path = f"/v2/monitor/{monitor['id']}"
    assert (monitor["status"], monitor["retentionDays"]) == ("active", 7)
    first = (await door.post(f"{path}/run")).json()["data"]
    assert (first["status"], first["trigger"]) == ("running", "manual")
    assert (await door.post(f"{path}/run")).status_code == 409
    check = await ended(door, f"{path}/checks/{first['id']}")
    assert statuses(check) == {"/a": "new", "/b": "new", "/c": "new", "/gone": "error"}
    assert check["summary"]["new"] == 3

    site = door.web.houses["one.test"].rooms
    site["/b"] = article("Page B", "Another text. " + TEXT)
    del site["/c"]
    second = (await door.post(f"{path}/run")).json()["data"]
    check = await ended(door, f"{path}/checks/{second['id']}")
    found = statuses(check)
    assert (found["/a"], found["/b"]) == ("same", "changed")
    assert found["/c"] in ("removed", "error")
    (changed,) = (page for page in check["pages"] if page["status"] == "changed")
    assert "Another text." in changed["diff"]["text"]
    assert changed["previousScrapeId"] != changed["currentScrapeId"]
    one = (await door.get(f"{path}/checks/{second['id']}?status=changed")).json()["data"]
    assert len(one["pages"]) == 1
    part = (await door.get(f"{path}/checks/{second['id']}?limit=3")).json()
    assert len((await door.get(part["next"])).json()["data"]["pages"]) == 1
    listed = (await door.get(f"{path}/checks")).json()["data"]
    assert [one["id"] for one in listed] == [second["id"], first["id"]]
    assert (await door.get(path)).json()["data"]["lastCheckSummary"]["changed"] == 1


async def test_a_check_starts_when_it_is_due(door: Door) -> None:
    monitor = await made(door, targets=[{"type": "crawl", "url": "http://one.test/docs/one",
                                         "crawlOptions": {"limit": 5}}])  # fmt: skip
    path = f"/v2/monitor/{monitor['id']}"
    assert not await checks.advance(door.database)
    await door.database.fetch("UPDATE messor.monitors SET next_at = messor.clock()")
    assert await checks.advance(door.database)
    assert not await checks._start_one(door.database), "it is due again in half an hour"
    (check,) = (await door.get(f"{path}/checks")).json()["data"]
    assert check["trigger"] == "scheduled"
    done = await ended(door, f"{path}/checks/{check['id']}")
    assert set(statuses(done)) == {"/docs/one", "/docs/two"}
    await door.database.fetch(
        "UPDATE messor.api_keys SET revoked_at = messor.clock(), revoked_by = 'x'"
    )
    await door.database.fetch("UPDATE messor.monitors SET next_at = messor.clock()")
    assert await checks.advance(door.database)
    assert await door.database.fetchval(
        "SELECT status FROM messor.monitor_checks ORDER BY started_at DESC LIMIT 1"
    ) == "failed"  # fmt: skip


async def test_changed_paused_and_removed(door: Door) -> None:
    monitor = await made(door, schedule={"cron": "0 9 * * *", "timezone": "Europe/Berlin"})
    headers = {"Authorization": f"Bearer {door.key}"}
    path = f"/v2/monitor/{monitor['id']}"
    answer = await door.client.patch(
        path, json={"status": "paused", "name": "Other"}, headers=headers
    )
    body = answer.json()["data"]
    assert (body["status"], body["name"], body["nextRunAt"]) == ("paused", "Other", None)
    assert body["targets"] == monitor["targets"]
    assert len((await door.get("/v2/monitor?limit=5")).json()["data"]) == 1
    assert (await door.client.delete(path, headers=headers)).json() == {"success": True}
    assert (await door.get(path)).status_code == 404


@pytest.mark.parametrize(
    "given, status",
    [
        ({"schedule": {"text": "whenever"}}, 400),
        ({"schedule": {"cron": "* * * * *"}}, 400),
        ({"schedule": {"cron": "0 9 * * *", "timezone": "Mars/Base"}}, 400),
        ({"targets": []}, 400),
        ({"targets": [{"type": "scrape", "urls": ["::"]}]}, 400),
        ({"targets": [{"type": "search", "queries": ["x"]}]}, 403),
        ({"notification": {"email": {"enabled": True, "recipients": ["a@b.c"]}}}, 403),
    ],
)
async def test_what_a_monitor_cannot_be(door: Door, given: dict[str, Any], status: int) -> None:
    body = {"name": "Prices", "schedule": {"text": "hourly"}, "targets": [TARGET], **given}
    refused = await door.post("/v2/monitor", **body)
    assert refused.status_code == status, refused.text
    assert refused.json()["error"]


async def test_the_monitor_of_somebody_else_is_unknown(door: Door) -> None:
    monitor = await made(door)
    assert (await door.get(f"/v2/monitor/{monitor['id']}", door.plain_key)).status_code == 404
    assert (await door.get("/v2/monitor", door.plain_key)).json()["data"] == []


async def test_a_check_is_told(database: Database, tmp_path: Path) -> None:
    async with (
        receiving() as receiver,
        opened(database, tmp_path, {"one.test": rooms()}, told=receiver.url) as door,
        telling(door.settings, database),
    ):
        monitor = await made(door, webhook={"url": receiver.url, "events": ["monitor.page",
                             "monitor.check.completed"]})  # fmt: skip
        path = f"/v2/monitor/{monitor['id']}"
        check = (await door.post(f"{path}/run")).json()["data"]
        await ended(door, f"{path}/checks/{check['id']}")
        await until(lambda: len(receiver.got) == 5)
        assert sorted(receiver.types) == ["monitor.check.completed", *["monitor.page"] * 4]
        bodies = [msgspec.json.decode(body) for _, body in receiver.got]
        (end,) = (body for body in bodies if body["type"] == "monitor.check.completed")
        assert end["data"][0]["summary"]["new"] == 3
        assert end["id"] == monitor["id"]
