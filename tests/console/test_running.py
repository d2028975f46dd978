"""Tasks, batches and jobs in the console: seen, filtered, and acted upon."""

from __future__ import annotations

from datetime import timedelta
from io import BytesIO
from typing import Any
from uuid import UUID

import aiohttp
import pytest

from messor.access.roles import Role
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Enter, Visitor
from tests.crawling import admit

MOST_QUERIES = 12
LETTERS = (("timeout after 30 s at 10.0.0.1", 3), ("unknown currency", 2))


async def _dead(database: Database) -> list[UUID]:
    """Five jobs that died of two causes."""
    made = []
    number = 0
    for reason, count in LETTERS:
        for _ in range(count):
            number += 1
            async with database.transaction() as connection:
                new = [NewJob("export", f"export:{number}", "log", payload={"n": number})]
                await jobs.enqueue(connection, new)
            job_id = await database.fetchval(
                """UPDATE messor.jobs SET state = 'dead', attempts = 3, finished_at = messor.clock(),
                          dead_category = 'network', dead_type = 'TimeoutError', dead_reason = $2
                    WHERE dedupe_key = $1 RETURNING id""",
                f"export:{number}",
                reason,
            )
            made.append(job_id)
    return made


async def test_tasks_are_listed_filtered_and_paused_one_by_one(
    database: Database, reviewer: Visitor
) -> None:
    domain = await admit(database, "shop.example")
    await seeding.add_page(database, domain, "https://shop.example/a")
    await seeding.add_page(
        database, domain, "https://shop.example/b", outcome="error", error="it broke"
    )
    page = await reviewer.get("/tasks?domain=shop.example")
    assert page.status == 200
    assert "https://shop.example/a" in page.text
    assert "it broke" in page.text
    done = await reviewer.send(
        "/tasks", "/tasks", {"act": "pause", "scope": "url", "name": "https://shop.example/a"}
    )
    assert (done.status, done.place) == (303, "/tasks")
    assert "1 tasks paused" in (await reviewer.get("/tasks")).said
    paused = await reviewer.get("/tasks?status=paused")
    assert "https://shop.example/a" in paused.text
    assert "https://shop.example/b" not in paused.text


async def test_everything_is_paused_and_resumed(database: Database, reviewer: Visitor) -> None:
    await admit(database, "shop.example")
    await reviewer.send("/tasks", "/tasks", {"act": "pause", "scope": "all"})
    assert "Crawling is paused" in (await reviewer.get("/tasks")).said
    await reviewer.send("/tasks", "/tasks", {"act": "resume", "scope": "all"})
    assert await database.fetchval("SELECT count(*) FROM messor.standstill") == 0
    kinds = await database.fetch("SELECT type FROM messor.events WHERE type LIKE 'tasks.%'")
    assert [row["type"] for row in kinds] == ["tasks.paused", "tasks.resumed"]


@pytest.mark.parametrize(
    "form, status",
    [
        ({"act": "melt", "scope": "all"}, 422),
        ({"act": "pause", "scope": "planet"}, 422),
        ({"act": "pause", "scope": "url", "name": "https://nobody.example/"}, 404),
        ({"act": "pause", "scope": "batch", "name": "x"}, 422),
    ],
)
async def test_an_act_that_makes_no_sense_is_refused_in_a_sentence(
    reviewer: Visitor, form: dict[str, str], status: int
) -> None:
    assert (await reviewer.send("/tasks", "/tasks", form)).status == status


async def test_a_pasted_batch_reports_every_line_that_is_not_taken(
    database: Database, reviewer: Visitor
) -> None:
    await admit(database, "shop.example")
    lines = "https://shop.example/1\nhttps://shop.example/1\nhttps://other.example/\nnot a url<b>\n"
    done = await reviewer.send("/batches/new", "/batches/new", {"lines": lines, "name": "Prices"})
    assert done.status == 303
    page = await reviewer.get(done.place)
    assert "1 of 4 lines were accepted" in page.said
    assert "the same page as line 1" in page.said
    assert "other.example" in page.said
    assert "<b>" not in page.text.partition("Rejected lines")[2]
    assert "Prices" in (await reviewer.get("/batches")).said
    tasks = await reviewer.get(f"/tasks?batch={done.place.rpartition('/')[2]}")
    assert "https://shop.example/1" in tasks.text


async def test_a_file_is_taken_as_a_batch(database: Database, reviewer: Visitor) -> None:
    await admit(database, "shop.example")
    data = aiohttp.FormData()
    data.add_field("csrf", await reviewer.token("/batches/new"))
    data.add_field("file", b"url,priority\nhttps://shop.example/x,2\n", filename="list.csv")
    async with reviewer.session.post(
        f"{reviewer.base}/batches/new", data=data, allow_redirects=False
    ) as response:
        assert response.status == 303
        place = response.headers["Location"]
    assert "list.csv" in (await reviewer.get(place)).said
    assert (
        await database.fetchval(
            "SELECT priority FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id "
            "WHERE p.url = 'https://shop.example/x'"
        )
        == 2
    )


