"""Retention: the most specific rule decides, what is current or held stays, and bytes go with the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.access.roles import Role
from messor.archive import garbage
from messor.archive.compaction import compact
from messor.archive.location import located
from messor.archive.storage import Archive
from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.governance import retention
from messor.governance.retention import NewRule
from messor.governance.retention_queries import HOLDS, RULES, HoldFilter, RuleFilter, preview
from messor.ops import archive_audit, archive_job
from messor.schedule.standard import RETENTION
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import api_over, client_of, key_of
from tests.crawling import admit, crawl, later
from tests.little_web import LittleWeb, page
from tests.schedule.sites import run_steps

HOSTS = ("one.test", "two.test")
VERSIONS = 4
AGAIN = """
WITH tasks AS (UPDATE messor.crawl_tasks SET due_at = messor.clock() WHERE kind = 'page')
UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock()
"""


class Crawled:
    """Two sites, each a page that never changed and one that did, three times."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self.settings, self.database = settings, database
        self.archive = Archive.of(settings)

    async def add(self, name: str, **rule: Any) -> None:
        async with self.database.transaction() as connection:
            await retention.add_rule(connection, NewRule(name, **rule), actor="ann")

    async def counts(self) -> Counter[str]:
        """Snapshots by host."""
        rows = await self.database.fetch(
            """SELECT h.host FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
                 JOIN messor.hosts h ON h.id = p.host_id"""
        )
        return Counter(row["host"] for row in rows)

    async def previewed(self) -> dict[str, tuple[int, int]]:
        return {one.rule: (one.snapshots, one.held) for one in await preview(self.database)}


@pytest.fixture
async def crawled(dsn: str, tmp_path: Path) -> AsyncIterator[Crawled]:
    rooms = {host: {"/": page(f"home of {host}", "/a")} for host in HOSTS}
    async with LittleWeb(tmp_path, rooms) as web:
        url = f"file://{tmp_path / 'shared'}"
        settings = web.settings(archive_url=url, texts="archive")
        async with Database(dsn, settings=settings) as database:
            for host in HOSTS:
                await admit(database, f"http://{host}/")
            for version in range(VERSIONS):
                for host in HOSTS:
                    web.houses[host].rooms["/a"] = page(f"{host} {version}")
                await database.fetch(AGAIN)
                await crawl(settings, database)
            await database.fetch("DELETE FROM messor.extraction_due")  # as if all were read
            yield Crawled(settings, database)


async def test_old_versions_go_with_their_bytes(crawled: Crawled) -> None:
    database, archive = crawled.database, crawled.archive
    store = archive.store
    assert store is not None
    assert await crawled.counts() == dict.fromkeys(HOSTS, VERSIONS + 1)
    await compact(archive, database, 10**9, wait_seconds=0)
    await crawled.add("all", versions=2)
    assert await crawled.previewed() == {"all": (4, 0)}
    assert await crawled.counts() == dict.fromkeys(HOSTS, VERSIONS + 1)  # only shown
    places = await database.fetch(
        """SELECT g.name, s.segment_offset AS at, s.segment_length AS length FROM messor.page_snapshots s
             JOIN messor.segments g ON g.id = s.segment_id WHERE s.title LIKE '% 0'"""
    )
    gone = [archive.read(row["name"], row["at"], row["length"]) for row in places]
    assert len(gone) == 2
    assert await retention.apply(database, actor="ann") == {"all": 4}
    assert await crawled.counts() == dict.fromkeys(HOSTS, 3)
    assert await crawled.previewed() == {}
    assert await retention.apply(database, actor="ann") == {}
    changes = await database.fetch(
        "SELECT snapshot_id FROM messor.page_changes ORDER BY snapshot_id NULLS FIRST"
    )
    assert [row["snapshot_id"] is None for row in changes].count(True) == 4
    await database.fetch("UPDATE messor.worker_leases SET ended_at = messor.clock()")
    await archive_job.tidy(archive, crawled.settings, database, after_retention=True)
    await database.fetch("UPDATE messor.dead_segments SET delete_after = messor.clock()")
    await garbage.collect(archive, database)
    kept = b"".join(store.whole(each.key) for each in store.listed())
    assert not any(record in kept for record in gone)
    report = archive_audit.ArchiveReport()
    async for _ in archive_audit.walk(database, archive, report):
        pass
    assert (report.examined, report.is_clean) == (6, True)


async def test_the_most_specific_rule_decides(crawled: Crawled) -> None:
    await crawled.database.fetch(
        "UPDATE messor.domains SET vertical = 'shops' WHERE domain = 'two.test'"
    )
    await crawled.database.fetch(
        """INSERT INTO messor.verticals (id, name, title, version, definition, source, source_hash, applied_by)
           VALUES (gen_random_uuid(), 'shops', 'Shops', 1, '{}', '', sha256(''), 'ann')"""
    )
    await crawled.add("all", days=0)
    assert await crawled.previewed() == {"all": (6, 0)}
    await crawled.add("one", domain="http://www.one.test/", versions=3)
    assert await crawled.previewed() == {"one": (1, 0), "all": (3, 0)}
    await crawled.add("shops", vertical="shops", days=30)
    assert await crawled.previewed() == {"one": (1, 0)}
    async with Database(later(crawled.database.dsn, timedelta(days=31))) as then:
        found = {one.rule: one.snapshots for one in await preview(then)}
    assert found == {"one": 1, "shops": 3}
    await crawled.add("bad-ones", outcome="bad", domain="one.test", days=0)
    await crawled.database.fetch(
        "UPDATE messor.page_snapshots SET verdict = 'blocked' WHERE title = 'one.test 2'"
    )
    # The blocked one has a rule of its own, and is no version of the others.
    assert await crawled.previewed() == {"bad-ones": (1, 0)}


