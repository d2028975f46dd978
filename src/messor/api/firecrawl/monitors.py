"""Monitors: pages looked at again on a schedule, and what each check found."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.responses import Response

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.firecrawl.answers import answer, base_of
from messor.api.firecrawl.hooks import sealed_hook
from messor.api.firecrawl.options import JobWebhookIn, LenientIn, Whatever
from messor.api.firecrawl.route import FirecrawlRoute, ServicesDep
from messor.api.gate import needs
from messor.api.models.base import Address, text
from messor.core.ids import new_id
from messor.errors import UsageError
from messor.scrape.refusals import OptionRefusedError
from messor.watches import checks, monitors
from messor.watches.checks import CheckedPage
from messor.watches.monitors import Check, Monitor, MonitorTerms

router = APIRouter(route_class=FirecrawlRoute)

KEPT_DAYS = 7
PAGE = 100
Limit = Annotated[int, Query(ge=1, le=PAGE)]
Offset = Annotated[int, Query(ge=0, le=100_000)]
_EVERY = re.compile(r"every (\d{1,4}) ?(minute|hour|day|week)s?")
_DAILY = re.compile(r"(?:daily|every day) at (\d{1,2})(?::(\d{2}))?")
_PLAIN = {"hourly": "@hourly", "every hour": "@hourly", "daily": "@daily", "every day": "@daily",
          "weekly": "@weekly", "every week": "@weekly"}  # fmt: skip


Words = Annotated[str, text(200, 1)]


class ScheduleIn(LenientIn):
    cron: Words | None = None
    text: Words | None = None
    timezone: Words = "UTC"

    def cadence(self) -> str:
        """The schedule as Messor's own; plain words are understood where they are plain."""
        if (self.cron is None) == (self.text is None):
            raise UsageError("schedule: give either cron or text.")
        return self.cron or _cadence(self.text or "")


class TargetIn(LenientIn):
    type: str
    urls: list[Address] | None = Field(None, max_length=monitors.MAX_URLS)
    url: Address | None = None
    scrape_options: Whatever | None = None
    crawl_options: Whatever | None = None

    def target(self) -> dict[str, Any]:
        if self.type == "search":
            raise OptionRefusedError("targets: the web is searched by discovery sessions.")
        if self.type not in ("scrape", "crawl"):
            raise UsageError("targets: the type is scrape or crawl.")
        if (self.type == "scrape") != bool(self.urls) or (self.type == "crawl") != bool(self.url):
            raise UsageError("targets: scrape has urls, crawl has a url.")
        given = self.model_dump(by_alias=True, exclude_none=True)
        return {"id": str(new_id()), **given}


class MonitorIn(LenientIn):
    """A monitor to be made or, with what is given, changed."""

    name: Words | None = None
    status: str | None = None
    schedule: ScheduleIn | None = None
    targets: list[TargetIn] | None = Field(None, max_length=monitors.MAX_TARGETS)
    webhook: JobWebhookIn | str | None = None
    notification: Whatever | None = None
    goal: Annotated[str, text(2_000)] | None = None

    def terms(self, known: Monitor | None = None) -> MonitorTerms:
        if ((self.notification or {}).get("email") or {}).get("enabled"):
            raise OptionRefusedError("notification.email: mail is sent by watches: messor watches.")
        if self.status not in (None, "active", "paused"):
            raise UsageError("status is active or paused.")
        name = self.name or (known and known.name)
        cadence = self.schedule.cadence() if self.schedule else known and known.cron
        targets = None if self.targets is None else [one.target() for one in self.targets]
        targets = targets or (known.targets if known else None)
        if not name or not cadence or not targets:
            raise UsageError("A monitor needs a name, a schedule and targets.")
        zone = self.schedule.timezone if self.schedule else known.zone if known else "UTC"
        is_active = known.is_active if known else True
        if self.status is not None:
            is_active = self.status == "active"
        goal = known.goal if self.goal is None and known else self.goal
        return MonitorTerms(name, cadence, zone, targets, goal, is_active)


def _cadence(words: str) -> str:
    plain = " ".join(words.lower().split())
    if plain in _PLAIN:
        return _PLAIN[plain]
    if match := _EVERY.fullmatch(plain):
        return f"@every {int(match[1])}{match[2][0]}"
    if match := _DAILY.fullmatch(plain):
        return f"{int(match[2] or 0)} {int(match[1])} * * *"
    raise UsageError(
        f"schedule.text: {words[:80]!r} is not understood; write hourly, daily at 9:00, every 30 "
        "minutes, or give cron."
    )


@router.post("/v2/monitor")
@needs(Act.INGEST_RUN)
async def add_monitor(
    given: MonitorIn, request: Request, connection: TransactionDep, principal: PrincipalDep
) -> Response:
    """Make a monitor; its checks run under this key."""
    if principal.key_id is None:
        raise OptionRefusedError("monitor: it belongs to an API key; send one.")
    hook = await sealed_hook(given.webhook, request, principal)
    terms = given.terms()
    made = await monitors.add(connection, principal, terms, hook)
    return answer({"success": True, "data": _monitor(made)})


@router.get("/v2/monitor")
@needs(Act.READ)
async def list_monitors(
    database: DatabaseDep, principal: PrincipalDep, limit: Limit = PAGE, offset: Offset = 0
) -> Response:
    """The member's monitors."""
    found = await monitors.listing(database, principal, limit=limit, offset=offset)
    return answer({"success": True, "data": [_monitor(one) for one in found]})


