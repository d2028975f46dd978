"""The pool: a worker's choice among the active proxies, and its tally of how they did.

Choosing and tallying happen in memory; `tend`, called every few seconds beside the flush, writes
the tally, reads the registry again when it is stale and probes what is due.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from uuid import UUID

from messor.fetch.outcome import Fetched
from messor.fetch.proxies import registry
from messor.fetch.proxies.accounting import MOST_IN_A_ROW, Uses, account
from messor.fetch.proxies.probing import Prober
from messor.fetch.proxies.proxy import PROXY_FAULT, Proxy, ProxyError
from messor.fetch.proxies.registry import Candidate
from messor.fetch.proxies.sealing import Seal
from messor.kit import clock
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Database

logger = logging.getLogger(__name__)

STALE_SECONDS = 30.0
_MOST_REMEMBERED = 10_000


class Pool:
    """The active proxies, the least recently used first."""

    def __init__(self, database: Database, seal: Seal, prober: Prober) -> None:
        self._database = database
        self._seal = seal
        self._prober = prober
        self._order: OrderedDict[int, Candidate] = OrderedDict()
        self._tally: dict[int, Uses] = {}
        self._in_a_row: dict[int, int] = {}
        self._out_of_reach: dict[UUID, int] = {}  # domain → the proxy that said so first
        self._fresh_until = 0.0

    def pick(self) -> Proxy | None:
        """The least recently used proxy.

        With None the domain's request must wait: its policy says that it goes through a proxy,
        so it never goes without one.
        """
        if not self._order:
            return None
        proxy_id, candidate = next(iter(self._order.items()))
        self._order.move_to_end(proxy_id)
        return candidate.proxy

    def note(self, proxy: Proxy, domain_id: UUID, fetched: Fetched) -> None:
        """Count what a fetch through a proxy came to; one that never got to use it is not counted."""
        if fetched.error_type == PROXY_FAULT:
            at_target = bool((fetched.detail or {}).get("at_target"))
            self.failed(proxy, domain_id, ProxyError(fetched.error or "", at_target=at_target))
        elif fetched.sent_at:
            self.succeeded(proxy, domain_id, fetched.duration)

    def succeeded(self, proxy: Proxy, domain_id: UUID, seconds: float) -> None:
        """A tunnel stood; what the site then said is not the proxy's."""
        self._out_of_reach.pop(domain_id, None)
        self._in_a_row[proxy.id] = 0
        self._uses(proxy).succeeded(domain_id, seconds)

    def failed(self, proxy: Proxy, domain_id: UUID, error: ProxyError) -> None:
        """The proxy failed; after more than ten times in a row it is not chosen any more."""
        held = not error.at_target or self._is_first_to_say(proxy, domain_id)
        self._in_a_row[proxy.id] = self._in_a_row.get(proxy.id, 0) + held
        self._uses(proxy).failed(domain_id, str(error), held=held)
        if self._in_a_row[proxy.id] > MOST_IN_A_ROW:
            self._order.pop(proxy.id, None)

    async def tend(self) -> None:
        """Write the tally, refresh the list and probe what is due; cheap when there is nothing."""
        await self.write()
        if clock.now() >= self._fresh_until:
            await self._prober.probe_due(self._database, self._seal)
            await self.refresh()

    async def write(self) -> None:
        """Write the tally; what could not be written waits for the next time."""
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
        """Read the active proxies; those known here keep their turn, new ones come first."""
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
            if self._in_a_row[proxy_id] <= MOST_IN_A_ROW
        )
        self._fresh_until = clock.now() + STALE_SECONDS

    def _unwritten(self, proxy_id: int) -> int:
        uses = self._tally.get(proxy_id)
        return uses.in_a_row if uses else 0

    def _uses(self, proxy: Proxy) -> Uses:
        return self._tally.setdefault(proxy.id, Uses(proxy.id))

    def _is_first_to_say(self, proxy: Proxy, domain_id: UUID) -> bool:
        """Whether a domain's being out of reach is held against this proxy.

        When another proxy said it before and none reached the domain since, the site is likelier
        to be down: it must not take the whole pool with it.
        """
        if len(self._out_of_reach) >= _MOST_REMEMBERED:
            self._out_of_reach.clear()
        return self._out_of_reach.setdefault(domain_id, proxy.id) == proxy.id
