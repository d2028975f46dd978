"""HTTP on a domain's terms: through a proxy or directly, with certificates checked or not."""

from __future__ import annotations

from messor.courtesy.lanes import Policy
from messor.courtesy.pace import Permit
from messor.fetch.http import HttpFetcher
from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.proxies.pool import Pool
from messor.fetch.proxies.proxy import PROXY_FAULT
from messor.kit import clock


class TermsFetcher:
    """Fetches a domain's pages as its terms say."""

    def __init__(self, http: HttpFetcher, pool: Pool) -> None:
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
    ) -> Fetched:
        proxy = self._pool.pick() if policy.proxies == "pool" else None
        if policy.proxies == "pool" and proxy is None:
            # Never directly instead: that is what the domain's terms exclude.
            sentence = "no proxy is active: messor proxies list"
            return Fetched(
                Outcome.ERROR, error=sentence, error_type=PROXY_FAULT, began_at=clock.now()
            )
        fetched = await self._http.fetch(
            href,
            permit,
            etag=etag,
            last_modified=last_modified,
            cut_at=cut_at,
            wire_tag=wire_tag,
            via=proxy,
            verify=policy.verify_tls,
        )
        if proxy is not None:
            self._pool.note(proxy, policy.domain_id, fetched)
        return fetched
