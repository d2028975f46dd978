"""The target of probes: a host of the operator's own, not a site.

`MESSOR_PROXY_PROBE_TARGET`, else the host of `MESSOR_CONTACT` when that is a web page.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self

from messor.errors import UsageError
from messor.fetch.guard import AddressGuard, GuardedResolver, RefusedAddressError
from messor.fetch.proxies.proxy import authority
from messor.settings import Settings
from messor.web.addresses import Address
from messor.web.suffixes import is_ip_literal
from messor.web.urls import parse

EXAMPLE = "example.org:443"


@dataclass(frozen=True, slots=True)
class Target:
    """A host and a port."""

    host: str
    port: int

    @classmethod
    def understand(cls, text: str) -> Self:
        """Parse a target as typed by a person: `host`, `host:port` or a URL."""
        url = parse(text if "://" in text else f"https://{text}")
        if url is None:
            raise UsageError(
                f"{text[:100]!r} is not a host to connect to. Write it like {EXAMPLE}."
            )
        return cls(url.host, url.port)

    async def places(self, guard: AddressGuard) -> list[tuple[Address, int]]:
        """Its addresses, each checked as a site's would be; IPv4 first."""
        name = authority(self.host, self.port)
        resolver = GuardedResolver(guard)
        try:
            if is_ip_literal(self.host):
                return [_judged(guard, self.host.strip("[]"), self.port)]
            found = await resolver.resolve(self.host, self.port, socket.AF_UNSPEC)
        except RefusedAddressError as error:
            raise UsageError(f"The probe target {name} is refused: {error.strerror}.") from error
        except OSError as error:
            raise UsageError(f"The probe target {name} does not resolve.") from error
        finally:
            await resolver.close()
        places = [_judged(guard, result["host"], result["port"]) for result in found]
        if not places:
            raise UsageError(f"The probe target {name} does not resolve.")
        return sorted(places, key=lambda place: place[0].version)


def _judged(guard: AddressGuard, text: str, port: int) -> tuple[Address, int]:
    address = ip_address(text)
    refusal = guard.refusal(address, port)
    if refusal is not None:
        raise RefusedAddressError(refusal)
    return address, port


def target_of(settings: Settings) -> Target | None:
    """The target configured in the settings."""
    if settings.proxy_probe_target is not None:
        return Target.understand(settings.proxy_probe_target)
    contact = settings.contact
    if not contact.startswith(("http://", "https://")) or "example.invalid" in contact:
        return None
    return Target.understand(contact)
