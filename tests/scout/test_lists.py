"""The lists of the scout: every filter leaves something out, every order orders."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any

import pytest

from messor.scout.candidate_queries import CANDIDATES
from messor.scout.keyword_queries import KEYWORDS
from messor.scout.serp_queries import SERPS
from messor.scout.session_queries import SESSIONS
from messor.store.database import Database
from messor.store.listing import Listing
from tests.console.found import Found, seed
from tests.insight.making import apply_vertical
from tests.listed import listed

AGO = datetime.now(UTC) - timedelta(days=20)
LONG_AGO = timedelta(days=40)

# A filter, its value, and what holds for the items that match.
Case = tuple[Listing[Any, Any], str, Any, Callable[[Any], bool]]
CASES: list[Case] = [
    (CANDIDATES, "q", "ORCHARD", lambda o: "orchard" in f"{o.url} {o.title}".lower()),
    (CANDIDATES, "status", "waiting", lambda o: o.status in ("PENDING_REVIEW", "IN_REVIEW")),
    (CANDIDATES, "status", "APPROVED", lambda o: o.status == "APPROVED"),
    (CANDIDATES, "vertical", "wellness", lambda o: o.vertical == "wellness"),
    (CANDIDATES, "domain", "www.film.test", lambda o: o.domain == "film.test"),
    (CANDIDATES, "min_confidence", 0.6, lambda o: o.confidence_score >= 0.6),
    (CANDIDATES, "since", AGO, lambda o: o.created_at >= AGO),
    (CANDIDATES, "until", AGO, lambda o: o.created_at < AGO),
    (KEYWORDS, "q", "BOTOX  Singapore", lambda o: "botox singapore" in o.text),
    (KEYWORDS, "vertical", "funding", lambda o: o.vertical == "funding"),
    (KEYWORDS, "tier", "A", lambda o: o.tier == "A"),
    (KEYWORDS, "profile", "sg-mobile", lambda o: o.profile == "sg-mobile"),
    (KEYWORDS, "source", "manual", lambda o: o.source == "manual"),
    (KEYWORDS, "state", "pruned", lambda o: not o.active),
    (KEYWORDS, "min_value", 0.1, lambda o: o.value >= 0.1),
    (SERPS, "q", "dentist", lambda o: "dentist" in o.keyword),
    (SERPS, "vertical", "wellness", lambda o: o.vertical == "wellness"),
    (SERPS, "outcome", "failed", lambda o: o.is_gap),
    (SERPS, "profile", "sg-desktop", lambda o: o.profile == "sg-desktop"),
    (SERPS, "engine", "searxng", lambda o: o.engine == "searxng"),
    (SERPS, "domain", "https://orchard-dental.test/x", lambda o: not o.is_gap),
    (SERPS, "since", AGO, lambda o: o.captured_at >= AGO),
    (SERPS, "until", AGO, lambda o: o.captured_at < AGO),
    (SESSIONS, "vertical", "wellness", lambda o: o.vertical == "wellness"),
    (SESSIONS, "state", "failed", lambda o: o.state == "failed"),
    (SESSIONS, "since", AGO, lambda o: o.started_at >= AGO),
    (SESSIONS, "until", AGO, lambda o: o.started_at < AGO),
]
ORDERS: dict[str, Callable[[Any], Any]] = {
    "value": lambda o: -1 if o.value is None else o.value,
    "last_snapshot_at": lambda o: o.last_snapshot_at or datetime.min.replace(tzinfo=UTC),
}


async def variety(database: Database) -> Found:
    """Two verticals, with something old, pruned, failed and valued among what was found."""
    found = await seed(database)
    other = await apply_vertical(database, "funding")
    statements = (
        """INSERT INTO messor.keywords (keyword_text, serp_profile_id, vertical_id)
           SELECT 'museum fund', p.id, p.vertical_id FROM messor.serp_profiles p
            WHERE p.vertical_id = $1 LIMIT 1""",
        """UPDATE messor.candidates SET vertical_id = $1
            WHERE id = (SELECT id FROM messor.candidates WHERE status = 'PENDING_CRAWL' LIMIT 1)""",
        """INSERT INTO messor.discovery_sessions (id, vertical_id, vertical_version, started_by,
             state, message, started_at, finished_at)
           SELECT gen_random_uuid(), $1::uuid, 1, 'test', 'failed', 'cut off',
                  messor.clock() - interval '40 days', messor.clock()""",
        """UPDATE messor.candidates c SET session_id = s.id FROM messor.discovery_sessions s
            WHERE s.vertical_id = $1 AND c.vertical_id = $1""",
        """UPDATE messor.serp_snapshots s SET serp_profile_id = p.id
             FROM messor.serp_profiles p WHERE p.vertical_id = $1 AND s.id = (
               SELECT id FROM messor.serp_snapshots ORDER BY captured_at LIMIT 1)""",
    )
    for statement in statements:
        await database.fetch(statement, other.id)
    await database.fetch(
        """UPDATE messor.serp_snapshots s SET keyword_id = k.id FROM messor.keywords k
            WHERE k.keyword_text = 'museum fund' AND s.serp_profile_id = k.serp_profile_id"""
    )
    await database.fetch(
        "UPDATE messor.candidates SET created_at = created_at - $1::interval WHERE domain = 'film.test'",
        LONG_AGO,
    )
    await database.fetch(
        """UPDATE messor.keywords SET active = false, pruned_reason = 'no yield'
            WHERE id = (SELECT id FROM messor.keywords WHERE source = 'template' LIMIT 1)"""
    )
    await database.fetch(
        "UPDATE messor.keywords SET value = 0.5 WHERE keyword_text = 'museum fund'"
    )
    return found


async def test_every_filter_leaves_something_out(database: Database) -> None:
    found = await variety(database)
    keys: list[Case] = [
        (CANDIDATES, "session_id", found.session, lambda o: o.session_id == found.session),
        (SERPS, "keyword_id", found.keywords[0], lambda o: o.keyword_id == found.keywords[0]),
    ]
    for listing, name, value, holds in (*CASES, *keys):
        filters = listing.filters.model_validate({name: value})
        everything = listing.filters.model_validate(_all(listing))
        some = await listed(listing, database, **{name: value})
        assert some, f"{listing.name} {name}"
        assert all(holds(one) for one in some), f"{listing.name} {name}"
        found_of = await listing.count(database, filters), await listing.count(database, everything)
        assert found_of[0] < found_of[1], f"{listing.name} {name}"
    tried = {(listing.name, name) for listing, name, _, _ in (*CASES, *keys)}
    for listing in (CANDIDATES, KEYWORDS, SERPS, SESSIONS):
        assert {(listing.name, name) for name in listing.filters.model_fields} <= tried


@pytest.mark.parametrize("listing", [CANDIDATES, KEYWORDS, SERPS, SESSIONS])
async def test_every_order_orders_and_pages_whole(
    listing: Listing[Any, Any], database: Database
) -> None:
    await variety(database)
    filters = listing.filters.model_validate(_all(listing))
    for order in listing.orders:
        name = order.removeprefix("-")
        value = ORDERS.get(name) or attrgetter(name)
        first = await listed(listing, database, order=order, **_all(listing))
        values = [value(one) for one in first]
        assert values == sorted(values, reverse=order.startswith("-")), order
        page = await listing.read(database, filters, order=order, limit=2)
        following = (
            await listing.read(database, filters, order=order, cursor=page.next, limit=2)
            if page.next
            else None
        )
        paged = [*page.items, *(following.items if following else [])]
        assert [one.id for one in paged] == [one.id for one in first[:4]], order


def _all(listing: Listing[Any, Any]) -> dict[str, Any]:
    """Filters with which everything is listed."""
    return {"state": "all"} if listing is KEYWORDS else {}
