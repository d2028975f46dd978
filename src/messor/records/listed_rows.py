"""Products known from a card of a list alone, at the page that the card links to.

Such a product is complete once that page is read, which then speaks for itself. A card whose link
is not a page of the same domain, or leads elsewhere, stays a record. A product does not go because
a list no longer shows it: lists move on from page to page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from messor.parsers.page_findings import FoundRecord
from messor.records.changes import Sighting
from messor.records.product_rows import PriceChange, ProductSource, write
from messor.records.store import LISTED, StoredOutcome
from messor.store.database import Connection
from messor.web.urls import parse, url_hash

TARGETS = """
SELECT g.place, p.id, p.url, p.url_hash,
       coalesce(t.outcome, '') IN ('redirected', 'redirected_out', 'not_found') AS is_gone
  FROM unnest($1::int[], $2::text[], $3::bytea[], $4::uuid[]) AS g (place, host, url_hash, domain_id)
  JOIN messor.hosts h ON h.host = g.host AND h.domain_id = g.domain_id
  JOIN messor.pages p ON p.host_id = h.id AND p.url_hash = g.url_hash
  LEFT JOIN messor.crawl_tasks t ON t.page_id = p.id
"""
# From now on only the page itself can bring it back.
# No record changes with it, so the change feed is told here.
END = """
WITH ended AS (
  UPDATE messor.products p SET state = 'removed', listing_page_id = NULL,
         updated_at = (SELECT messor.clock())
   WHERE p.page_id = ANY ($1::bigint[]) AND p.listing_page_id IS NOT NULL
  RETURNING id, domain_id, page_id, record_id
)
INSERT INTO messor.changes (kind, state, subject, domain_id, ref_from, ref_to)
SELECT 'product', 'removed', id, domain_id, page_id, record_id FROM ended ORDER BY id
"""


class _Card(NamedTuple):
    """A listed product, the page that lists it, and its link."""

    sighting: Sighting
    record: FoundRecord
    record_id: int
    host: str
    url_hash: bytes


async def store(connection: Connection, outcomes: Sequence[StoredOutcome]) -> list[PriceChange]:
    """Store the products of cards, unless their own page was read; returns price changes."""
    gone = [outcome.sighting.page_id for outcome in outcomes if outcome.page is None]
    cards = [card for outcome in outcomes for card in _cards(outcome)]
    found: dict[int, ProductSource] = {}
    for row in await _targets(connection, cards) if cards else ():
        if row["is_gone"]:
            gone.append(row["id"])
            continue
        card = cards[row["place"]]
        if row["id"] == card.sighting.page_id:
            continue
        there = card.sighting._replace(page_id=row["id"], url=row["url"], url_hash=row["url_hash"])
        source = ProductSource(there, None, card.record, card.record_id, card.sighting.page_id)
        found.setdefault(row["id"], source)
    if gone:
        await connection.execute(END, sorted(gone))
    return await write(connection, [found[page_id] for page_id in sorted(found)])


async def _targets(connection: Connection, cards: Sequence[_Card]) -> list[Any]:
    rows = await connection.fetch(
        TARGETS,
        list(range(len(cards))),
        [card.host for card in cards],
        [card.url_hash for card in cards],
        [card.sighting.domain_id for card in cards],
    )
    return sorted(rows, key=lambda row: row["place"])


def _cards(outcome: StoredOutcome) -> list[_Card]:
    if outcome.page is None:
        return []
    found = []
    for record in outcome.page.records:
        if record.kind != LISTED:
            continue
        url = parse(str(record.data.get("url", "")), outcome.sighting.url)
        if url is not None:
            record_id = outcome.product_ids[LISTED, record.identity]
            found.append(_Card(outcome.sighting, record, record_id, url.authority, url_hash(url)))
    return found
