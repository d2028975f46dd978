"""What clients ask to test a key, and how much it may still do."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from messor.access import key_policies
from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.context import PrincipalDep
from messor.api.firecrawl.answers import answer
from messor.api.firecrawl.route import FirecrawlRoute, ServicesDep
from messor.api.gate import needs
from messor.scrape.jobs import LOAD
from messor.scrape.services import ScrapeServices

router = APIRouter(route_class=FirecrawlRoute)

UNLIMITED = 1_000_000  # pages of a key without a policy: there is no budget to run out of
CONCURRENCY = 50  # jobs that are looked after at a time; requests are paced by host


async def _credits(services: ScrapeServices, principal: Principal) -> tuple[int, int]:
    """Pages that the key may still have fetched today, and in all."""
    policy = await key_policies.of(services.database, principal)
    if policy is None:
        return UNLIMITED, UNLIMITED
    left = await key_policies.left(services.database, policy.key_id)
    return left or 0, policy.pages_a_day


@router.get("/v2/team/credit-usage")
@needs(Act.READ)
async def show_credits(services: ServicesDep, principal: PrincipalDep) -> Response:
    """Pages that the key may still have fetched today."""
    left, plan = await _credits(services, principal)
    data = {"remainingCredits": left, "planCredits": plan, "billingPeriodStart": None,
            "billingPeriodEnd": None}  # fmt: skip
    return answer({"success": True, "data": data})


@router.get("/v1/team/credit-usage")
@needs(Act.READ)
async def show_credits_v1(services: ServicesDep, principal: PrincipalDep) -> Response:
    """The same, as version 1 has it."""
    left, _ = await _credits(services, principal)
    return answer({"success": True, "data": {"remaining_credits": left}})


@router.get("/v2/team/token-usage")
@needs(Act.READ)
async def show_tokens(services: ServicesDep, principal: PrincipalDep) -> Response:
    """Tokens of models: none are used here, so the pages stand for them."""
    left, plan = await _credits(services, principal)
    data = {"remainingTokens": left, "planTokens": plan, "billingPeriodStart": None,
            "billingPeriodEnd": None}  # fmt: skip
    return answer({"success": True, "data": data})


@router.get("/v2/team/credit-usage/historical")
@needs(Act.READ)
async def show_past_credits() -> Response:
    """No periods are billed, so that none are listed."""
    return answer({"success": True, "periods": []})


@router.get("/v2/team/token-usage/historical")
@needs(Act.READ)
async def show_past_tokens() -> Response:
    """The same for tokens."""
    return answer({"success": True, "periods": []})


@router.get("/v2/team/queue-status")
@needs(Act.READ)
async def show_queue(services: ServicesDep, principal: PrincipalDep) -> Response:
    """The caller's jobs that are not done."""
    row = await services.database.fetchrow(LOAD, principal.actor)
    assert row is not None
    last = row["last_success"]
    return answer(
        {
            "success": True,
            "jobsInQueue": row["all_jobs"],
            "activeJobsInQueue": row["all_jobs"],
            "waitingJobsInQueue": 0,
            "maxConcurrency": CONCURRENCY,
            "mostRecentSuccess": last.isoformat() if last else None,
        }
    )


@router.get("/v2/concurrency-check")
@needs(Act.READ)
async def show_concurrency(services: ServicesDep, principal: PrincipalDep) -> Response:
    """How many of the caller's jobs run."""
    row = await services.database.fetchrow(LOAD, principal.actor)
    assert row is not None
    data = {"concurrency": row["all_jobs"], "maxConcurrency": CONCURRENCY}
    return answer({"success": True, "data": data, **data})
