"""Where a request comes from, as far as the interface can tell."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from messor.access.typed_text import plain

_USER_AGENT = 300


@dataclass(frozen=True, slots=True)
class Origin:
    """An IP address and a user agent, as noted by the interface."""

    address: str | None = None
    user_agent: str | None = None

    @property
    def network(self) -> str:
        """What counts as one client: an IPv4 address, or a /64 network of IPv6."""
        return network_of(self.address)

    @property
    def stored_address(self) -> str | None:
        """The address in its short form; None when it is not one."""
        found = _understand(self.address)
        return None if found is None else str(found)

    @property
    def stored_agent(self) -> str | None:
        return plain(self.user_agent or "")[:_USER_AGENT] or None


def network_of(address: str | None) -> str:
    found = _understand(address)
    if found is None:
        return "unknown"
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, 64), strict=False))


def _understand(address: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found
