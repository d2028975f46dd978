"""Retention: rules by which old snapshots go, holds, and what would go."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.governance import retention, retention_queries
from messor.governance.retention import NewRule
from messor.governance.retention_queries import (
    HOLDS,
    RULES,
    HoldFilter,
    Outcome,
    RetentionHold,
    RetentionRule,
    RuleFilter,
    WouldGo,
)
from messor.store.listing import ListPage

router = APIRouter(prefix="/retention", tags=["retention"], route_class=GatedRoute)


class RetentionRuleIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="Its name")
    domain: str | None = Field(default=None, max_length=2_000, description="Only this domain")
    vertical: str | None = Field(
        default=None, max_length=100, description="Only domains of this vertical"
    )
    outcome: Outcome = Field(default="any", description="good, bad (blocked, empty …) or any")
    days: int | None = Field(default=None, ge=0, le=36_500, description="At least this old")
    versions: int | None = Field(
        default=None, ge=1, le=100_000, description="Beyond the newest ones of a page"
    )


class HoldIn(BaseModel):
    model_config = ConfigDict(extra="forbid")

    what: str = Field(min_length=1, max_length=2_000, description="A domain, or a page's URL")
    reason: str = Field(min_length=1, max_length=1_000, description="Why it must stay")


@router.get("/rules")
@needs(Act.READ)
async def list_retention_rules(
    database: DatabaseDep,
    asked: Annotated[ListRequest[RetentionRule, RuleFilter], list_request(RULES)],
) -> ListPage[RetentionRule]:
    """List the rules by which old snapshots go."""
    return await asked.read(database)


@router.post("/rules", status_code=201)
@needs(Act.DATA_ERASE)
async def add_retention_rule(
    given: RetentionRuleIn, connection: TransactionDep, principal: PrincipalDep
) -> RetentionRule:
    """Add a rule; it applies from the next night on. The most specific rule of a snapshot decides."""
    wanted = NewRule(**given.model_dump())
    return await retention.add_rule(connection, wanted, actor=principal.actor)


@router.delete("/rules/{name}", status_code=204)
@needs(Act.DATA_ERASE)
async def remove_retention_rule(
    name: Annotated[str, Path(max_length=63)], connection: TransactionDep, principal: PrincipalDep
) -> None:
    """Remove a rule."""
    await retention.remove_rule(connection, name, actor=principal.actor)


@router.get("/preview")
@needs(Act.DATA_ERASE)
async def preview_retention(database: DatabaseDep) -> list[WouldGo]:
    """Get what would go now, rule by rule; nothing is removed."""
    return await retention_queries.preview(database)


@router.get("/holds")
@needs(Act.READ)
async def list_retention_holds(
    database: DatabaseDep,
    asked: Annotated[ListRequest[RetentionHold, HoldFilter], list_request(HOLDS)],
) -> ListPage[RetentionHold]:
    """List what is held."""
    return await asked.read(database)


@router.post("/holds", status_code=201)
@needs(Act.DATA_ERASE)
async def place_retention_hold(
    given: HoldIn, connection: TransactionDep, principal: PrincipalDep
) -> RetentionHold:
    """Hold a domain or a page: no rule removes anything of it. Erasures still do."""
    return await retention.hold(connection, given.what, actor=principal.actor, reason=given.reason)


@router.delete("/holds/{hold_id}", status_code=204)
@needs(Act.DATA_ERASE)
async def lift_retention_hold(
    hold_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> None:
    """Lift a hold."""
    await retention.lift(connection, hold_id, actor=principal.actor)
