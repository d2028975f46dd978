"""Checks a page's address before it is handed to a service.

A service connects by itself, from a network that may be the operator's own: a page whose host is
internal must never reach it. The service's own look-up and redirects are beyond this check; the
service needs a guard of its own for those.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from messor.fetch.guard import AddressGuard, GuardedResolver, RefusedAddressError
from messor.fetch.outcome import Fetched, failed
from messor.web.suffixes import is_ip_literal
from messor.web.urls import parse

# The reason of a refusal, or None; raises OSError when the name cannot be looked up.
Check: TypeAlias = Callable[[str], Awaitable[str | None]]


class TargetCheck:
    """Checks a page with the guard: its URL, and every address of its name."""

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._resolver = GuardedResolver(guard)

    async def __call__(self, href: str) -> str | None:
        url = parse(href)
        if url is None:
            return "not a web address"
        refusal = self._guard.refusal_of_url(url)
        if refusal is not None or is_ip_literal(url.host):
            return refusal
        try:
            await self._resolver.resolve(url.host, url.port, socket.AF_UNSPEC)
        except RefusedAddressError as error:
            return error.strerror
        return None

    async def close(self) -> None:
        await self._resolver.close()


async def refusal_of(check: Check, href: str) -> Fetched | None:
    """The outcome of a page that may not be handed over; None when it may."""
    try:
        reason = await check(href)
    except OSError:
        return Fetched(failed("dns", "the host's name does not resolve"))
    if reason is None:
        return None
    return Fetched(failed("refused_address", reason))
