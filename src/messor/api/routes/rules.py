"""Decisions about URLs: why something happened or would, and what robots.txt says."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.gate import GatedRoute, needs
from messor.api.house import Here, Source
from messor.api.models.base import NO_NUL
from messor.api.models.operations import RobotsCheckIn, RobotsOut, WhyOut
from messor.explain import robots_check, why
from messor.explain.inspect import inspect_robots

router = APIRouter(tags=["rules"], route_class=GatedRoute)

Address = Annotated[str, Query(min_length=1, max_length=8_000, pattern=NO_NUL)]
Agent = Annotated[str | None, Query(min_length=1, max_length=200, pattern=NO_NUL)]


@router.get("/why")
@needs(Act.READ)
async def explain(url: Address, source: Source, here: Here) -> WhyOut:
    """The chain of facts behind what happened, or would happen, to a URL."""
    return WhyOut.model_validate(await why.explain(source, here.settings, url))


@router.get("/robots")
@needs(Act.READ)
async def check_robots(
    url: Address, source: Source, here: Here, *, user_agent: Agent = None
) -> RobotsOut:
    """Whether the robots.txt in force allows a URL, by which rule."""
    found = await robots_check.check(source, here.settings, url, user_agent)
    return RobotsOut.model_validate(found)


@router.post("/robots")
@needs(Act.READ, own_transactions=True)
async def check_given_robots(given: RobotsCheckIn, here: Here) -> RobotsOut:
    """Whether a robots.txt one brings along allows a URL, by which rule."""
    agent = given.user_agent or here.settings.agent_token
    found = inspect_robots({**given.model_dump(), "user_agent": agent})
    return RobotsOut.model_validate(found)
