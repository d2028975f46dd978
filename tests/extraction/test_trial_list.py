"""The list of trials: every filter leaves something out, every order orders."""

from __future__ import annotations

from messor.core.ids import new_id
from messor.extraction.trial_queries import TRIALS
from messor.store.database import Database
from tests.listed import listed

TRIAL = """
WITH domain AS (
  INSERT INTO messor.domains (id, domain, base_url, submitter_type, submitted_by)
  VALUES ($1, $2, 'https://' || $2, 'system', 'test') RETURNING id
)
INSERT INTO messor.parser_trials (id, parser, version, domain_id, pages, report, started_by, state,
                                  most, decided_by, decided_at, started_at)
SELECT $1, $3, '2rc1', domain.id, 1, '{"fields": {}, "pages": 1}', 'test', $4,
       CASE WHEN $4 = 'shadowing' THEN 10 END,
       CASE WHEN $4 = 'rejected' THEN 'test' END, CASE WHEN $4 = 'rejected' THEN messor.clock() END,
       messor.clock() - $5::int * interval '1 day' FROM domain
"""


async def test_trials(database: Database) -> None:
    await database.fetch(TRIAL, new_id(), "alder.org", "products", "rejected", 2)
    await database.fetch(TRIAL, new_id(), "birch.org", "offers", "shadowing", 1)
    for given, expected in (
        ({}, ["birch.org", "alder.org"]),
        ({"parser": "products"}, ["alder.org"]),
        ({"state": "shadowing"}, ["birch.org"]),
        ({"domain": "www.alder.org"}, ["alder.org"]),
        ({"order": "started_at"}, ["alder.org", "birch.org"]),
    ):
        found = await listed(TRIALS, database, **given)
        assert [one.domain for one in found] == expected, given