async def test_what_is_held_or_read_from_stays(crawled: Crawled) -> None:
    database = crawled.database
    await crawled.add("all", days=0)
    async with database.transaction() as connection:
        domain = await retention.hold(connection, "one.test", actor="ann", reason="claim 1")
        await retention.hold(connection, "http://two.test/a", actor="ann", reason="claim 2")
    assert await crawled.previewed() == {"all": (0, 6)}
    assert await retention.apply(database, actor="ann") == {}
    async with database.transaction() as connection:
        await retention.lift(connection, domain.id, actor="ann")
    await database.fetch(
        """INSERT INTO messor.extraction_due (page_id, snapshot_id)
           SELECT page_id, id FROM messor.page_snapshots WHERE title = 'one.test 1'"""
    )
    assert await retention.apply(database, actor="ann") == {"all": 2}
    assert await crawled.counts() == {"one.test": 3, "two.test": VERSIONS + 1}
    assert [one.domain for one in (await HOLDS.read(database, HoldFilter())).items] == ["two.test"]
    types = await database.fetch("SELECT type FROM messor.events WHERE type LIKE 'retention.%'")
    assert {row["type"] for row in types} == {
        "retention.rule_added",
        "retention.held",
        "retention.lifted",
        "retention.snapshots_removed",
    }


async def test_segments_without_anything_are_deleted(crawled: Crawled) -> None:
    """An object that holds several segments goes with the last of them."""
    database, archive = crawled.database, crawled.archive
    store = archive.store
    assert store is not None
    before = {each.key for each in store.listed()}
    await crawled.add("all", days=0)
    done = await run_steps(database, RETENTION)
    assert done["snapshots_removed"] == 6
    assert done["archive_jobs"] == 1
    await database.fetch("UPDATE messor.worker_leases SET ended_at = messor.clock()")
    await database.fetch("UPDATE messor.segments SET sealed_at = messor.clock() - interval '1 day'")
    found = await archive_job.tidy(archive, crawled.settings, database, after_retention=True)
    assert found["emptied"] > 0
    await database.fetch("UPDATE messor.dead_segments SET delete_after = messor.clock()")
    await garbage.collect(archive, database)
    after = {each.key for each in store.listed()}
    assert len(after) < len(before)
    names = {
        row["name"]
        for row in await database.fetch("SELECT name FROM messor.segments WHERE bytes > 0")
    }
    assert {store.url_of(key).removesuffix(".cdxj") for key in after} == {
        located(name).url for name in names
    }
    report = archive_audit.ArchiveReport()
    async for _ in archive_audit.walk(database, archive, report):
        pass
    assert (report.examined, report.is_clean) == (4, True)


@pytest.mark.parametrize(
    "rule, error, words",
    [
        ({}, UsageError, "Say when snapshots go"),
        ({"days": 1, "domain": "a.test", "vertical": "v"}, UsageError, "give one of them"),
        ({"days": 1, "vertical": "none"}, NotFoundError, "messor verticals list"),
        ({"days": 2}, ConflictError, "remove it first"),
    ],
)
async def test_a_rule_that_makes_no_sense_says_why(
    database: Database, rule: dict[str, Any], error: type[MessorError], words: str
) -> None:
    async with database.transaction() as connection:
        await retention.add_rule(connection, NewRule("all", days=1), actor="ann")
    with pytest.raises(error, match=words):
        async with database.transaction() as connection:
            await retention.add_rule(connection, NewRule("other", **rule), actor="ann")
    for name in ("", "A B", "x" * 64):
        with pytest.raises(UsageError, match="is no name"):
            async with database.transaction() as connection:
                await retention.add_rule(connection, NewRule(name, days=1), actor="ann")
    assert len((await RULES.read(database, RuleFilter())).items) == 1


async def test_the_api_manages_rules_and_holds(database: Database, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, contact="https://example.invalid/")
    app = api_over(settings, database)
    key, low = await key_of(database, Role.ADMIN), await key_of(database, Role.VIEWER)
    path = "/api/v1/retention"
    async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as admin:
        made = await admin.post(f"{path}/rules", json={"name": "all", "days": 30})
        assert (made.status_code, made.json()["days"]) == (201, 30)
        wrong = await admin.post(f"{path}/rules", json={"name": "all", "days": 3})
        assert wrong.status_code == 409
        assert [one["name"] for one in (await admin.get(f"{path}/rules")).json()["items"]] == [
            "all"
        ]
        assert (await admin.get(f"{path}/preview")).json() == []
        held = await admin.post(f"{path}/holds", json={"what": "a.test", "reason": "claim"})
        assert held.status_code == 201
        lifted = await admin.delete(f"{path}/holds/{held.json()['id']}")
        again = await admin.delete(f"{path}/holds/{held.json()['id']}")
        assert (lifted.status_code, again.status_code) == (204, 404)
        assert (await admin.delete(f"{path}/rules/all")).status_code == 204
    async with client_of(app, headers={"Authorization": f"Bearer {low}"}) as viewer:
        refused = await viewer.post(f"{path}/rules", json={"name": "all", "days": 30})
        assert refused.status_code == 403
    await app.state.context.close()
