"""The outlook: what runs next, when and why, for display."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from messor.schedule.orchestrators import Orchestrator, Registry
from messor.schedule.plan import Plan, Plans

AT_ONCE = timedelta(minutes=1)  # a run due for less than this is on time


@dataclass(frozen=True, slots=True)
class Outlook:
    """One orchestrator's current state."""

    name: str
    does: str
    available: bool
    cadence: str
    usual_cadence: str
    enabled: bool = False
    next_run_at: datetime | None = None
    why: str = ""
    overridden_by: str | None = None
    overridden_at: datetime | None = None
    last_run_at: datetime | None = None
    last_outcome: str | None = None
    last_detail: dict[str, Any] | None = None

    @property
    def is_overridden(self) -> bool:
        return self.overridden_by is not None


def outlook(registry: Registry, plans: Plans) -> list[Outlook]:
    """All orchestrators, unavailable ones last."""
    known = [_of(orchestrator, plans) for orchestrator in registry]
    later = [
        Outlook(
            one.name, one.does, False, one.cadence, one.cadence, why=f"not available: {one.until}"
        )
        for one in registry.reserved
    ]
    return known + later


def _of(orchestrator: Orchestrator, plans: Plans) -> Outlook:
    plan = plans.of(orchestrator)
    next_run = plan.next_run(orchestrator, plans.now) if plan.enabled else None
    return Outlook(
        orchestrator.name,
        orchestrator.does,
        True,
        plan.in_force(orchestrator).text,
        orchestrator.cadence,
        plan.enabled,
        next_run,
        _why(plan, next_run, plans.now),
        plan.overridden_by if plan.cadence is not None else None,
        plan.overridden_at,
        plan.last_run_at,
        "unfinished" if plan.is_unfinished else plan.last_outcome,
        plan.last_detail,
    )


def _why(plan: Plan, next_run: datetime | None, now: datetime) -> str:
    if next_run is None:
        return "switched off"
    why = "by its default cadence" if plan.cadence is None else "by its overridden cadence"
    if next_run > now:
        return why
    late = "due now" if now - next_run < AT_ONCE else "catching up on a missed run"
    return f"{why}; {late}"