async def test_an_upload_without_the_token_or_too_large_is_refused(reviewer: Visitor) -> None:
    for body, status in ((b"https://shop.example/x", 403), (b"x" * 17_000_000, 413)):
        data = aiohttp.FormData()
        data.add_field("file", BytesIO(body), filename="list.txt")
        async with reviewer.session.post(
            f"{reviewer.base}/batches/new", data=data, allow_redirects=False
        ) as response:
            assert response.status == status


async def test_an_empty_batch_is_asked_for_again_with_what_was_typed(reviewer: Visitor) -> None:
    page = await reviewer.send("/batches/new", "/batches/new", {"name": "Kept", "priority": "77"})
    assert page.status == 422
    assert 'value="Kept"' in page.text


async def test_dead_letters_are_grouped_and_requeued_by_group(
    database: Database, admin: Visitor
) -> None:
    await _dead(database)
    page = await admin.get("/jobs/dead")
    assert page.text.index("timeout after") < page.text.index("unknown currency")
    pattern = await database.fetchval("SELECT messor.error_pattern($1)", LETTERS[0][0])
    form = {"act": "requeue", "which": "group", "type": "export", "category": "network"}
    done = await admin.send("/jobs/dead", "/jobs/dead", {**form, "pattern": pattern})
    assert done.status == 303
    assert "3 jobs were requeued" in (await admin.get("/jobs/dead")).said
    assert await database.fetchval("SELECT count(*) FROM messor.jobs WHERE state = 'dead'") == 2


async def test_ticked_letters_are_purged_and_none_ticked_changes_nothing(
    database: Database, admin: Visitor
) -> None:
    made = await _dead(database)
    await admin.send("/jobs/dead", "/jobs/dead", {"act": "purge"})
    assert await database.fetchval("SELECT count(*) FROM messor.jobs WHERE state = 'dead'") == 5
    ticked: list[tuple[str, Any]] = [("act", "purge"), ("id", str(made[0])), ("id", str(made[3]))]
    await admin.send("/jobs/dead", "/jobs/dead", ticked)
    assert await database.fetchval("SELECT count(*) FROM messor.jobs WHERE state = 'dead'") == 3
    assert (await admin.get(f"/jobs/{made[0]}")).status == 200  # it is in the history


async def test_a_job_is_shown_in_full_and_called_off(database: Database, admin: Visitor) -> None:
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [NewJob("export", "export:9", "log", payload={"<x>": 1})])
    job_id = await database.fetchval("SELECT id FROM messor.jobs")
    page = await admin.get(f"/jobs/{job_id}")
    assert "<x>" not in page.text
    assert (await admin.send("/jobs", f"/jobs/{job_id}/cancel")).status == 303
    assert await database.fetchval("SELECT state FROM messor.jobs") == "cancelled"
    assert (await admin.send("/jobs", f"/jobs/{job_id}/cancel")).status == 404
    for path in ("/jobs/nonsense", f"/jobs/{UUID(int=1)}", "/batches/x"):
        assert (await admin.get(path)).status == 404
    assert "Ignored: batch" in (await admin.get("/tasks?batch=x")).said


async def test_reviewers_do_not_requeue_and_viewers_do_not_pause(
    console: str, enter: Enter, reviewer: Visitor
) -> None:
    token = await reviewer.token("/tasks")
    answer = await reviewer.post("/jobs/dead", {"act": "purge", "which": "all"}, csrf=token)
    assert answer.status == 403
    viewer = await enter(console, Role.VIEWER)
    token = await viewer.token("/tasks")
    answer = await viewer.post("/tasks", {"act": "pause", "scope": "all"}, csrf=token)
    assert answer.status == 403
    assert "Submit a batch" not in (await viewer.get("/tasks")).said


async def test_no_page_of_the_second_wave_asks_too_often(
    database: Database, admin: Visitor
) -> None:
    await _dead(database)
    domain = await admit(database, "shop.example")
    page_id = await seeding.add_page(database, domain, "https://shop.example/a")
    await seeding.add_snapshot(database, page_id, "T", "# T", timedelta(hours=1))
    await admin.send("/batches/new", "/batches/new", {"lines": "https://shop.example/1"})
    batch = await database.fetchval("SELECT id FROM messor.task_batches")
    paths = (
        "/tasks", "/batches", f"/batches/{batch}", "/batches/new", "/jobs", "/jobs/dead", "/orbit",
        "/orbit/shop-example/import", "/admin/orbits/health", "/schedule", "/proxies", "/members",
        "/keys", "/account", "/audit", "/audit?kind=domain&domain=shop.example&q=a",
    )  # fmt: skip
    for path in paths:
        before = database.round_trips
        answer = await admin.get(path)
        assert answer.status == 200, (path, answer.said[:500])
        assert database.round_trips - before <= MOST_QUERIES, path
