"""The proxy pool: a worker's choice among the active proxies, and its counts of their use.

Choosing and counting happen in memory; `tend`, called every few seconds beside the flush, writes
the counts, refreshes the list when it is stale and probes what is due.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection
from uuid import UUID

from messor.core import clock
from messor.core.logs import room_logger
from messor.fetch.outcome import Fetched
from messor.fetch.proxies import registry
from messor.fetch.proxies.limiter import ProxyLimiter
from messor.fetch.proxies.probe import Prober
from messor.fetch.proxies.proxy import PROXY_FAULT, Proxy, ProxyError
from messor.fetch.proxies.registry import ActiveProxy
from messor.fetch.proxies.seal import Seal
from messor.fetch.proxies.usage import MAX_IN_A_ROW, Uses, account
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

logger = room_logger(__name__)

STALE_SECONDS = 30.0
FIRST_REST = 5.0  # seconds after a failure, doubled after each further one
MAX_REST = 300.0
LOGIN_WEIGHT = 4  # failures counted for a refused login: three of them disable the proxy
SEVERAL_DOMAINS = 3
_MAX_REMEMBERED = 10_000


class ProxyPool:
    """The active proxies: healthy ones first, of these the cheapest, then the least recently used."""

    def __init__(
        self, database: Database, seal: Seal, prober: Prober, limiter: ProxyLimiter | None = None
    ) -> None:
        self._database = database
        self._seal = seal
        self._prober = prober
        self._limiter = limiter or ProxyLimiter()
        self._order: OrderedDict[int, ActiveProxy] = OrderedDict()
        self._tally: dict[int, Uses] = {}
        self._in_a_row: dict[int, int] = {}
        self._rests_until: dict[int, float] = {}
        # By domain, the proxies that could not reach it, and how many such failures do not count
        # against them yet.
        self._accused: dict[UUID, dict[int, int]] = {}
        self._unreached: dict[int, set[UUID]] = {}  # by proxy, since its last success
        self._fresh_until = 0.0

    def pick(self, domain_id: UUID | None = None, but: Collection[int] = ()) -> Proxy | None:
        """The cheapest proxy that is not resting and has not failed at the domain.

        Of equally cheap ones it is the least recently used; if there is none, the best of the rest.
        Proxies at the domain's limit are left out. With None the domain's request must wait: its
        policy requires a proxy, so it never goes direct.
        """
        accused = self._accused.get(domain_id, {}) if domain_id else {}
        now = clock.now()
        usable = [
            (max(self._rests_until.get(each, 0.0) - now, 0.0), each in accused, known.cost, place)
            for place, (each, known) in enumerate(self._order.items())
            if each not in but and (domain_id is None or self._limiter.can_crawl(domain_id, each))
        ]
        if not usable:
            return None
        best = list(self._order)[min(usable)[-1]]
        self._order.move_to_end(best)
        return self._order[best].proxy

    def free_in(self, domain_id: UUID, but: Collection[int] = ()) -> float | None:
        """Seconds until a proxy is below the domain's limit; None if there is no proxy."""
        waits = [self._limiter.wait(domain_id, each) for each in self._order if each not in but]
        return min(waits, default=None)

    def note(self, proxy: Proxy, domain_id: UUID, fetched: Fetched) -> None:
        """Count the result of a fetch through a proxy; a fetch that never used it is not counted."""
        self._limiter.count(domain_id, proxy.id)
        if fetched.error_type == PROXY_FAULT:
            detail = fetched.detail or {}
            error = ProxyError(
                fetched.error or "",
                at_target=bool(detail.get("at_target")),
                login=bool(detail.get("login")),
            )
            self.failed(proxy, domain_id, error)
        elif fetched.sent_at:
            self.succeeded(proxy, domain_id, fetched.duration)

    def succeeded(self, proxy: Proxy, domain_id: UUID, seconds: float) -> None:
        """A tunnel stood; the site's response does not concern the proxy.

        Other proxies that failed to reach this domain were at fault: their failures now count.
        """
        self._in_a_row[proxy.id] = 0
        self._rests_until.pop(proxy.id, None)
        self._unreached.pop(proxy.id, None)
        self._uses(proxy.id).succeeded(domain_id, seconds)
        accused = self._accused.get(domain_id)
        if accused is None:
            return
        accused.pop(proxy.id, None)
        for other, times in accused.items():
            if times:
                self._hold(other, times)
                accused[other] = 0  # still not preferred for this domain

    def failed(self, proxy: Proxy, domain_id: UUID, error: ProxyError) -> None:
        """The proxy failed; after more than ten failures in a row it is no longer chosen."""
        uses = self._uses(proxy.id)
        uses.failed(domain_id, str(error))
        if error.at_target:
            self._accuse(proxy.id, domain_id)
        else:
            self._hold(proxy.id, LOGIN_WEIGHT if error.login else 1)

    def _accuse(self, proxy_id: int, domain_id: UUID) -> None:
        """Record that a proxy could not reach a domain; who is at fault shows when another one
        reaches it.

        A site that is down must not disable the whole pool. A proxy that reaches none of several
        domains in a row is at fault in any case.
        """
        if len(self._accused) >= _MAX_REMEMBERED:
            self._accused.clear()
        accused = self._accused.setdefault(domain_id, {})
        accused[proxy_id] = accused.get(proxy_id, 0) + 1
        unreached = self._unreached.setdefault(proxy_id, set())
        unreached.add(domain_id)
        if len(unreached) >= SEVERAL_DOMAINS:
            accused[proxy_id] -= 1
            self._hold(proxy_id, 1)

    def _hold(self, proxy_id: int, times: int) -> None:
        """Count failures against a proxy: it rests, longer each time, and is finally disabled."""
        self._uses(proxy_id).in_a_row += times
        in_a_row = self._in_a_row[proxy_id] = self._in_a_row.get(proxy_id, 0) + times
        rest = min(FIRST_REST * 2.0 ** (in_a_row - 1), MAX_REST)
        self._rests_until[proxy_id] = clock.now() + rest
        if in_a_row > MAX_IN_A_ROW:
            self._order.pop(proxy_id, None)

    async def tend(self) -> None:
        """Write the counts, refresh the list and probe what is due; cheap when there is nothing to
        do.
        """
        await self.write()
        if clock.now() >= self._fresh_until:
            await self._prober.probe_due(self._database, self._seal)
            await self.refresh()

    async def write(self) -> None:
        """Write the counts; what could not be written is retried next time."""
        tally, self._tally = self._tally, {}
        if not tally:
            return
        try:
            async with self._database.transaction() as connection:
                disabled = await account(connection, list(tally.values()))
        except (*LOST_CONNECTION, *TRY_AGAIN):
            for proxy_id, uses in tally.items():
                self._tally.setdefault(proxy_id, Uses(proxy_id)).follow(uses)
            raise
        for proxy_id in disabled:
            logger.warning("Proxy %d is disabled: %s", proxy_id, tally[proxy_id].error)

    async def refresh(self) -> None:
        """Read the active proxies; known ones keep their position, new ones come first."""
        found = {c.proxy.id: c for c in await registry.active(self._database, self._seal)}
        known = [proxy_id for proxy_id in self._order if proxy_id in found]
        new = [proxy_id for proxy_id in found if proxy_id not in self._order]
        self._in_a_row = {
            proxy_id: candidate.in_a_row + self._unwritten(proxy_id)
            for proxy_id, candidate in found.items()
        }
        self._order = OrderedDict(
            (proxy_id, found[proxy_id])
            for proxy_id in [*new, *known]
            if self._in_a_row[proxy_id] <= MAX_IN_A_ROW
        )
        self._fresh_until = clock.now() + STALE_SECONDS

    def _unwritten(self, proxy_id: int) -> int:
        uses = self._tally.get(proxy_id)
        return uses.in_a_row if uses else 0

    def _uses(self, proxy_id: int) -> Uses:
        return self._tally.setdefault(proxy_id, Uses(proxy_id))
