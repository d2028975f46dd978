"""Paid calls: what must be known of a page before a provider is paid to fetch it again.

A conditional request and the hashes of the site's own response are compared where responses are
read; here the sitemap is asked. Both run only before a paid call, never per page.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from messor.core.logs import room_logger
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

# `seen_at`: when the page's own content came last. HTTP counts only if it brought the content.
# `listed_at`: when every sitemap that may list the page was read last.
HISTORY = """
SELECT p.sitemap_lastmod AS lastmod, seen.at AS seen_at,
       (SELECT min(k.last_fetched_at)
          FROM messor.sitemaps s JOIN messor.crawl_tasks k ON k.page_id = s.page_id
         WHERE s.host_id = p.host_id AND s.urls > 0 AND k.outcome IN ('ok', 'unchanged')
           AND (s.page_id = p.found_on OR p.found_by <> 'sitemap')) AS listed_at,
       (SELECT count(*) FROM messor.http_fetches f
         WHERE f.page_id = p.id AND f.outcome = 'unchanged' AND f.fetch_provider = ANY ($2)
           AND f.fetched_at > changed.at) AS repeats
  FROM messor.pages p JOIN messor.crawl_tasks t ON t.page_id = p.id
 CROSS JOIN LATERAL (
   SELECT max(f.fetched_at) AS at FROM messor.http_fetches f
    WHERE f.page_id = p.id AND f.outcome IN ('ok', 'unchanged') AND f.status_code < 400
      AND (f.fetch_provider <> 'http' OR t.provider IS NULL)) seen
 CROSS JOIN LATERAL (
   SELECT coalesce(max(f.fetched_at), '-infinity') AS at FROM messor.http_fetches f
    WHERE f.page_id = p.id AND f.outcome = 'ok') changed
 WHERE p.id = $1
"""

logger = room_logger(__name__)


@dataclass(frozen=True, slots=True)
class PaidHistory:
    """What is known of a page before it is paid for."""

    lastmod: datetime | None = None
    seen_at: datetime | None = None
    listed_at: datetime | None = None
    repeats: int = 0  # paid calls in a row that found it unchanged

    @property
    def proof(self) -> str | None:
        """Why the page is unchanged, by its sitemap; None if that is not known."""
        if self.lastmod is None or self.seen_at is None or self.listed_at is None:
            return None
        if not _end_of(self.lastmod) <= self.seen_at < self.listed_at:
            return None
        return f"its sitemap says that it last changed {self.lastmod:%Y-%m-%d}, before its newest content"


class PaidCalls:
    """Looks up pages for one worker."""

    def __init__(self, database: Database, providers: list[str]) -> None:
        self._database = database
        self._providers = providers

    async def history(self, page_id: int) -> PaidHistory:
        """Without a database nothing is known; the call's budget cannot be reserved then either."""
        try:
            row = await self._database.fetchrow(HISTORY, page_id, self._providers)
        except (*LOST_CONNECTION, *TRY_AGAIN) as error:
            logger.warning("A page's paid calls cannot be read: %s", type(error).__name__)
            return PaidHistory()
        return PaidHistory(**row) if row is not None else PaidHistory()


def _end_of(lastmod: datetime) -> datetime:
    """The latest moment a `lastmod` may mean: a date without a time is a whole day."""
    is_date = lastmod == lastmod.replace(hour=0, minute=0, second=0, microsecond=0)
    return lastmod + timedelta(days=1) if is_date else lastmod
