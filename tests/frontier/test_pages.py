"""Pages found on the way: hosts opened, budgets spent exactly, refusals counted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from messor.frontier import pages
from messor.frontier.pages import NewPage
from messor.store.database import Database
from messor.web.urls import url_hash
from tests.held_lanes import lane_row, make_domain, make_lanes


def found(domain_id: UUID, host: str, path: str) -> NewPage:
    href = f"http://{host}{path}"
    return NewPage(domain_id, host, url_hash(href), href, "link", 1, 1, 0)


async def test_a_new_host_starts_with_its_robots(database: Database) -> None:
    domain = await make_domain(database)
    page = found(domain, "new.example.test", "/a")
    async with database.transaction() as connection:
        ids = await pages.open_hosts(connection, {page.host: page})
        again = await pages.open_hosts(connection, {page.host: page})
    assert ids == again
    rows = await database.fetch(
        "SELECT url, kind, priority FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id"
    )
    assert [tuple(row) for row in rows] == [("http://new.example.test/robots.txt", "robots", 0)]


async def test_adding_wakes_lanes_but_not_the_callers_own(database: Database) -> None:
    domain = await make_domain(database)
    held, other = await make_lanes(database, domain, count=2)
    await database.fetch("UPDATE messor.lanes SET due_at = NULL, claim_at = NULL")
    new = [found(domain, f"h{n}.example.test", "/new") for n in (1, 2)]
    ids = {"h1.example.test": held, "h2.example.test": other}
    async with database.transaction() as connection:
        await pages.add(connection, new, ids, [held])
        await pages.add(connection, new, ids, [held])
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == 2
    assert (await lane_row(database, held))["claim_at"] is None
    assert (await lane_row(database, other))["claim_at"] is not None


STORED = """
SELECT p.url, p.url_hash, p.host_id, p.found_by, p.found_on, p.depth, p.hops, p.category, t.kind,
       t.priority, p.sitemap_lastmod, t.due_at IS NOT NULL AS due
  FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id WHERE p.depth = 7
"""


async def test_pages_that_are_alike_and_pages_that_are_not_are_stored_as_they_are(
    database: Database,
) -> None:
    domain = await make_domain(database)
    ids = dict(
        zip(
            ("h1.example.test", "h2.example.test"),
            await make_lanes(database, domain, count=2),
            strict=True,
        )
    )
    day = datetime(2026, 1, 2, tzinfo=UTC)
    ways: list[dict[str, Any]] = [
        *({}, {"found_by": "redirect", "hops": 2}, {"found_on": 9}, {"category": "shop"}),
        *({"priority": 3}, {"due": False}, {"lastmod": day}, {"kind": "image"}),
    ]
    given = [
        replace(found(domain, host, f"/{number}-{turn}"), depth=7, **way)
        for turn in range(3)
        for host in ids
        for number, way in enumerate(ways)
    ]
    async with database.transaction() as connection:
        await pages.add(connection, given, ids, [])
        await pages.add(connection, [], ids, [])
    stored = {tuple(row) for row in await database.fetch(STORED)}
    assert len(stored) == len(given)
    assert stored == {
        (p.url, p.url_hash, ids[p.host], p.found_by, p.found_on, p.depth, p.hops, p.category,
         p.kind, p.priority, p.lastmod, p.due)
        for p in given
    }  # fmt: skip
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == 42


async def test_an_address_with_a_line_break_or_a_key_cut_short_is_refused(
    database: Database,
) -> None:
    domain = await make_domain(database)
    (host_id,) = await make_lanes(database, domain)
    good = found(domain, "h1.example.test", "/good")
    for bad in (replace(good, url=f"{good.url}\n/x"), replace(good, url_hash=b"short")):
        async with database.transaction() as connection:
            with pytest.raises(ValueError, match="URL"):
                await pages.add(connection, [good, bad], {good.host: host_id}, [])
    assert await database.fetchval("SELECT count(*) FROM messor.pages WHERE depth = 1") == 0


async def test_a_shorter_way_lowers_the_depth_and_a_longer_one_does_not(
    database: Database,
) -> None:
    domain = await make_domain(database)
    (host_id,) = await make_lanes(database, domain, count=1)
    ids, page = {"h1.example.test": host_id}, found(domain, "h1.example.test", "/a")
    stored = """SELECT p.depth, t.due_at, t.etag FROM messor.pages p
                  JOIN messor.crawl_tasks t ON t.page_id = p.id WHERE p.found_by = 'link'"""
    async with database.transaction() as connection:
        await pages.add(connection, [replace(page, depth=5, due=False)], ids, [])
        await connection.execute("UPDATE messor.crawl_tasks SET etag = 'one'")
        await pages.add(connection, [replace(page, depth=6)], ids, [])
        (row,) = await connection.fetch(stored)
        assert tuple(row) == (5, None, "one")
        await connection.execute("UPDATE messor.lanes SET due_at = NULL, claim_at = NULL")
        await pages.add(connection, [replace(page, depth=2)], ids, [])
        (row,) = await connection.fetch(stored)
        # Within its domain's depth it is due, and read although it may be unchanged.
        assert (row["depth"], row["due_at"] is None, row["etag"]) == (2, False, None)
    assert (await lane_row(database, host_id))["claim_at"] is not None
    assert await database.fetchval("SELECT pages_known FROM messor.domains") == 1


async def test_a_budget_admits_what_fits_and_what_is_known(database: Database) -> None:
    domain = await make_domain(database, budget=2)
    (host_id,) = await make_lanes(database, domain, count=1)
    new = [found(domain, "h1.example.test", f"/{n}") for n in range(4)]
    async with database.transaction() as connection:
        admitted, refused = await pages.admit(connection, new)
        assert (admitted, refused) == (new[:2], new[2:])
        await pages.add(connection, admitted, {"h1.example.test": host_id}, [])
        admitted, refused = await pages.admit(connection, new)
        assert (admitted, refused) == (new[:2], new[2:])


async def test_refused_links_add_up(database: Database) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    async with database.transaction() as connection:
        await pages.refuse_links(connection, {(host_id, "scope"): 3, (host_id, "depth"): 1})
        await pages.refuse_links(connection, {(host_id, "scope"): 4})
    rows = await database.fetch("SELECT rule, links FROM messor.refused_links ORDER BY rule")
    assert [tuple(row) for row in rows] == [("depth", 1), ("scope", 7)]
