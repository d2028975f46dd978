"""Hosts that misbehave, each in one way and named for it.

Every host has a working homepage unless its whole point is that nothing works, so that a crawler
meets the flaw on the way.
"""

from __future__ import annotations

from collections.abc import Callable

from simweb.addresses import address
from simweb.mischief import content, redirects, refusals, robotsfiles, traps, wire
from simweb.mischief.flaw import Flaw, FlawedHost
from simweb.sites import Site, domain_of


def mischief_sites(seed: int, now: Callable[[], float], first_address: int) -> list[Site]:
    flaws = [
        *redirects.flaws(),
        *refusals.flaws(now),
        *traps.flaws(seed),
        *wire.flaws(seed),
        *content.flaws(seed),
        *robotsfiles.flaws(seed),
    ]
    return [_site(flaw, first_address + number) for number, flaw in enumerate(flaws)]


def _site(flaw: Flaw, number: int) -> Site:
    return Site(
        flaw.host,
        domain_of(flaw.host),
        flaw.kind,
        address(number),
        flaw.pages,
        FlawedHost(flaw),
        misbehaves=True,
        jitter_ms=flaw.jitter_ms,
    )
