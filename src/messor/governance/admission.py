"""Admission: the tasks that an approval creates, in the approval's transaction."""

from __future__ import annotations

from messor.errors import UsageError
from messor.frontier import tasks
from messor.governance import erasure
from messor.politeness import lanes
from messor.registry import domains, submissions
from messor.registry.domains import Domain
from messor.store.database import Connection
from messor.web.urls import Url, parse

# A robots.txt that could not be fetched is retried when a person requests the site; a wait that the
# host demanded in a response remains. Where both schemes are possible, only that of the given URL
# is tried: a failure of the other would close the host again before its turn.
ASK_ROBOTS_AGAIN = """
WITH shut AS (
  SELECT h.id, h.https_error, greatest(messor.clock(), h.last_request_at
         + make_interval(secs => l.delay)) AS ready_at
    FROM messor.hosts h JOIN messor.lanes l ON l.host_id = h.id
    JOIN messor.robots_files r ON r.id = h.robots_id
   WHERE h.host = $1 AND r.verdict = 'deny_all' AND r.status_code IS NULL
     AND l.worker_id IS NULL AND h.cooldown_reason IS NOT DISTINCT FROM r.reason
), opened AS (
  UPDATE messor.hosts h SET cooldown_until = NULL, cooldown_reason = NULL,
         updated_at = messor.clock() FROM shut s WHERE h.id = s.id
), asked AS (
  UPDATE messor.crawl_tasks t SET due_at = messor.clock(), status = 'pending', retry_count = 0
    FROM shut s JOIN messor.pages p ON p.host_id = s.id
   WHERE t.page_id = p.id AND t.kind = 'robots'
     AND (s.https_error IS NOT NULL OR p.url = $2 || '/robots.txt')
)
UPDATE messor.lanes l SET ready_at = s.ready_at, due_at = messor.clock(), claim_at = s.ready_at
  FROM shut s WHERE l.host_id = s.id
"""


async def approve(connection: Connection, domain: Domain, *, actor: str) -> Domain:
    """Approve a domain and add its start page to the frontier."""
    await erasure.bar_erased(connection, domain)
    domain = await domains.move(
        connection,
        domain,
        "approved",
        actor=actor,
        start_url=domain.base_url,
        max_depth=domain.max_crawl_depth,
        rate_limit=domain.crawl_delay_seconds,
    )
    base = parse(domain.base_url)
    assert base is not None
    await plant(connection, domain, base, found_by="seed")
    await lanes.settle_main_host(connection, domain.id, base.authority)
    await lanes.wake_domain(connection, domain.id)
    return domain


async def plant(connection: Connection, domain: Domain, url: Url, *, found_by: str) -> int:
    """Add a URL of an approved domain to the frontier, preceded by its host's robots.txt."""
    url = await lanes.answering(connection, url)
    await submissions.check_erased(connection, domain.domain, url)
    host_id = await lanes.open_host(connection, domain.id, url.authority)
    robots = parse(f"{url.origin}/robots.txt")
    if robots is None:
        raise UsageError(f"{url.href} cannot be crawled.")
    await tasks.add_robots(connection, host_id, robots)
    return await tasks.add(connection, host_id, url, found_by=found_by)


async def ask_robots_again(connection: Connection, url: Url) -> None:
    """Retry now a robots.txt that could not be fetched, because a person requests the site.

    The caller holds its lane's lock.
    """
    await connection.execute(ASK_ROBOTS_AGAIN, url.authority, url.origin)
