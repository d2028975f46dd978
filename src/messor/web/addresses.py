"""Classifies IP addresses: embedded IPv4 addresses, and addresses never connected to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address

_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_V4_COMPATIBLE = IPv6Network("::/96")
# Cloud metadata services, besides 169.254.169.254, which is link-local.
_METADATA = frozenset(
    ip_address(text)
    for text in ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)


def embedded_v4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address embedded in an IPv6 address, in any of the transition forms."""
    if address.ipv4_mapped:
        return address.ipv4_mapped
    if address.sixtofour:
        return address.sixtofour
    if address.teredo:
        return address.teredo[1]
    if any(address in network for network in _NAT64) or (
        address in _V4_COMPATIBLE and int(address) > 0xFFFF
    ):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def is_never_connected(address: Address) -> bool:
    """Addresses that no setting can open: link-local ones, and cloud metadata services."""
    if isinstance(address, IPv6Address):
        inner = embedded_v4(address)
        if inner is not None and is_never_connected(inner):
            return True
    return (
        address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or address in _METADATA
    )
