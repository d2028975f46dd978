"""The request of a delivery: one POST to an address that the guard allows.

Every connection is checked, redirects are not followed, and nothing of a response is read but its
status.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from aiohttp import ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from messor.core.masking import mask_text
from messor.errors import UsageError
from messor.fetch.failures import words
from messor.fetch.guard import AddressGuard, GuardedResolver
from messor.fetch.tls import verifying_context
from messor.ledger.errors import Category
from messor.ops.webhooks.registry import check_url
from messor.settings import Settings

SECONDS = 15.0


class Refused(Exception):  # noqa: N818 - a finding, not an error of ours
    """The receiver did not accept it; `gone` if it wants no more."""

    def __init__(self, message: str, *, gone: bool = False, category: Category = "http") -> None:
        super().__init__(message)
        self.gone = gone
        self.category = category


class GuardedPost:
    """Posts bodies to receivers."""

    def __init__(self, settings: Settings, *, seconds: float = SECONDS) -> None:
        self._guard = AddressGuard(settings.allowed_networks)
        self._ca_file = settings.ca_file
        self._seconds = seconds

    async def send(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Send it; returns the status if it was accepted, else raises Refused."""
        try:
            target = check_url(url, self._guard)
            async with (
                self._session() as session,
                session.post(
                    target.href,
                    data=body,
                    headers={**headers, "Content-Type": "application/json"},
                    allow_redirects=False,
                ) as response,
            ):
                status = response.status
        except UsageError as error:
            raise Refused(str(error), category="validation") from error
        except (ClientError, OSError) as error:
            raise Refused(
                f"It could not be reached: {mask_text(words(error))}.", category="network"
            ) from error
        if not 200 <= status < 300:
            raise Refused(f"It returned {status}.", gone=status == 410)
        return status

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[ClientSession]:
        resolver = GuardedResolver(self._guard)
        connector = TCPConnector(
            resolver=resolver,
            socket_factory=self._guard.socket_factory,
            ssl=verifying_context(self._ca_file),
            force_close=True,
        )
        try:
            async with ClientSession(
                connector=connector,
                timeout=ClientTimeout(total=self._seconds),
                cookie_jar=DummyCookieJar(),
                trust_env=False,
                headers={"User-Agent": "Messor-Webhooks/1"},
            ) as session:
                yield session
        finally:
            await resolver.close()
