"""Explanations of crawl decisions, and robots.txt checks."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import ContextDep, DatabaseDep
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL, DomainName
from messor.api.models.operations import RobotsCheckIn, RobotsOut, WhyOut
from messor.explain import rights, robots_check, why
from messor.explain.inspect import inspect_robots
from messor.explain.rights import DomainRights, PageRights

router = APIRouter(tags=["rules"], route_class=GatedRoute)

Address = Annotated[str, Query(min_length=1, max_length=8_000, pattern=NO_NUL)]
Agent = Annotated[str | None, Query(min_length=1, max_length=200, pattern=NO_NUL)]


@router.get("/why")
@needs(Act.READ)
async def explain(url: Address, database: DatabaseDep, context: ContextDep) -> WhyOut:
    """Explain the crawl decision for a URL: stored facts and current rules."""
    return WhyOut.model_validate(await why.explain(database, context.settings, url))


@router.get("/rights")
@needs(Act.READ)
async def page_rights(url: Address, database: DatabaseDep, context: ContextDep) -> PageRights:
    """Get what a site says about the use of a page, and which statement decides each use."""
    return await rights.of_url(database, context.settings, url)


@router.get("/domains/{domain}/rights")
@needs(Act.READ)
async def domain_rights(domain: DomainName, database: DatabaseDep) -> DomainRights:
    """Get what a domain's pages say about their use, as they were fetched last."""
    return await rights.of_domain(database, domain)


@router.get("/robots")
@needs(Act.READ)
async def check_robots(
    url: Address, database: DatabaseDep, context: ContextDep, *, user_agent: Agent = None
) -> RobotsOut:
    """Check a URL against the stored robots.txt, with the matching rule."""
    found = await robots_check.check(database, context.settings, url, user_agent)
    return RobotsOut.model_validate(found)


@router.post("/robots")
@needs(Act.READ, own_transactions=True)
async def check_given_robots(given: RobotsCheckIn, context: ContextDep) -> RobotsOut:
    """Check a URL against a supplied robots.txt, with the matching rule."""
    agent = given.user_agent or context.settings.agent_token
    found = inspect_robots({**given.model_dump(), "user_agent": agent})
    return RobotsOut.model_validate(found)
