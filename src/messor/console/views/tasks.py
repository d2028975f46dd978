"""Crawl tasks: list, pause, resume, stop, retry and recrawl."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import saved
from messor.console.addresses import with_query, within
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import NotFoundError, UsageError
from messor.frontier import control, task_stretches
from messor.frontier.control import Scope
from messor.frontier.transitions import DERIVED, STORED

PER_PAGE = 50
STATUSES = (*sorted(DERIVED), *sorted(STORED))
ACTS = ("pause", "resume", "stop", "retry", "recrawl")
PAST_TENSE = {
    "pause": "paused",
    "resume": "resumed",
    "stop": "stopped",
    "retry": "queued for retry",
    "recrawl": "due now",
}


async def show(call: ConsoleRequest) -> Response:
    if (opened := await saved.opening(call, "tasks")) is not None:
        return opened
    domain, status = call.query("domain").strip().lower(), call.query("status")
    status = status if status in STATUSES else ""
    batch_id, after = as_uuid(call.query("batch")), call.query("after")
    start = int(after) if after.isdecimal() and len(after) < 19 else 0
    keeping = {"domain": domain, "status": status, "batch": batch_id}
    found = await task_stretches.read(
        call.context.database,
        status or None,
        after=start,
        domain=domain or None,
        batch_id=batch_id,
        limit=PER_PAGE,
    )
    more = with_query("/tasks", after=found.reached, **keeping) if found.reached else None
    return await call.page(
        "tasks/list.html",
        rows=found.tasks,
        more=more,
        first=with_query("/tasks", **keeping) if start else None,
        statuses=STATUSES,
        still=await control.is_standing_still(call.context.database),
        here=with_query("/tasks", after=start or None, **keeping),
        domain=domain,
        wanted=status,
        batch=batch_id,
        saved=await saved.bar(call, "tasks", keeping),
    )


async def act(call: ConsoleRequest) -> Response:
    """Apply one action to a page, a batch, a domain or everything."""
    form = call.form
    name, kind, what = form.text("act"), form.text("scope"), form.text("name").strip()
    if name not in ACTS:
        raise UsageError(f"The action must be one of {', '.join(ACTS)}.")
    scope = await _scope(call, kind, what)
    done = await control.act(call.context.database, name, scope, actor=call.actor)
    message = f"{done.tasks:,} tasks {PAST_TENSE[name]} ({done.name})."
    if name in ("stop", "pause") and scope.is_whole:
        message += " Nothing is fetched there until it is resumed, including pages found later."
    return call.go(within(form.text("back"), "/tasks"), message)


async def _scope(call: ConsoleRequest, kind: str, what: str) -> Scope:
    database = call.context.database
    if kind == "all":
        return Scope.everything()
    if kind == "url":
        return await Scope.url(database, what)
    if kind == "domain":
        return await Scope.domain(database, what)
    if kind == "batch":
        return await Scope.batch(database, what)
    raise UsageError("The scope must be url, batch, domain or all.")


def as_uuid(text: str) -> UUID | None:
    """Parse a UUID of a URL; None when empty, NotFoundError when malformed."""
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFoundError("Page not found.") from error


SCREENS = (
    get("/tasks", Act.READ, show),
    post("/tasks", Act.CRAWL_CONTROL, act),
)
