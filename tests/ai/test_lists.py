"""The list of model calls: every filter leaves something out, every order orders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from messor.ai.queries import CALLS
from messor.store.database import Database
from tests.listed import listed

NOW = datetime.now(UTC)
CALL = """
INSERT INTO messor.ai_calls (input_hash, purpose, model, prompt_version, domain, job, month, ending,
                             tokens, cost, unverified, asked_at)
VALUES (sha256($1::text::bytea), 'extract:offer', 'm', '1', $1, 'j', '2026-11-01', $2, 10, $3, $4, $5)
"""
DOUBT = '[{"kind": "offer", "field": "price", "value": "9", "reason": "not on the page"}]'


async def test_model_calls(database: Database) -> None:
    cut = NOW - timedelta(days=1)
    await database.fetch(CALL, "alder.org", "answered", 2, DOUBT, NOW - timedelta(days=7))
    await database.fetch(CALL, "birch.org", "refused", 1, "[]", NOW)
    for given, expected in (
        ({}, ["birch.org", "alder.org"]),
        ({"domain": "https://www.alder.org/x"}, ["alder.org"]),
        ({"status": "refused"}, ["birch.org"]),
        ({"unverified": True}, ["alder.org"]),
        ({"unverified": False}, ["birch.org"]),
        ({"since": cut}, ["birch.org"]),
        ({"until": cut}, ["alder.org"]),
        ({"order": "id"}, ["alder.org", "birch.org"]),
        ({"order": "cost"}, ["birch.org", "alder.org"]),
        ({"order": "-cost"}, ["alder.org", "birch.org"]),
    ):
        found = await listed(CALLS, database, **given)
        assert [one.domain for one in found] == expected, given
