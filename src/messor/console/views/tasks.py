"""Crawl tasks: list, pause, resume, stop, retry and recrawl."""

from __future__ import annotations

from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import saved
from messor.console.addresses import within
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.errors import NotFoundError, UsageError
from messor.frontier import control
from messor.frontier.control import Scope
from messor.frontier.failed_task_queries import FAILED_TASKS
from messor.frontier.task_queries import TASKS

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
    listed = await list_of(call, TASKS, "/tasks")
    return await call.page(
        "tasks/list.html",
        listed=listed,
        still=await control.is_standing_still(call.context.database),
        here=call.request.url.path
        + (f"?{call.request.url.query}" if call.request.url.query else ""),
        saved=await saved.bar(call, "tasks", listed.given),
    )


async def show_dead(call: ConsoleRequest) -> Response:
    """Tasks that failed for good, with the reason."""
    listed = await list_of(call, FAILED_TASKS, "/tasks/dead")
    return await call.page("tasks/dead.html", listed=listed, here=listed.link())


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
    get("/tasks/dead", Act.READ, show_dead),
    post("/tasks", Act.CRAWL_CONTROL, act),
)
