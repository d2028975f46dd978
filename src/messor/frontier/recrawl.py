"""Recrawl by event: a changed page makes itself, and related pages, due earlier.

A page whose data or price changed is checked again as soon as its bounds allow; pages of
the same section follow within the hour. No page is checked more often than a quarter of the base
frequency allows, so that pages which change at every check do not trigger each other endlessly; a
frequency set for the task itself is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.core import clock
from messor.frontier.cadence import FACTOR
from messor.politeness import lanes
from messor.store.database import Connection

SIBLINGS = 20  # pages of a section made due
SEARCHED = 150  # tasks of the host per priority that are searched for siblings
SECTION_SECONDS = (
    3600.0  # within which siblings are due, and before the same section may be triggered again
)
SECTIONS_AT_ONCE = 4  # per flush; others are due soon enough anyway
KNOWN_SECTIONS = 20_000

# Only data that existed before can have changed.
FOLLOW = f"""
UPDATE messor.crawl_tasks t
   SET due_at = least(t.due_at, (SELECT messor.clock()) + b.base / {FACTOR})
  FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) AS g (page_id, previous_id, data_hash)
  JOIN messor.page_snapshots s ON s.id = g.previous_id AND s.data_hash <> g.data_hash
  JOIN messor.pages p ON p.id = g.page_id
  JOIN messor.hosts h ON h.id = p.host_id JOIN messor.domains d ON d.id = h.domain_id
 CROSS JOIN LATERAL (SELECT messor.base_frequency(d.track_interval, d.track_level, d.scrape_frequency_hours)
                            AS base) b
 WHERE t.page_id = g.page_id AND t.crawl_frequency IS NULL AND t.due_at IS NOT NULL
"""

# The same for pages whose price changed in their text: extraction knows it after the flush.
FOLLOW_PRICES = f"""
WITH sooner AS (
  UPDATE messor.crawl_tasks t SET due_at = n.due_at
    FROM (SELECT p.id, (SELECT messor.clock()) + messor.base_frequency(
                   d.track_interval, d.track_level, d.scrape_frequency_hours) / {FACTOR} AS due_at
            FROM messor.pages p JOIN messor.hosts h ON h.id = p.host_id
            JOIN messor.domains d ON d.id = h.domain_id WHERE p.id = ANY ($1::bigint[])) n
   WHERE t.page_id = n.id AND t.crawl_frequency IS NULL AND t.due_at > n.due_at
  RETURNING t.host_id, t.due_at
)
UPDATE messor.lanes l SET due_at = least(l.due_at, s.due_at),
       claim_at = CASE WHEN l.worker_id IS NULL
                       THEN greatest(l.ready_at, least(l.due_at, s.due_at)) ELSE l.claim_at END
  FROM (SELECT host_id, min(due_at) AS due_at FROM sooner GROUP BY 1) s WHERE l.host_id = s.host_id
"""
HOSTS_OF = "SELECT DISTINCT host_id FROM messor.pages WHERE id = ANY ($1::bigint[])"

# The next tasks of the host by priority and time, served by the index of due tasks; pages are not
# indexed by path. Pages near the start page and listed ones represent popular ones.
SPREAD = f"""
UPDATE messor.crawl_tasks t
   SET due_at = least(t.due_at, (SELECT messor.clock()) + make_interval(secs => $3 * c.place / {SIBLINGS}))
  FROM (
    SELECT n.page_id, row_number() OVER (PARTITION BY g.host_id, g.section
             ORDER BY n.priority, p.depth, p.sitemap_lastmod IS NULL, n.page_id) AS place
      FROM unnest($1::bigint[], $2::text[]) AS g (host_id, section)
      JOIN messor.hosts h ON h.id = g.host_id JOIN messor.domains d ON d.id = h.domain_id
     CROSS JOIN LATERAL (SELECT messor.base_frequency(d.track_interval, d.track_level, d.scrape_frequency_hours)
                                AS base) b
     CROSS JOIN generate_series(1, 10) AS rank (priority)
     CROSS JOIN LATERAL (
       SELECT k.* FROM messor.crawl_tasks k
        WHERE k.host_id = g.host_id AND k.priority = rank.priority
          AND k.due_at > (SELECT messor.clock()) + make_interval(secs => $3)
        ORDER BY k.due_at LIMIT {SEARCHED}) n
      JOIN messor.pages p ON p.id = n.page_id AND starts_with(p.url, g.section)
     WHERE n.kind = 'page' AND n.crawl_frequency IS NULL AND n.status = 'completed'
       AND n.last_fetched_at < (SELECT messor.clock()) - b.base / {FACTOR}) c
 WHERE t.page_id = c.page_id AND c.place <= {SIBLINGS}
"""


async def follow_prices(connection: Connection, page_ids: Sequence[int]) -> None:
    """Check pages again soon whose price changed, wherever the page states it."""
    if page_ids:
        hosts = await connection.fetch(HOSTS_OF, page_ids)
        await lanes.lock(
            connection, [row["host_id"] for row in hosts]
        )  # before tasks, as in a flush
        await connection.execute(FOLLOW_PRICES, page_ids)


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page whose content changed."""

    page_id: int
    host_id: int
    url: str
    previous_id: int  # its previous snapshot
    data_hash: bytes


def section_of(url: str) -> str | None:
    """The folder of a page, as the common prefix of its siblings' URLs; None at the top."""
    path = url.partition("?")[0]
    folder = path[:-1].rpartition("/")[0] + "/"
    return folder if folder.count("/") > 3 else None


class RecrawlSpread:
    """Makes related tasks due; remembers which sections were triggered recently."""

    def __init__(self) -> None:
        self._triggered: dict[tuple[int, str], float] = {}

    async def propagate(self, connection: Connection, changed: Sequence[PageChange]) -> None:
        """Make due what may have changed as well, in the flush that found the change."""
        if not changed:
            return
        await connection.execute(
            FOLLOW,
            [change.page_id for change in changed],
            [change.previous_id for change in changed],
            [change.data_hash for change in changed],
        )
        sections = self._untold(changed)
        if sections:
            await connection.execute(
                SPREAD,
                [host_id for host_id, _ in sections],
                [section for _, section in sections],
                SECTION_SECONDS,
            )

    def _untold(self, changed: Sequence[PageChange]) -> list[tuple[int, str]]:
        now = clock.now()
        sections: list[tuple[int, str]] = []
        for change in changed:
            section = section_of(change.url)
            if section is None or len(sections) == SECTIONS_AT_ONCE:
                continue
            key = (change.host_id, section)
            if now - self._triggered.get(key, -SECTION_SECONDS) >= SECTION_SECONDS:
                self._triggered.pop(key, None)  # to the end, with the newest
                self._triggered[key] = now
                sections.append(key)
        while len(self._triggered) > KNOWN_SECTIONS:
            del self._triggered[next(iter(self._triggered))]
        return sections
