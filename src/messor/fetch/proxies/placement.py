"""Where proxies may be: judged when one is added, and again at every connection.

Whoever adds one over the API or in the console could otherwise have Messor connect to machines
that only it can reach. A private address is for the operator to open, by `allowed_networks` or by
adding the proxy on the command line; link-local and metadata addresses are never used.
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
    """Raise a sentence when a proxy may not be where it is said to be.

    A name without an address yet is let through: connecting to it is judged again.
    """
    guard = AddressGuard(settings.allowed_networks)
    for text in await _addresses(endpoint):
        refusal = guard.refusal_of_proxy(ip_address(text), trusted=trusted)
        if refusal is not None:
            where = "" if _is_address(endpoint.host) else f" ({endpoint.host})"
            raise UsageError(f"A proxy cannot be there: {refusal}{where}.{_way(refusal)}")


def _way(refusal: str) -> str:
    if "never" in refusal:
        return ""
    return (
        " The operator may add it with: messor proxies add, or open its network by "
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
    """IPv6 addresses of proxies are kept without brackets."""
    return is_ip_literal(host) or ":" in host
