"""Robots check: whether an agent may fetch a URL by the stored robots.txt.

It uses what was read before and fetches nothing; `explain.inspect` checks a given text.
"""

from __future__ import annotations

from messor.errors import NotFoundError, UsageError
from messor.politeness import hosts
from messor.politeness.robots import RobotsCache
from messor.settings import Settings
from messor.store.database import Database
from messor.web.robots import RobotsDecision
from messor.web.urls import parse


async def check(
    database: Database, settings: Settings, text: str, agent: str | None = None
) -> RobotsDecision:
    """The decision and its rule; raises if the host's robots.txt was not read yet."""
    url = parse(text if "://" in text else f"https://{text}")
    if url is None:
        raise UsageError(f"{text[:200]!r} is not a web address.")
    agent = agent or settings.agent_token
    host = await hosts.find(database, url.authority, settings.default_delay)
    robots_id = host.robots_for(url.scheme) if host is not None else None
    if robots_id is None:
        raise NotFoundError(f"The robots.txt of {url.origin} was not read yet.")
    robots_cache = RobotsCache(database, agent)
    robots = (await robots_cache.get({robots_id}))[robots_id]
    decision = robots.check(agent, url.href)
    if decision is not None:
        return decision
    allowed = robots.file.verdict == "allow_all"
    reason = f"{robots.file.verdict}:{robots.file.reason}"
    return RobotsDecision(allowed, reason, None, agent, robots.file.crawl_delay)
