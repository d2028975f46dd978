"""Control: what people may do to tasks, and what it does to their lanes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.frontier import control, tasks, transitions
from messor.frontier.control import ControlResult, Scope
from messor.frontier.transitions import ACTS, STORED, TRANSITIONS, sources
from messor.politeness.lease import WorkerLease
from messor.registry import domains
from messor.registry.domains import Submission
from messor.store.database import Database
from messor.web.urls import parse
from tests.held_lanes import claim, give_back, lane_row, lease, make_domain, make_lanes


async def act(database: Database, name: str, scope: Scope) -> ControlResult:
    return await control.act(database, name, scope, actor="tester")


async def page(database: Database, host_id: int, path: str, status: str = "pending") -> int:
    url = parse(f"http://h1.example.test{path}")
    assert url is not None
    async with database.transaction() as connection:
        page_id = await tasks.add(connection, host_id, url, found_by="manual")
        await connection.execute(
            """UPDATE messor.crawl_tasks SET status = $2, due_at = CASE
                 WHEN $2 IN ('paused', 'cancelled') THEN NULL
                 ELSE messor.clock() + interval '1 hour' END WHERE page_id = $1""",
            page_id,
            status,
        )
    return page_id


async def task(database: Database, page_id: int) -> dict[str, Any]:
    row = await database.fetchrow("SELECT * FROM messor.crawl_tasks WHERE page_id = $1", page_id)
    assert row is not None
    return dict(row)


async def shown(database: Database, page_id: int) -> str:
    status: str = await database.fetchval(
        "SELECT status FROM messor.crawl_task_status WHERE page_id = $1", page_id
    )
    return status


async def closed(database: Database, holder: WorkerLease, number: int = 1) -> list[int]:
    async with database.transaction() as connection:
        return (await holder.renew(connection, number)).closed


async def make_batch(database: Database, *page_ids: int) -> Scope:
    batch_id = new_id()
    await database.fetch(
        "INSERT INTO messor.task_batches (id, name, submitted_by, source, format)"
        " VALUES ($1, 'b', 't', 's', 'lines')",
        batch_id,
    )
    await database.fetch(
        "INSERT INTO messor.batch_pages SELECT $1, p, 1 FROM unnest($2::bigint[]) p",
        batch_id,
        page_ids,
    )
    return await Scope.batch(database, str(batch_id))


@pytest.mark.parametrize(
    "act_name, status", list(itertools.product(transitions.ACTS, sorted(STORED)))
)
async def test_each_act_does_to_each_status_what_the_table_says(
    database: Database, act_name: str, status: str
) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    page_id = await page(database, host_id, "/a", status)
    scope = await Scope.url(database, "http://h1.example.test/a")
    if status not in transitions.sources(act_name):
        with pytest.raises(ConflictError, match=f"that is {status}"):
            await act(database, act_name, scope)
        assert (await task(database, page_id))["status"] == status
    else:
        done = await act(database, act_name, scope)
        untried = act_name == "retry" and status == "pending"
        assert done.tasks == (0 if untried else 1)
        assert (await task(database, page_id))["status"] == transitions.ACTS[act_name]
        assert transitions.may(status, transitions.ACTS[act_name])


def test_the_steps_of_a_task_are_these() -> None:
    anything = {"pending", "completed", "failed", "skipped", "paused", "cancelled"}
    assert {
        **dict.fromkeys(("pending", "completed", "failed", "skipped"), anything),
        "paused": {"pending", "cancelled"},
        "cancelled": {"pending"},
    } == TRANSITIONS
    assert {act: sources(act) for act in ACTS} == {
        "pause": ["completed", "failed", "pending", "skipped"],
        "resume": ["paused"],
        "stop": ["completed", "failed", "paused", "pending", "skipped"],
        "retry": ["cancelled", "failed", "pending"],
        "recrawl": ["completed", "failed", "pending", "skipped"],
    }


async def test_the_database_refuses_a_due_time_to_what_is_held(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    page_id = await page(database, host_id, "/a", "paused")
    with pytest.raises(Exception, match="crawl_tasks_held"):
        await database.fetch(
            "UPDATE messor.crawl_tasks SET due_at = messor.clock() WHERE page_id = $1", page_id
        )


async def test_a_task_is_resumed_to_when_it_would_have_been_due(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    page_id = await page(database, host_id, "/a")
    before = (await task(database, page_id))["due_at"]
    scope = await Scope.url(database, "http://h1.example.test/a")
    await act(database, "pause", scope)
    held = await task(database, page_id)
    assert (held["due_at"], held["held_due_at"]) == (None, before)
    assert await shown(database, page_id) == "paused"
    await act(database, "resume", await Scope.url(database, "http://h1.example.test/a"))
    assert (await task(database, page_id))["due_at"] == before


async def test_a_batch_is_paused_in_chunks_and_its_visits_are_recalled(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control, "CHUNK", 3)
    (host_id, other) = await make_lanes(database, await make_domain(database), count=2)
    inside = [await page(database, host_id, f"/{n}") for n in range(8)]
    outside = await page(database, host_id, "/outside")
    batch = await make_batch(database, *inside)
    holder = await lease(database)
    await claim(database, holder)
    assert await closed(database, holder) == []
    done = await act(database, "pause", batch)
    assert done.tasks == 8
    assert await closed(database, holder, 2) == [host_id], "the other lane goes on"
    assert other != host_id
    assert (await task(database, outside))["status"] == "pending"
    assert {(await task(database, p))["status"] for p in inside} == {"paused"}


async def test_a_recall_counts_for_one_visit(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    await page(database, host_id, "/a")
    holder = await lease(database)
    held = await claim(database, holder)
    await act(database, "stop", await Scope.url(database, "http://h1.example.test/a"))
    assert await closed(database, holder) == [host_id]
    await give_back(database, holder, held)
    await database.fetch(
        "UPDATE messor.lanes SET claim_at = messor.clock(), ready_at = messor.clock()"
    )
    assert len(await claim(database, holder)) == 1
    assert await closed(database, holder, 2) == []


async def test_a_paused_domain_is_not_claimed_until_it_is_resumed(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    holder = await lease(database)
    scope = await Scope.domain(database, "example.test")
    assert (await act(database, "pause", scope)).tasks == 1
    assert await claim(database, holder) == []
    later = await page(database, host_id, "/found-later")
    assert await shown(database, later) == "paused"
    await act(database, "resume", scope)
    assert [lane.host_id for lane in await claim(database, holder)] == [host_id]


async def test_everything_stands_still_also_what_is_approved_meanwhile(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    own = await make_domain(database, "own.test")
    await make_lanes(database, own, "own.test")
    holder = await lease(database)
    await act(database, "pause", await Scope.domain(database, "own.test"))
    await act(database, "pause", Scope.everything())
    assert await control.is_standing_still(database)
    await make_lanes(database, await make_domain(database, "late.test"), "late.test")
    assert await claim(database, holder) == []
    await act(database, "resume", Scope.everything())
    names = {lane.policy.domain for lane in await claim(database, holder)}
    assert names == {"example.test", "late.test"}, "own.test was paused for itself"
    await act(database, "resume", await Scope.domain(database, "own.test"))
    assert {lane.policy.domain for lane in await claim(database, holder)} == {"own.test"}


async def test_a_domain_resumed_during_a_standstill_waits_for_its_end(database: Database) -> None:
    await make_lanes(database, await make_domain(database))
    holder = await lease(database)
    scope = await Scope.domain(database, "example.test")
    await act(database, "pause", scope)
    await act(database, "pause", Scope.everything())
    await act(database, "resume", scope)
    assert await claim(database, holder) == []
    await act(database, "resume", Scope.everything())
    assert len(await claim(database, holder)) == 1


async def test_a_stopped_domain_has_nothing_due_and_stays_where_it_is(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    known = await page(database, host_id, "/a")
    scope = await Scope.domain(database, "example.test")
    assert (await act(database, "stop", scope)).tasks == 2
    found = await page(database, host_id, "/found-by-a-visit-under-way")
    assert await shown(database, known) == "cancelled"
    assert await shown(database, found) == "paused"
    await act(database, "resume", scope)
    assert await shown(database, known) == "cancelled"
    assert (await act(database, "retry", scope)).tasks == 2
    assert await shown(database, known) == "queued"


async def test_retry_and_recrawl_wake_sleeping_lanes(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    await page(database, host_id, "/failed", "failed")
    await page(database, host_id, "/done", "completed")
    for name, path in (("retry", "/failed"), ("recrawl", "/done")):
        await database.fetch("UPDATE messor.lanes SET due_at = NULL, claim_at = NULL")
        await act(database, name, await Scope.url(database, f"http://h1.example.test{path}"))
        assert (await lane_row(database, host_id))["claim_at"] is not None


async def test_robots_are_never_held(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    url = parse("http://h1.example.test/robots.txt")
    assert url is not None
    async with database.transaction() as connection:
        await tasks.add_robots(connection, host_id, url)
    await act(database, "stop", Scope.everything())
    kinds = await database.fetch("SELECT kind, status FROM messor.crawl_tasks ORDER BY kind")
    assert [tuple(row) for row in kinds] == [("page", "cancelled"), ("robots", "pending")]
    with pytest.raises(ConflictError, match=r"robots\.txt"):
        await Scope.url(database, url.href)


async def test_every_act_leaves_an_event_with_its_actor_and_count(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    await page(database, host_id, "/a")
    scope = await Scope.domain(database, "example.test")
    for name in ("pause", "resume", "stop", "retry", "recrawl"):
        await act(database, name, scope)
    rows = await database.fetch(
        "SELECT type, actor, (data ->> 'tasks')::int AS n FROM messor.events ORDER BY id"
    )
    assert [tuple(row) for row in rows] == [
        ("tasks.paused", "tester", 2),
        ("tasks.resumed", "tester", 2),
        ("tasks.stopped", "tester", 2),
        ("tasks.retried", "tester", 2),
        ("tasks.recrawled", "tester", 2),
    ]


async def test_what_is_not_there_is_said(database: Database) -> None:
    with pytest.raises(NotFoundError, match="is unknown"):
        await Scope.url(database, "https://nowhere.test/")
    with pytest.raises(UsageError, match="not a web URL"):
        await Scope.url(database, "http://")
    with pytest.raises(UsageError, match="not a batch id"):
        await Scope.batch(database, "seven")
    with pytest.raises(NotFoundError, match="There is no batch"):
        await Scope.batch(database, str(new_id()))
    with pytest.raises(NotFoundError, match="messor domains submit"):
        await Scope.domain(database, "nowhere.test")


async def test_a_domain_submitted_during_a_standstill_is_not_active(database: Database) -> None:
    await act(database, "pause", Scope.everything())
    async with database.transaction() as connection:
        submission = Submission.understand("late.test")
        domain, _ = await domains.submit(connection, submission, actor="tester")
    assert not domain.active
