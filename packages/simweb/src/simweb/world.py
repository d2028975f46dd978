"""The simulated web as a pure value: sites generated from a seed, and their responses.

It opens no socket. Only hosts that ration requests use the clock, which is passed in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum

from simweb import bulk, demo
from simweb.answers import Request, SimResponse, plain
from simweb.conditions import Conditions
from simweb.market.build import MARKETS, open_market
from simweb.sites import Site


class Profile(Enum):
    DEMO = "demo"
    BENCH = "bench"
    CHAOS = "chaos"
    MARKET = "market"


class World:
    def __init__(
        self,
        profile: Profile | str,
        seed: int = 7,
        *,
        hosts: int | None = None,
        pages: int | None = None,
        page_bytes: int = 51_000,
        tls: bool = False,
        conditions: Conditions | None = None,
        market: str | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.profile = Profile(profile)
        self.seed = seed
        self.tls = tls
        self.conditions = conditions or Conditions()
        self.market = open_market(market or MARKETS[0], seed) if self._is_market else None
        self.sites = self._build(hosts, pages, page_bytes, now)
        self._by_host = {site.host: site for site in self.sites}

    @property
    def _is_market(self) -> bool:
        return self.profile is Profile.MARKET

    def _build(
        self, hosts: int | None, pages: int | None, page_bytes: int, now: Callable[[], float]
    ) -> tuple[Site, ...]:
        if self.market is not None:
            return self.market.sites
        if self.profile is Profile.BENCH:
            return bulk.bench_sites(
                self.seed, hosts or 20, pages or 200, page_bytes, self.conditions, tls=self.tls
            )
        if self.profile is Profile.DEMO:
            return demo.demo_sites(self.seed, now, tls=self.tls)
        return bulk.chaos_sites(self.seed, hosts or 300, pages, self.conditions, tls=self.tls)

    def site(self, host: str) -> Site:
        return self._by_host[host]

    def respond(
        self,
        host: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        epoch: int = 0,
        *,
        secure: bool | None = None,
    ) -> SimResponse:
        """The response to a GET.

        Header names are in lower case. `secure` defaults to the site's.
        """
        site = self._by_host.get(host)
        if site is None:
            return plain(421, f"No host {host} lives here.\n")
        if secure is None:
            secure = site.secure
        elif site.secure and not secure:
            return site.to_https(path)
        return site.responder.respond(Request(host, path, headers or {}, epoch, secure))

    def warm(self, epoch: int = 0) -> None:
        """Prepare what can be prepared; responding afterwards costs little."""
        for site in self.sites:
            site.responder.warm(epoch)
