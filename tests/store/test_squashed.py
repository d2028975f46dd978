"""A database of the schema before the squash upgrades to the baseline; any other is refused."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import asyncpg
import pytest

from messor.errors import UnavailableError, UsageError
from messor.store import migrate, revisions
from messor.store.squashed import BASELINE
from tests.store.catalogue import catalogue

SCHEMA = Path(__file__).with_name("schema_039.sql").read_text(encoding="utf-8")
URL = "https://shop.example/"
ROWS = f"""
SELECT messor.make_all_partitions();
INSERT INTO messor.outbox_relay DEFAULT VALUES;
INSERT INTO messor.fetch_rollup DEFAULT VALUES;
INSERT INTO messor.domains (id, domain, base_url, submitted_by, submitter_type)
VALUES ('0190a1b2-0000-7000-8000-000000000001', 'shop.example', '{URL}', 'ann', 'admin');
INSERT INTO messor.hosts (domain_id, host)
VALUES ('0190a1b2-0000-7000-8000-000000000001', 'shop.example');
INSERT INTO messor.pages (host_id, url_hash, url, found_by)
SELECT id, sha256('x'), '{URL}', 'seed' FROM messor.hosts;
INSERT INTO messor.crawl_tasks (page_id, host_id) SELECT id, host_id FROM messor.pages;
INSERT INTO messor.events (type, actor) VALUES ('domain.submitted', 'ann');
"""
REVISION = "SELECT version_num FROM messor.alembic_version"
KEPT = """
SELECT (d.domain, h.host, p.url, t.status, (SELECT count(*)::int FROM messor.events))
  FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
  JOIN messor.pages p ON p.host_id = h.id JOIN messor.crawl_tasks t ON t.page_id = p.id
"""


async def run(dsn: str, sql: str) -> None:
    raw = await asyncpg.connect(dsn, ssl=False)
    try:
        await raw.execute(sql)
    finally:
        await raw.close()


async def value(dsn: str, sql: str) -> object:
    raw = await asyncpg.connect(dsn, ssl=False)
    try:
        return await raw.fetchval(sql)
    finally:
        await raw.close()


@pytest.fixture
async def old_dsn(blank_dsn: str) -> str:
    """A database at revision 039, with a few rows."""
    await run(blank_dsn, f"CREATE SCHEMA messor; SET timezone = 'UTC'; {SCHEMA}")
    await run(blank_dsn, f"SET timezone = 'UTC'; {ROWS}")
    await stamp(blank_dsn, "039")
    return blank_dsn


async def stamp(dsn: str, revision: str) -> None:
    await run(
        dsn,
        f"""DELETE FROM messor.alembic_version;
            INSERT INTO messor.alembic_version (version_num) VALUES ('{revision}')""",
    )


def name_in(line: str) -> str:
    """What a line of the catalogue is about."""
    defined = re.search(r"CREATE.* (?:INDEX|FUNCTION) ([\w.]+)", line)
    return defined[1] if defined else line.split()[1]


async def test_the_last_schema_becomes_the_baseline(
    old_dsn: str, other_blank_dsn: str, dsn: str
) -> None:
    await asyncio.to_thread(migrate.upgrade, other_blank_dsn, BASELINE)
    differing = await catalogue(old_dsn) - await catalogue(other_blank_dsn)
    differing_names = {name_in(line) for line in differing}
    assert differing_names == {"domains_name", "domains_discovery_session"}
    await asyncio.to_thread(migrate.upgrade, old_dsn)
    assert await catalogue(old_dsn) == await catalogue(dsn)
    assert await value(old_dsn, KEPT) == ("shop.example", "shop.example", URL, "pending", 1)
    assert await value(old_dsn, REVISION) == revisions.newest()


async def test_a_row_that_breaks_a_constraint_stops_the_upgrade_as_a_whole(old_dsn: str) -> None:
    before = await catalogue(old_dsn)
    await run(
        old_dsn,
        """ALTER TABLE messor.domains DROP CONSTRAINT domains_name;
           UPDATE messor.domains SET domain = 'localhost';
           ALTER TABLE messor.domains ADD CONSTRAINT domains_name CHECK (
             length(domain) BETWEEN 3 AND 253 AND domain ~ '^[^./:@?#\\s]+(\\.[^./:@?#\\s]+)+$') NOT VALID""",
    )
    assert await catalogue(old_dsn) == before
    with pytest.raises(UnavailableError, match="domains_name"):
        await asyncio.to_thread(migrate.upgrade, old_dsn)
    assert await catalogue(old_dsn) == before


@pytest.mark.parametrize(
    "revision, sentence",
    [
        ("012", "at revision 012, and this release upgrades from 039 on"),
        ("001", "First upgrade it to 039 with the release before this one"),
        ("040", "at revision 040, which this release does not know"),
        ("002_from_a_fork", "at revision 002_from_a_fork, which this release does not know"),
    ],
)
async def test_other_revisions_are_refused_in_a_sentence(
    dsn: str, revision: str, sentence: str
) -> None:
    await stamp(dsn, revision)
    for change in (migrate.upgrade, migrate.downgrade):
        with pytest.raises(UsageError, match=sentence):
            await asyncio.to_thread(change, dsn)


async def test_a_database_at_the_baseline_is_left_alone(dsn: str) -> None:
    before = await catalogue(dsn)
    await asyncio.to_thread(migrate.upgrade, dsn, BASELINE)
    assert await catalogue(dsn) == before
