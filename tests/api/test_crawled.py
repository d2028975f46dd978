"""What a real crawl leaves, read over the API: pages, snapshots, fetches, tasks, rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from fastapi import FastAPI

from messor.access.csrf import csrf_token
from messor.access.roles import Role
from messor.api.app import SESSION_COOKIE
from messor.frontier.task_queries import TaskStatus
from messor.governance import intake
from messor.store import revisions
from messor.store.database import Database
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.api.conftest import api_over, client_of, problem, session_of
from tests.crawling import admit, crawl
from tests.little_web import LittleWeb, page, robots

V = "/api/v1"
EVIL = (
    "<html><head><title>Evil</title></head><body><p>{}</p><script>alert(1)</script></body></html>"
)


def evil(text: str) -> SimResponse:
    return SimResponse(200, (("Content-Type", HTML),), EVIL.format(text).encode())


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[LittleWeb]:
    rooms = {
        "/": page("Home", "/about", "/evil", "/private/x"),
        "/about": page("About us"),
        "/evil": evil("first words of the page"),
        "/robots.txt": robots("User-agent: *\nDisallow: /private/\nCrawl-delay: 0\n"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as made:
        yield made


@pytest.fixture
async def crawled(web: LittleWeb, database: Database) -> FastAPI:
    """The API after a crawl."""
    settings = web.settings()
    await admit(database, "http://one.test/")
    await crawl(settings, database)
    return api_over(settings, database)


@pytest.fixture
async def reader(crawled: FastAPI, database: Database) -> AsyncIterator[httpx.AsyncClient]:
    token = await session_of(database, Role.ADMIN)
    headers = {"X-CSRF-Token": csrf_token(token)}
    async with client_of(crawled, cookies={SESSION_COOKIE: token}, headers=headers) as client:
        yield client


async def page_at(client: httpx.AsyncClient, path: str) -> dict[str, Any]:
    items = (await client.get(f"{V}/pages", params={"q": path})).json()["items"]
    return next(item for item in items if item["url"] == f"http://one.test{path}")


async def test_pages_are_listed_filtered_and_shown(reader: httpx.AsyncClient) -> None:
    found = (await reader.get(f"{V}/pages", params={"domain": "one.test", "kind": "page"})).json()
    urls = [item["url"] for item in found["items"]]
    assert urls[0] == "http://one.test/"
    assert "http://one.test/evil" in urls
    good = await reader.get(f"{V}/pages", params={"outcome": "ok", "kind": "page", "limit": 2})
    assert len(good.json()["items"]) == 2
    rest = await reader.get(
        f"{V}/pages",
        params={"outcome": "ok", "kind": "page", "limit": 2, "cursor": good.json()["next"]},
    )
    titles = [item["title"] for item in good.json()["items"] + rest.json()["items"]]
    assert sorted(titles) == ["About us", "Evil", "Home"]
    about = await page_at(reader, "/about")
    shown = (await reader.get(f"{V}/pages/{about['id']}")).json()
    assert (shown["title"], shown["outcome"], shown["last_http_status"]) == ("About us", "ok", 200)
    problem(await reader.get(f"{V}/pages/999999"), 404, "not_found")


async def test_a_snapshot_is_text_or_a_download_that_cannot_run(reader: httpx.AsyncClient) -> None:
    found = await page_at(reader, "/evil")
    listed = (await reader.get(f"{V}/pages/{found['id']}/snapshots")).json()["items"]
    (one,) = listed
    assert one["id"] == found["snapshot_id"]
    assert (await reader.get(f"{V}/snapshots/{one['id']}")).json() == one
    text = await reader.get(f"{V}/snapshots/{one['id']}/markdown")
    assert text.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "first words of the page" in text.text
    raw = await reader.get(f"{V}/snapshots/{one['id']}/html")
    assert raw.content == EVIL.format("first words of the page").encode()
    assert raw.headers["content-disposition"] == (
        f'attachment; filename="snapshot-{one["id"]}.html"'
    )
    assert raw.headers["content-type"] == "application/octet-stream"
    assert raw.headers["content-security-policy"].startswith("sandbox;")
    assert raw.headers["x-content-type-options"] == "nosniff"
    again = await reader.get(
        f"{V}/snapshots/{one['id']}/html", headers={"If-None-Match": raw.headers["etag"]}
    )
    assert again.status_code == 304
    for what in ("", "/markdown", "/html"):
        problem(await reader.get(f"{V}/snapshots/999999{what}"), 404, "not_found")


async def test_two_snapshots_are_compared(
    reader: httpx.AsyncClient, web: LittleWeb, database: Database
) -> None:
    web.houses["one.test"].rooms["/evil"] = evil("other words stand here now")
    async with database.transaction() as connection:
        await intake.rescrape(connection, "one.test", actor="tester")
    await crawl(web.settings(), database)
    found = await page_at(reader, "/evil")
    newer, older = (await reader.get(f"{V}/pages/{found['id']}/snapshots")).json()["items"]
    path = f"{V}/snapshots/{older['id']}/diff"
    diff = (await reader.get(path, params={"to": newer["id"]})).json()
    assert (diff["added"], diff["removed"], diff["is_cut"]) == (1, 1, False)
    assert "-first words of the page" in diff["diff"]
    assert "+other words stand here now" in diff["diff"]
    other = await page_at(reader, "/about")
    mixed = await reader.get(path, params={"to": other["snapshot_id"]})
    problem(mixed, 422, "usage")
    problem(await reader.get(path), 422, "invalid")


async def test_bytes_that_lie_elsewhere_are_said_to(
    reader: httpx.AsyncClient, web: LittleWeb
) -> None:
    found = await page_at(reader, "/about")
    for segment in web.settings().data_dir.rglob("*.warc.gz"):
        segment.rename(segment.with_suffix(".gone"))
    answer = await reader.get(f"{V}/snapshots/{found['snapshot_id']}/html")
    body = problem(answer, 503, "unavailable")
    assert str(web.settings().data_dir) not in body["detail"]


async def test_fetches_by_page_url_and_domain(reader: httpx.AsyncClient) -> None:
    about = await page_at(reader, "/about")
    by_page = (await reader.get(f"{V}/fetches", params={"page_id": about["id"]})).json()["items"]
    by_url = (await reader.get(f"{V}/fetches", params={"url": about["url"]})).json()["items"]
    assert by_page == by_url
    assert by_page[0]["outcome"] == "ok"
    assert by_page[0]["rule"]
    seen: list[int] = []
    params: dict[str, Any] = {"domain": "one.test", "limit": 2}
    while True:
        body = (await reader.get(f"{V}/fetches", params=params)).json()
        seen += [item["id"] for item in body["items"]]
        if body["next"] is None:
            break
        params["cursor"] = body["next"]
    whole = (await reader.get(f"{V}/fetches", params={"domain": "one.test"})).json()["items"]
    assert seen == [item["id"] for item in whole]
    assert len(seen) == len(set(seen)) >= 4
    problem(await reader.get(f"{V}/fetches"), 422, "usage")
    problem(await reader.get(f"{V}/fetches", params={"url": "nope.test/x"}), 404, "not_found")


async def test_why_and_robots(reader: httpx.AsyncClient) -> None:
    why = (await reader.get(f"{V}/why", params={"url": "http://one.test/private/x"})).json()
    assert why["verdict"] == "denied"
    assert any(fact["step"] == "robots" and fact["says"] == "no" for fact in why["facts"])
    asked = {"url": "http://one.test/private/x"}
    found = (await reader.get(f"{V}/robots", params=asked)).json()
    assert found["allowed"] is False
    assert found["reason"] == "disallow_rule:/private/"
    assert set(found) == {"allowed", "reason", "matched_rule", "user_agent", "crawl_delay"}
    assert found["user_agent"] == "MessorBot"
    assert (await reader.get(f"{V}/robots", params={"url": "http://one.test/about"})).json()[
        "allowed"
    ]
    problem(await reader.get(f"{V}/robots", params={"url": "http://two.test/"}), 404, "not_found")
    given = {
        "robots_txt": "User-agent: AMI-Bot\nAllow: /\nCrawl-delay: 5\n",
        "url": "https://example.org/x",
        "user_agent": "AMI-Bot",
    }
    answer = await reader.post(f"{V}/robots", json=given)
    assert answer.json() == {
        "allowed": True,
        "reason": "allow_rule:/",
        "matched_rule": "/",
        "user_agent": "AMI-Bot",
        "crawl_delay": 5,
    }


async def test_tasks_are_paused_resumed_stopped_and_retried(reader: httpx.AsyncClient) -> None:
    about = await page_at(reader, "/about")
    path = f"{V}/tasks/{about['id']}"
    for act, status in (
        ("pause", "paused"),
        ("resume", "pending"),
        ("stop", "cancelled"),
        ("retry", "queued"),
    ):
        done = await reader.post(f"{path}/acts", json={"act": act})
        assert done.status_code == 200, done.text
        assert done.json()["tasks"] == 1
        assert (await reader.get(path)).json()["status"] == status
    problem(await reader.post(f"{path}/acts", json={"act": "resume"}), 409, "conflict")
    acts = f"{V}/tasks/acts"
    assert (await reader.post(acts, json={"act": "pause", "domain": "one.test"})).json()["tasks"]
    listed = (await reader.get(f"{V}/tasks", params={"status": "paused"})).json()["items"]
    assert {item["domain"] for item in listed} == {"one.test"}
    done = await reader.post(acts, json={"act": "resume", "domain": "one.test"})
    assert done.json()["scope"] == "domain"
    by_url = await reader.post(acts, json={"act": "recrawl", "url": about["url"]})
    assert by_url.json() == {"act": "recrawl", "scope": "url", "name": about["url"], "tasks": 1}
    problem(await reader.post(acts, json={"act": "pause"}), 422, "usage")
    both = {"act": "pause", "domain": "one.test", "everything": True}
    problem(await reader.post(acts, json=both), 422, "usage")


async def test_a_status_is_the_same_in_lists_and_by_itself(
    reader: httpx.AsyncClient, database: Database
) -> None:
    pages = [await page_at(reader, path) for path in ("/", "/about", "/evil")]
    for found, act in zip(pages, ("pause", "stop", "recrawl"), strict=True):
        await reader.post(f"{V}/tasks/{found['id']}/acts", json={"act": act})
    await database.fetch(
        "UPDATE messor.crawl_tasks SET status = 'failed', due_at = NULL WHERE kind = 'robots'"
    )
    for is_active in (True, False):
        await database.fetch("UPDATE messor.domains SET active = $1", is_active)
        rows = await database.fetch("SELECT page_id, status FROM messor.crawl_task_status")
        seen = set()
        for status in get_args(TaskStatus):
            params = {"status": status, "domain": "one.test", "limit": 200}
            listed = (await reader.get(f"{V}/tasks", params=params)).json()["items"]
            expected = {row["page_id"] for row in rows if row["status"] == status}
            assert {item["page_id"] for item in listed} == expected
            assert {item["status"] for item in listed} <= {status}
            seen |= {status} if expected else set()
        assert {"paused", "cancelled", "failed"} <= seen


async def test_batches_are_taken_line_by_line(reader: httpx.AsyncClient) -> None:
    given = {
        "name": "prices",
        "urls": [
            "http://one.test/a",
            {"url": "http://one.test/b", "priority": 2, "every": "12h"},
            "http://one.test/a",
            "not an address",
            "http://unknown.test/",
        ],
    }
    answer = await reader.post(f"{V}/batches", json=given)
    assert answer.status_code == 201
    report = answer.json()
    assert (report["lines"], report["accepted"], report["duplicates"], report["rejected"]) == (
        5,
        2,
        1,
        2,
    )
    assert [line["line"] for line in report["errors"]] == [3, 4, 5]
    path = f"{V}/batches/{report['id']}"
    assert answer.headers["location"] == path
    assert (await reader.get(path)).json()["accepted"] == 2
    first = (await reader.get(f"{path}/errors", params={"limit": 2})).json()
    rest = (await reader.get(f"{path}/errors", params={"cursor": first["next"]})).json()
    assert [line["line"] for line in first["items"] + rest["items"]] == [3, 4, 5]
    tasks = (await reader.get(f"{V}/tasks", params={"batch": report["id"]})).json()["items"]
    assert [(task["priority"], task["crawl_frequency"]) for task in tasks] == [
        (5, None),
        (2, "PT12H"),
    ]
    assert (await reader.post(f"{path}/acts", json={"act": "pause"})).json()["tasks"] == 2
    upload = await reader.post(
        f"{V}/batches/upload",
        params={"format": "csv", "name": "file"},
        content=b"url,priority\nhttp://one.test/c,1\n,\n",
        headers={"Content-Type": "application/octet-stream"},
    )
    assert upload.status_code == 201, upload.text
    assert upload.json()["accepted"] == 1
    names = [row["name"] for row in (await reader.get(f"{V}/batches")).json()["items"]]
    assert names == ["file", "prices"]
    problem(await reader.get(f"{V}/batches/{about_nothing()}"), 404, "not_found")
    bad = {"name": "x", "urls": ["http://one.test/"], "every": "often"}
    problem(await reader.post(f"{V}/batches", json=bad), 422, "usage")


def about_nothing() -> str:
    return "019a8a3e-5f2b-7c11-8d4e-0242ac120002"


async def test_vitals(reader: httpx.AsyncClient) -> None:
    assert (await reader.get(f"{V}/health")).json() == {
        "revision": revisions.newest(),
        "workers": 0,
        "domains_waiting": 0,
        "is_standing_still": False,
        "jobs": {},
        "alarms": [],
        "proxies_active": 0,
        "proxies_failing": 0,
        "search_indexes": [],
    }


async def test_alarms_are_vital_signs(reader: httpx.AsyncClient, database: Database) -> None:
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO messor.alarms (place, name, message) VALUES ('there:1', 'disk', 'It is full.')"
        )
    (alarm,) = (await reader.get(f"{V}/health")).json()["alarms"]
    assert (alarm["place"], alarm["name"], alarm["message"]) == ("there:1", "disk", "It is full.")
