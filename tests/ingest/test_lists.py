"""The lists of ingestions and orbits: every filter leaves something out, every order orders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from messor.ingest.queries import INGESTIONS, ORBITS
from messor.store.database import Database
from tests.listed import listed

NOW = datetime.now(UTC)
RUN = """
INSERT INTO messor.ingestion_runs (trace_id, orbit_slug, mode, url, requested_by, stage, started_at,
                                   completed_at, outcome)
VALUES ($1, $2, $3, 'https://' || $2, 'test', 'done', $4, $4, $5)
"""
ORBIT = """
WITH domain AS (
  INSERT INTO messor.domains (id, domain, base_url, submitter_type, submitted_by)
  VALUES (gen_random_uuid(), $2, 'https://' || $2, 'system', 'test') RETURNING id
)
INSERT INTO messor.orbits (id, slug, name, owner, domain_id, updated_at)
SELECT gen_random_uuid(), $1, $3, 'test', id, $4 FROM domain
"""


async def seed(database: Database) -> None:
    week_ago = NOW - timedelta(days=7)
    await database.fetch(RUN, "a" * 32, "alder-org", "light", week_ago, "blocked")
    await database.fetch(RUN, "b" * 32, "birch-org", "standard", NOW, "success")
    await database.fetch(ORBIT, "alder-org", "alder.org", "Alder Fund", NOW)
    await database.fetch(ORBIT, "birch-org", "birch.org", "Birch", week_ago)


async def test_ingestions(database: Database) -> None:
    await seed(database)
    cut = NOW - timedelta(days=1)
    for given, expected in (
        ({}, ["birch-org", "alder-org"]),
        ({"orbit": "alder-org"}, ["alder-org"]),
        ({"mode": "light"}, ["alder-org"]),
        ({"outcome": "success"}, ["birch-org"]),
        ({"since": cut}, ["birch-org"]),
        ({"until": cut}, ["alder-org"]),
        ({"order": "started_at"}, ["alder-org", "birch-org"]),
    ):
        found = await listed(INGESTIONS, database, **given)
        assert [one.orbit_slug for one in found] == expected, given


async def test_orbits(database: Database) -> None:
    await seed(database)
    for given, expected in (
        ({}, ["alder-org", "birch-org"]),
        ({"q": "FUND"}, ["alder-org"]),
        ({"q": "birch-o"}, ["birch-org"]),
        ({"domain": "https://www.birch.org/"}, ["birch-org"]),
        ({"order": "updated_at"}, ["birch-org", "alder-org"]),
        ({"order": "-slug"}, ["birch-org", "alder-org"]),
        ({"order": "slug"}, ["alder-org", "birch-org"]),
    ):
        found = await listed(ORBITS, database, **given)
        assert [one.slug for one in found] == expected, given
    newest = (await listed(ORBITS, database, q="alder"))[0]
    assert (newest.mode, newest.outcome, newest.tiles) == ("light", "blocked", 0)
