"""The seam between the router and whoever fetches: our own HTTP, a browser, a service."""

from __future__ import annotations

from typing import Protocol

from messor.fetch.outcome import Fetched
from messor.politeness.pace import Permit

# `error_type` of a fetch that failed at the provider, before the site was heard: the next
# provider may still succeed, and nothing is known of the page.
PROVIDER_FAULT = "provider"


class Provider(Protocol):
    """Fetches one page with one permit; never raises for what a site or a service does.

    The permit is used (`permit.use()`) just before the site can be contacted. A provider that
    talks to the site on its own calls `permit.finished()` when it is done: the lane's next
    request is then due `delay` after that.
    """

    name: str

    @property
    def paid(self) -> bool:
        """Whether a page costs money."""
        ...

    @property
    def available(self) -> bool:
        """Whether asking makes sense now."""
        ...

    @property
    def resting(self) -> str | None:
        """Why it is left alone for a time, in a sentence; None when it is not, or never there."""
        ...

    async def fetch(self, href: str, permit: Permit) -> Fetched: ...

    async def close(self) -> None: ...
