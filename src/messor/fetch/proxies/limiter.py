"""The limit of requests to a domain through one proxy, counted in windows of a second.

It is kept in memory by each worker. Pace, which all workers share, comes first: this limit matters
for domains with several hosts or without a delay.
"""

from __future__ import annotations

from uuid import UUID

from messor.core import clock

WINDOW_SECONDS = 1.0
MAX_PER_SECOND = 5
_MAX_REMEMBERED = 10_000


class ProxyLimiter:
    """Requests by domain and proxy in the current window."""

    def __init__(self, limit: int = MAX_PER_SECOND) -> None:
        self._limit = limit
        self._counts: dict[tuple[UUID, int], tuple[int, float]] = {}  # count, start of the window

    def can_crawl(self, domain_id: UUID, proxy_id: int) -> bool:
        """Whether the domain may be requested through the proxy now."""
        return self.wait(domain_id, proxy_id) == 0.0

    def wait(self, domain_id: UUID, proxy_id: int) -> float:
        """Seconds until the domain may be requested through the proxy."""
        count, start = self._counts.get((domain_id, proxy_id), (0, 0.0))
        if count < self._limit:
            return 0.0
        return max(start + WINDOW_SECONDS - clock.now(), 0.0)

    def count(self, domain_id: UUID, proxy_id: int) -> None:
        """Count a request; the first after a window begins a new one."""
        if len(self._counts) >= _MAX_REMEMBERED:
            self._counts.clear()
        now = clock.now()
        count, start = self._counts.get((domain_id, proxy_id), (0, now))
        if now >= start + WINDOW_SECONDS:
            count, start = 0, now
        self._counts[domain_id, proxy_id] = count + 1, start