@router.get("/v2/monitor/{monitor_id}")
@needs(Act.READ)
async def show_monitor(
    monitor_id: UUID, database: DatabaseDep, principal: PrincipalDep
) -> Response:
    """A monitor with the result of its last check."""
    found = await monitors.get(database, principal, monitor_id)
    last = await monitors.checks(database, found, limit=1, offset=0)
    return answer({"success": True, "data": _monitor(found, last[0] if last else None)})


@router.patch("/v2/monitor/{monitor_id}")
@needs(Act.INGEST_RUN)
async def change_monitor(
    monitor_id: UUID, given: MonitorIn, request: Request, connection: TransactionDep,
    principal: PrincipalDep,
) -> Response:  # fmt: skip
    """Change what is given; a paused monitor starts no checks."""
    known = await monitors.get(connection, principal, monitor_id)
    hook = await sealed_hook(given.webhook, request, principal, known.id)
    changed = await monitors.change(connection, known, given.terms(known), hook)
    return answer({"success": True, "data": _monitor(changed)})


@router.delete("/v2/monitor/{monitor_id}")
@needs(Act.INGEST_RUN)
async def remove_monitor(
    monitor_id: UUID, connection: TransactionDep, principal: PrincipalDep
) -> Response:
    """Remove a monitor and its checks; what was fetched is kept."""
    await monitors.remove(connection, await monitors.get(connection, principal, monitor_id))
    return answer({"success": True})


@router.post("/v2/monitor/{monitor_id}/run")
@needs(Act.INGEST_RUN, own_transactions=True)
async def run_monitor(
    monitor_id: UUID, database: DatabaseDep, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Check now; 409 while a check is running."""
    monitor = await monitors.get(database, principal, monitor_id)
    async with database.transaction() as connection:
        begun = await monitors.begin(connection, monitor, is_manual=True)
    started = await monitors.start_jobs(database, monitor, begun)
    services.keeper.wake()
    return answer({"success": True, "data": _check(started)})


@router.get("/v2/monitor/{monitor_id}/checks")
@needs(Act.READ)
async def list_checks(
    monitor_id: UUID, database: DatabaseDep, principal: PrincipalDep,
    limit: Limit = PAGE, offset: Offset = 0,
) -> Response:  # fmt: skip
    """A monitor's checks, newest first."""
    monitor = await monitors.get(database, principal, monitor_id)
    found = await monitors.checks(database, monitor, limit=limit, offset=offset)
    return answer({"success": True, "data": [_check(one) for one in found]})


@router.get("/v2/monitor/{monitor_id}/checks/{check_id}")
@needs(Act.READ)
async def show_check(
    monitor_id: UUID, check_id: UUID, request: Request, database: DatabaseDep,
    principal: PrincipalDep, *, limit: Limit = PAGE, skip: Offset = 0, status: str | None = None,
) -> Response:  # fmt: skip
    """A check with its pages, and what changed in each."""
    monitor = await monitors.get(database, principal, monitor_id)
    found = await monitors.check(database, monitor, check_id)
    if status is not None and status not in checks.STATUSES:
        raise UsageError(f"status is one of {', '.join(checks.STATUSES)}.")
    rows = await checks.pages(database, found, status=status, limit=limit + 1, skip=skip)
    shown, base = rows[:limit], base_of(request)
    told = await checks.differences(database, shown)
    body: dict[str, Any] = {"success": True, "data": _check(found)}
    body["data"]["pages"] = [_page(one, told.get(one.id)) for one in shown]
    if len(rows) > limit:
        chosen = f"&status={status}" if status else ""
        path = f"{base}/v2/monitor/{monitor_id}/checks/{check_id}"
        body["next"] = f"{path}?limit={limit}&skip={skip + limit}{chosen}"
    return answer(body)


def _monitor(one: Monitor, last: Check | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": str(one.id),
        "name": one.name,
        "status": "active" if one.is_active else "paused",
        "schedule": {"cron": one.cron, "timezone": one.zone},
        "nextRunAt": _time(one.next_at),
        "targets": one.targets,
        "retentionDays": KEPT_DAYS,
        "goal": one.goal,
        "judgeEnabled": False,
        "createdAt": one.created_at.isoformat(),
        "updatedAt": one.updated_at.isoformat(),
    }
    if last is not None:
        running = last.finished_at is None
        body |= {
            "lastRunAt": last.started_at.isoformat(),
            "currentCheckId": str(last.id) if running else None,
            "lastCheckSummary": checks.summary_of(last.counts),
        }
    return body


def _check(one: Check) -> dict[str, Any]:
    pages = sum(one.counts.values())
    return {
        "id": str(one.id),
        "monitorId": str(one.monitor_id),
        "status": one.status,
        "trigger": "manual" if one.is_manual else "scheduled",
        "startedAt": one.started_at.isoformat(),
        "finishedAt": _time(one.finished_at),
        "actualCredits": pages,
        "billingStatus": "not_applicable",
        "summary": checks.summary_of(one.counts),
        "error": one.error,
        "createdAt": one.started_at.isoformat(),
        "updatedAt": (one.finished_at or one.started_at).isoformat(),
    }


def _page(one: CheckedPage, difference: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": str(one.id),
        "targetId": str(one.job_id),
        "url": one.url,
        "status": one.status,
        "previousScrapeId": None if one.before_id is None else str(one.before_id),
        "currentScrapeId": None if one.snapshot_id is None else str(one.snapshot_id),
        "statusCode": one.status_code,
        "error": None if one.code is None else f"{one.code}: {one.error}",
        "createdAt": one.done_at.isoformat(),
    }
    return body if difference is None else {**body, "diff": {"text": difference, "json": None}}


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
