"""The address guard: which addresses and ports a request to a site may reach.

It checks the final socket address of every connection, so it covers literals, redirects and names
that change between look-up and connect. Public addresses on ports 80 and 443 pass; anything else
must be opened by the operator through `allowed_networks`.
"""

from __future__ import annotations

import errno
import socket
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import AsyncResolver

from messor.settings import AllowedNetworks
from messor.web.addresses import Address, embedded_v4, is_never_connected
from messor.web.suffixes import is_ip_literal, is_public_name
from messor.web.urls import Url

WEB_PORTS = frozenset({80, 443})
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Not for hosts, regardless of how a given Python's standard library classifies them.
_SPECIAL = tuple(
    ip_network(text) for text in ("192.0.0.0/24", "192.88.99.0/24", "2001:db8::/32", "3fff::/20")
)

AddrInfo = tuple[
    socket.AddressFamily | int, socket.SocketKind | int, int, str, tuple[str, int] | tuple[str, int, int, int]
]  # fmt: skip


class RefusedAddressError(OSError):
    """Refused by the guard; an OSError so that every HTTP library reports it as a failed connect."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EACCES, reason)


def operator_socket(info: AddrInfo) -> socket.socket:
    """A socket to an endpoint configured by the operator: it may be private, never link-local."""
    family, kind, protocol, _, place = info
    address = ip_address(str(place[0]).partition("%")[0])
    if is_never_connected(address):
        raise RefusedAddressError(f"connections to {address} are never allowed")
    connection = socket.socket(family, kind, protocol)
    connection.setblocking(False)
    return connection


def is_public(address: Address) -> bool:
    """Whether an address is part of the public internet, in any notation."""
    if isinstance(address, IPv6Address):
        inner = embedded_v4(address)
        if inner is not None and not is_public(inner):
            return False
        if address.ipv4_mapped:
            return True
        if address not in _GLOBAL_UNICAST and inner is None:
            return False
    if any(address in network for network in _SPECIAL):
        return False
    return address.is_global and not address.is_multicast


class AddressGuard:
    """Checks addresses against the operator's settings."""

    def __init__(self, allowed: AllowedNetworks) -> None:
        self._networks = [ip_network(text, strict=False) for text in allowed.addresses]
        self._ports = WEB_PORTS | set(allowed.ports)
        self.names = {name.lower(): _endpoint(target) for name, target in allowed.names.items()}

    def refusal_of_url(self, url: Url) -> str | None:
        """Why a URL may not be requested, checked before any look-up."""
        if f"{url.host}:{url.port}" in self.names:
            return None
        if is_ip_literal(url.host):
            return self.refusal(ip_address(url.host.strip("[]")), url.port)
        if url.port not in self._ports:
            return f"port {url.port} is not allowed (only {self._port_list()})"
        if not is_public_name(url.host):
            return f"{url.host} is not a public host name"
        return None

    def refusal(self, address: Address, port: int) -> str | None:
        """Why an address may not be connected to; None when it may."""
        if port not in self._ports:
            return f"port {port} is not allowed (only {self._port_list()})"
        return self._refusal_of_address(address)

    def refusal_of_proxy(self, address: Address, *, trusted: bool) -> str | None:
        """Why a proxy may not be reached at an address, on any port.

        A proxy added by the operator on the command line may be private.
        """
        if trusted and not is_never_connected(address):
            return None
        return self._refusal_of_address(address)

    def _refusal_of_address(self, address: Address) -> str | None:
        """Refuse link-local and metadata addresses even inside opened networks."""
        if is_never_connected(address):
            return f"connections to {address} are never allowed"
        if is_public(address) or any(address in network for network in self._networks):
            return None
        return f"{address} is not a public address"

    def socket_factory(self, info: AddrInfo) -> socket.socket:
        """A socket for an allowed address: the last check of every connection."""
        family, kind, protocol, _, place = info
        refusal = self.refusal(ip_address(str(place[0]).partition("%")[0]), int(place[1]))
        if refusal is not None:
            raise RefusedAddressError(refusal)
        connection = socket.socket(family, kind, protocol)
        connection.setblocking(False)
        return connection

    def _port_list(self) -> str:
        return ", ".join(str(port) for port in sorted(self._ports))


class GuardedResolver(AbstractResolver):
    """Resolves names: static names first, then DNS. One refused address refuses the name."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._dns: AsyncResolver | None = None

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        static = self._guard.names.get(f"{host}:{port}")
        if static is not None:
            address, target_port = static
            return [_result(host, str(address), target_port)]
        if self._dns is None:
            self._dns = AsyncResolver()
        results = await self._dns.resolve(host, port, family)
        for result in results:
            refusal = self._guard.refusal(ip_address(result["host"]), port)
            if refusal is not None:
                raise RefusedAddressError(f"{host}: {refusal}")
        return results

    async def close(self) -> None:
        if self._dns is not None:
            await self._dns.close()


def _endpoint(target: str) -> tuple[Address, int]:
    address, _, port = target.rpartition(":")
    return ip_address(address.strip("[]")), int(port)


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
    )
