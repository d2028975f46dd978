"""The traffic of one render: its limits, its counts and its permit.

Two callers count here: the page's routes see each request, the proxy each connection. Only the
proxy is a barrier; requests within a TLS connection are counted by the routes alone.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from messor.errors import LeaseLostError
from messor.fetch.browser.limits import BrowserLimits
from messor.fetch.guard import WEB_PORTS
from messor.fetch.identity.signer import Fields, RequestSigner
from messor.fetch.outcome import Fetched, failed
from messor.politeness.pace import Permit
from messor.web.urls import Url

MAX_HOSTS = 100  # counted separately; a page may name any number
MAX_REFUSALS = 20  # recorded with their reasons
OTHERS = "(others)"


@dataclass(slots=True)
class HostCount:
    """Counts of one render for one host."""

    requests: int = 0
    connections: int = 0
    bytes: int = 0
    refused: int = 0


class Traffic:
    """Traffic account of one render, open until the render ends."""

    def __init__(
        self,
        url: Url,
        permit: Permit,
        limits: BrowserLimits,
        signer: RequestSigner | None = None,
    ) -> None:
        self.lane = place_of(url)
        self._origin = url.origin
        self._signer = signer if signer is not None and signer.is_on else None
        self.failure: Fetched | None = None  # why the page itself could not be fetched
        self.lost: LeaseLostError | None = None
        self.limit: str | None = None  # the first limit that was reached
        self.has_departed = False  # the page itself was requested
        self.is_closed = False
        self.blocked: Counter[str] = Counter()  # requests blocked, by type
        self.hosts: dict[str, HostCount] = {}
        self._permit = permit
        self._limits = limits
        self._refusals: list[str] = []
        self._requests: Counter[bool] = Counter()  # by whether they went to the lane's host
        self._connections: Counter[bool] = Counter()
        self._bytes = 0
        self._is_answered = False
        self._open: set[asyncio.WriteTransport] = set()

    @property
    def has_refused(self) -> bool:
        return bool(self._refusals)

    @property
    def is_signing(self) -> bool:
        return self._signer is not None

    def sign(self, url: Url) -> Fields:
        """The fields that sign a request of the render; none for another origin.

        There, fields of ours would turn a plain request into one that needs the other server's
        consent first (CORS), which breaks pages.
        """
        made = self._signer.sign(url) if self._signer and url.origin == self._origin else None
        if made is None:
            return ()
        self._permit.signed_by = made.key
        return made.fields

    def may_ask(self, place: str) -> bool:
        """Count a request of the page, other than the one for the page itself."""
        self._requests[place == self.lane] += 1
        self._count(place).requests += 1
        reason = self._excess(self._requests, place, main=0)
        if reason is not None:
            self.refuse(place, reason)
        return reason is None

    def refusal(self, place: str) -> str | None:
        """Count a connection about to be made; the reason if it is refused, else None."""
        if self.is_closed:
            return "the render has ended"
        if place != self.lane and not self.has_departed:
            return "no connection is allowed before the page's own request"
        self._connections[place == self.lane] += 1
        return self._excess(self._connections, place, main=1)

    def depart(self, place: str) -> None:
        """Use the permit on the first ready connection to the lane's host, and record each
        departure.
        """
        if self.is_closed:
            raise ConnectionAbortedError("the render has ended")
        if place == self.lane and not self.has_departed:
            try:
                self._permit.use()
            except LeaseLostError as error:
                self.lost = error
                raise
            self.has_departed = True
        self._count(place).connections += 1

    def sent(self, place: str, size: int) -> bool:
        """Count bytes to a host; whether more are allowed."""
        self._count(place).bytes += size
        self._bytes += size
        if self._bytes <= self._limits.traffic_bytes:
            return True
        self._reach("bytes")
        return False

    def received(self, place: str, size: int) -> bool:
        """Count bytes from a host; whether more are allowed."""
        if place == self.lane and not self._is_answered:
            self._is_answered = True
            self._permit.answered()
        return self.sent(place, size)

    @property
    def total(self) -> int:
        """Bytes in both directions, of all hosts."""
        return self._bytes

    def refuse(self, place: str, reason: str) -> None:
        """Record a refusal; if it concerns the page itself, the render fails."""
        self._count(place).refused += 1
        if len(self._refusals) < MAX_REFUSALS:
            self._refusals.append(f"{place}: {reason}")
        self.break_off(place, "refused_address", reason)

    def break_off(self, place: str, error_type: str, error: str) -> None:
        """Record that a host could not be reached or broke the protocol.

        Once the lane's host was reached the page itself was requested: later failures concern
        sub-resources.
        """
        if place == self.lane and not self.has_departed and self.failure is None:
            self.failure = Fetched(failed(error_type, error))

    def hold(self, transport: asyncio.WriteTransport) -> None:
        """Track a connection, to be closed when the render ends."""
        self._open.add(transport)

    def release(self, transport: asyncio.WriteTransport) -> None:
        self._open.discard(transport)

    def close(self) -> None:
        """End the render's traffic at once: nothing more reaches a site."""
        self.is_closed = True
        for transport in self._open:
            transport.abort()
        self._open.clear()

    def summary(self) -> dict[str, Any]:
        """The counts, for the fetch's detail."""
        return {
            "hosts": {host: asdict(count) for host, count in self.hosts.items()},
            "bytes": self._bytes,
            "blocked": dict(self.blocked),
            "refusals": self._refusals,
            "limit": self.limit,
        }

    def _excess(self, counted: Counter[bool], place: str, *, main: int) -> str | None:
        is_here = place == self.lane
        most = self._limits.requests_here + main if is_here else self._limits.requests_elsewhere
        if counted[is_here] <= most:
            return None
        self._reach("requests_here" if is_here else "requests_elsewhere")
        return "the render has used up its requests"

    def _reach(self, limit: str) -> None:
        self.limit = self.limit or limit

    def _count(self, place: str) -> HostCount:
        if place not in self.hosts and len(self.hosts) >= MAX_HOSTS:
            place = OTHERS
        return self.hosts.setdefault(place, HostCount())


def place_of(url: Url) -> str:
    """The key of a host: its name, and its port unless that is 80 or 443."""
    return url.host if url.port in WEB_PORTS else f"{url.host}:{url.port}"
