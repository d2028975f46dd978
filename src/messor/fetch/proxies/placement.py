"""Allowed addresses of proxies: checked when one is added, and again at every connection.

Otherwise anyone who adds a proxy over the API or the console could make Messor connect to machines
that only it can reach. A private address must be opened by the operator, by `allowed_networks` or
by adding the proxy on the command line; link-local and metadata addresses are never used.
"""

from __future__ import annotations

import asyncio
import socket
from ipaddress import ip_address

from messor.errors import UsageError
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.proxy import ProxyAddress
from messor.settings import Settings
from messor.web.suffixes import is_ip_literal

LOOKUP_SECONDS = 5.0


async def judge(settings: Settings, endpoint: ProxyAddress, *, trusted: bool) -> None:
    """Raise an error when a proxy's address is not allowed.

    A name that does not resolve yet passes: every connection is checked again.
    """
    guard = AddressGuard(settings.allowed_networks)
    for text in await _addresses(endpoint):
        refusal = guard.refusal_of_proxy(ip_address(text), trusted=trusted)
        if refusal is not None:
            where = "" if _is_address(endpoint.host) else f" ({endpoint.host})"
            raise UsageError(f"This proxy address is not allowed: {refusal}{where}.{_way(refusal)}")


def _way(refusal: str) -> str:
    if "never" in refusal:
        return ""
    return (
        " The operator may add it with: messor proxies add, or open its network with "
        "MESSOR_ALLOWED_NETWORKS__ADDRESSES."
    )


async def _addresses(endpoint: ProxyAddress) -> list[str]:
    if _is_address(endpoint.host):
        return [endpoint.host]
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(LOOKUP_SECONDS):
            found = await loop.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError):
        return []
    return list(dict.fromkeys(str(info[4][0]).partition("%")[0] for info in found))


def _is_address(host: str) -> bool:
    """IPv6 addresses of proxies are stored without brackets."""
    return is_ip_literal(host) or ":" in host
