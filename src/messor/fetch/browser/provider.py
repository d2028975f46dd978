"""The provider `browser` of the router: one permit, one render, one fetched page."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import TYPE_CHECKING

from messor.core import clock
from messor.core.logs import room_logger
from messor.errors import UnavailableError
from messor.fetch.browser.limits import BrowserLimits, why_unavailable
from messor.fetch.browser.pinning_proxy import PinningProxy
from messor.fetch.browser.traffic import Traffic
from messor.fetch.guard import AddressGuard
from messor.fetch.http import user_agent
from messor.fetch.identity.signer import RequestSigner
from messor.fetch.outcome import Fetched, failed
from messor.fetch.provider import PROVIDER_FAULT
from messor.politeness.pace import Permit
from messor.settings import Settings
from messor.web.urls import Url, parse

if TYPE_CHECKING:
    from messor.fetch.browser.pool import BrowserPool

logger = room_logger(__name__)


class BrowserProvider:
    """Renders pages; starts nothing before the first render."""

    name = "browser"
    is_remote = False  # its only way out is a proxy in this process
    paid = False

    def __init__(
        self,
        settings: Settings,
        limits: BrowserLimits,
        version: str,
        signer: RequestSigner | None = None,
    ) -> None:
        self._signer = signer
        self._limits = limits
        self._agent = user_agent(settings, version)
        self._max_bytes = settings.max_decoded_bytes
        self._guard = AddressGuard(settings.allowed_networks)
        self._proxy = PinningProxy(self._guard, connect_timeout=settings.connect_timeout)
        self._starting = asyncio.Lock()
        self.pool: BrowserPool | None = None

    @property
    def available(self) -> bool:
        """Whether Playwright and Chromium are installed."""
        return why_unavailable(self._limits) is None

    @property
    def resting(self) -> None:
        """Never paused: the browser is installed or it is not."""

    async def fetch(self, href: str, permit: Permit) -> Fetched:
        """Render one page; never raises for faults of the site or the browser."""
        started = clock.now()
        url = parse(href)
        refusal = "not a web address" if url is None else self._guard.refusal_of_url(url)
        if url is None or refusal is not None:
            fetched = Fetched(failed("refused_address", refusal))
        else:
            fetched = await self._fetch(url, permit)
        fetched.provider = self.name
        fetched.take_times(permit, started)
        return fetched

    async def close(self) -> None:
        """Close the browser and the proxy, with all their processes."""
        if self.pool is not None:
            await self.pool.close()
        await self._proxy.close()

    async def _fetch(self, url: Url, permit: Permit) -> Fetched:
        traffic = Traffic(url, permit, self._limits, self._signer)
        try:
            pool = await self._start()
            with self._proxy.admitting(traffic) as credential:
                fetched = await pool.render(url, traffic, credential)
        except UnavailableError as error:
            fetched = Fetched(failed(PROVIDER_FAULT, str(error)))
        finally:
            if traffic.has_departed:
                permit.finished()
        if traffic.lost is not None:
            raise traffic.lost
        fetched.detail = traffic.summary()
        fetched.received = traffic.total
        level = logging.INFO if traffic.has_refused else logging.DEBUG
        logger.log(level, "rendered %s: %s %s", url.href, fetched.outcome, fetched.detail)
        return fetched

    async def _start(self) -> BrowserPool:
        """The pool, created on first use: Playwright is optional and slow to import."""
        missing = why_unavailable(self._limits)
        if missing is not None:
            raise UnavailableError(missing)
        async with self._starting:
            if self.pool is None:
                from messor.fetch.browser.pool import BrowserPool  # noqa: PLC0415 - see above

                if os.getuid() == 0:
                    logger.warning(
                        "Chromium runs without its sandbox, because Messor runs as root."
                    )
                await self._proxy.start()
                self.pool = BrowserPool(self._limits, self._proxy.url, self._agent, self._max_bytes)
            return self.pool
