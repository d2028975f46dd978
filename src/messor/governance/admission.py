"""Admission: what approval sets in motion, in the same transaction as the approval."""

from __future__ import annotations

from messor.errors import UsageError
from messor.frontier import tasks
from messor.governance import erasure
from messor.politeness import lanes
from messor.registry import domains, submissions
from messor.registry.domains import Domain
from messor.store.database import Connection
from messor.web.urls import Url, parse


async def approve(connection: Connection, domain: Domain, *, actor: str) -> Domain:
    """Approve a domain and put its start page on the frontier."""
    await erasure.bar_erased(connection, domain)
    domain = await domains.move(connection, domain, "approved", actor=actor)
    base = parse(domain.base_url)
    assert base is not None
    await plant(connection, domain, base, found_by="seed")
    await lanes.settle_main_host(connection, domain.id, base.authority)
    await lanes.wake_domain(connection, domain.id)
    return domain


async def plant(connection: Connection, domain: Domain, url: Url, *, found_by: str) -> int:
    """Put a URL of an approved domain on the frontier, its host's robots.txt before it."""
    url = await lanes.answering(connection, url)
    await submissions.check_erased(connection, domain.domain, url)
    host_id = await lanes.open_host(connection, domain.id, url.authority)
    robots = parse(f"{url.origin}/robots.txt")
    if robots is None:
        raise UsageError(f"{url.href} cannot be crawled.")
    await tasks.add_robots(connection, host_id, robots)
    return await tasks.add(connection, host_id, url, found_by=found_by)
