"""Killed at any stage, nothing that was paid for is lost, and nothing is paid for twice."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

from messor.scout import keywords
from messor.store.database import Database
from tests.scout.conftest import Apply, Bench

FIRST_LIVES = (2, 6, 9, 13, 18, 26, 36)  # in commits


async def live(dsn: str, url: str, commits: int) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.scout.exploring_process", dsn, url, str(commits)
    )
    return await process.wait()


async def test_whoever_explores_may_be_killed_after_any_commit(
    database: Database, apply: Apply, bench: Bench
) -> None:
    applied = await apply("funding")
    await keywords.write(database, applied, ["us-desktop"], actor="test")
    await database.fetch(
        """DELETE FROM messor.keywords WHERE id NOT IN (
             SELECT id FROM messor.keywords ORDER BY id LIMIT 6)"""
    )
    stand_in, _ = await bench.hire("serper")
    deaths = 0
    for commits in FIRST_LIVES:
        deaths += await live(database.dsn, stand_in.base_url, commits) != 0
    assert deaths >= 5  # the last ones may have come to their end
    assert await live(database.dsn, stand_in.base_url, 1_000_000) == 0
    asked = Counter(one.body["q"] for one in stand_in.asked)
    assert max(asked.values()) == 1
    requests = {
        row["state"]: row["count"]
        for row in await database.fetch(
            "SELECT state, count(*) FROM messor.search_requests GROUP BY 1"
        )
    }
    # What was answered was kept, unless its asker died with it in hand: then it is a gap, not a debt.
    assert sum(requests.values()) == 6
    assert set(requests) <= {"answered", "gap"}
    assert await database.fetchval(
        "SELECT count(*) FROM messor.search_spend WHERE state IN ('answered', 'lost')"
    ) == sum(requests.values())
    left = """SELECT count(*) FROM messor.search_requests r
                LEFT JOIN messor.serp_snapshots s ON s.request_id = r.id
               WHERE s.id IS NULL OR (s.outcome <> 'failed' AND s.judged_in IS NULL)"""
    assert await database.fetchval(left) == 0
    twice = (
        "SELECT count(*) FROM (SELECT url FROM messor.candidates GROUP BY 1 HAVING count(*) > 1) t"
    )
    assert await database.fetchval(twice) == 0
    assert await database.fetchval("SELECT count(*) FROM messor.candidates") > 0
