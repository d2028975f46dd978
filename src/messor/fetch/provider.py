"""The interface between the router and a provider: our own HTTP, a browser, a service."""

from __future__ import annotations

from typing import Protocol

from messor.fetch.outcome import Fetched
from messor.politeness.pace import Permit

# `error_type` of a fetch that failed at the provider, before the site responded: the next provider
# may still succeed, and nothing is known about the page.
PROVIDER_FAULT = "provider"


class Provider(Protocol):
    """Fetches one page with one permit; never raises for faults of a site or service.

    The permit is used (`permit.use()`) just before the site can be contacted. A provider that
    contacts the site on its own calls `permit.finished()` when it is done: the lane's next request
    is then due `delay` after that.
    """

    name: str
    is_remote: bool  # contacts the site by itself, even if this process has died meanwhile

    @property
    def paid(self) -> bool:
        """Whether a page costs money."""
        ...

    @property
    def available(self) -> bool:
        """Whether the provider can be used now."""
        ...

    @property
    def resting(self) -> str | None:
        """Why the provider is paused, in a sentence; None when it is not paused or not configured."""
        ...

    async def fetch(self, href: str, permit: Permit) -> Fetched: ...

    async def close(self) -> None: ...
