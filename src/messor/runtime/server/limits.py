"""How much of the server one client, and all clients, may use at a time."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Self

from messor.runtime.server import descriptors
from messor.settings import Settings

# Seconds a response may wait for its client, and a closed connection for its end.
WRITE_SECONDS = 30.0
LINGER_SECONDS = 2.0
SLOWEST_BODY = 8_192  # bytes per second, on average, after the first seconds
BODY_BYTES = 64_000_000  # of all request bodies in progress together


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """As configured for an installation."""

    connections: int
    by_address: int
    head_seconds: float
    body_seconds: float
    proxies: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            connections=descriptors.share(settings.listen_connections),
            by_address=settings.listen_connections_per_address,
            head_seconds=settings.listen_head_seconds,
            body_seconds=settings.listen_body_seconds,
            proxies=tuple(settings.trusted_proxies),
        )

    def is_proxy(self, address: str | None) -> bool:
        """Whether many people share this address; they are counted by their own instead."""
        return "*" in self.proxies or address in self.proxies or _is_within(address, self.proxies)


def _is_within(address: str | None, proxies: tuple[str, ...]) -> bool:
    try:
        found = ip_address(address or "")
        return any(found in ip_network(one) for one in proxies if "/" in one)
    except ValueError:
        return False
