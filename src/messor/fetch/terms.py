"""HTTP on a domain's terms: through a proxy or directly, with certificates verified or not."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from uuid import UUID

from messor.core import clock
from messor.fetch.http import HttpFetcher
from messor.fetch.identity.signer import Fields
from messor.fetch.outcome import Fetched, failed
from messor.fetch.proxies.pool import ProxyPool
from messor.fetch.proxies.proxy import PROXY_FAULT
from messor.politeness.lanes import Policy
from messor.politeness.pace import Permit

# Limits per request: how many proxies may report that they cannot reach the site, and how long
# others are tried after a failure. A pool must work as long as one of its proxies does.
MAX_AT_TARGET = 5
TRYING_SECONDS = 20.0


class TermsFetcher:
    """Fetches a domain's pages on its terms."""

    def __init__(self, http: HttpFetcher, pool: ProxyPool) -> None:
        self._http = http
        self._pool = pool

    async def fetch(
        self,
        policy: Policy,
        href: str,
        permit: Permit,
        *,
        etag: str | None = None,
        last_modified: str | None = None,
        cut_at: int | None = None,
        wire_tag: int | None = None,
        price: Fields = (),
    ) -> Fetched:
        fetch = partial(
            self._http.fetch,
            href,
            permit,
            etag=etag,
            last_modified=last_modified,
            cut_at=cut_at,
            wire_tag=wire_tag,
            verify=policy.verify_tls,
            price=price,
        )
        if policy.proxies != "pool":
            return await fetch(via=None)
        return await self._through_proxies(policy.domain_id, permit, fetch)

    async def _through_proxies(
        self, domain_id: UUID, permit: Permit, fetch: Callable[..., Awaitable[Fetched]]
    ) -> Fetched:
        """Try one proxy after another until one works; never directly.

        The permit is used only on a ready connection, so a host gets at most one request.
        """
        tried: list[int] = []
        sentence = "no proxy is active; see: messor proxies list"
        fetched = Fetched(failed(PROXY_FAULT, sentence), began_at=clock.now())
        at_target, until = 0, clock.now() + TRYING_SECONDS
        while at_target < MAX_AT_TARGET and clock.now() < until and not permit.used_at:
            proxy = self._pool.pick(domain_id, tried)
            if proxy is None:
                wait = self._pool.free_in(domain_id, tried)
                if wait is None:
                    break
                await asyncio.sleep(wait)
                continue
            tried.append(proxy.id)
            fetched = await fetch(via=proxy)
            self._pool.note(proxy, domain_id, fetched)
            if fetched.error_type != PROXY_FAULT:
                break
            at_target += bool(fetched.detail and fetched.detail.get("at_target"))
        return fetched
