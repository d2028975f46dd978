"""Changing a domain's crawl terms, and what follows for work that is already scheduled."""

from __future__ import annotations

from collections.abc import Collection
from operator import attrgetter
from typing import Unpack

from messor.politeness import lanes, limits
from messor.registry import domains
from messor.registry.domains import Domain
from messor.registry.terms import Terms
from messor.store.database import Connection

FREQUENCY = "every_hours"
limits_of = attrgetter("crawl_hours", "time_zone", "megabytes_per_day")
HASTEN = "SELECT messor.hasten_tasks($1)"


async def change(
    connection: Connection,
    domain: Domain,
    *,
    actor: str,
    reset: Collection[str] = (),
    **terms: Unpack[Terms],
) -> Domain:
    """Reset some terms to their default and set others.

    A shorter frequency makes pages due earlier; a priority, hours and megabytes apply to the next claim
    of its hosts.
    """
    limits_before = limits_of(domain)
    if reset:
        domain = await domains.restore(connection, domain, reset, actor=actor)
    if any(value is not None for value in terms.values()):
        domain = await domains.configure(connection, domain, actor=actor, **terms)
    if terms.get("priority") is not None:
        await lanes.favour(connection, domain.id, domain.priority)
    if limits_of(domain) != limits_before:
        await limits.reopen(connection, domain.id)
        await lanes.wake_domain(connection, domain.id)
    if FREQUENCY in reset or terms.get(FREQUENCY) is not None:
        await connection.execute(HASTEN, domain.id)
    return domain
