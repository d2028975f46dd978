"""Actions on one domain: decide, note, preflight, recrawl, hold and purge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.addresses import domain_path, within
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, UsageError
from messor.frontier import control
from messor.frontier.control import Scope
from messor.governance import decisions, domain_vertical, intake, preflight, purges, rest
from messor.governance.decisions import Decided
from messor.governance.notices import Notices
from messor.politeness import prospects
from messor.registry import domains, notes
from messor.store.database import Connection

Action = Callable[[Connection, ConsoleRequest, str], Awaitable[str]]


async def _approve(connection: Connection, call: ConsoleRequest, name: str) -> str:
    vertical = call.form.text("vertical") if "vertical" in call.form else None
    done = await decisions.approve(
        connection,
        name,
        actor=call.actor,
        vertical=vertical,
        uses=call.form.every("use") or None,
        notify=_notify(call),
        told=Notices.of(call.context.settings),
        seen=_seen(call),
    )
    return done.message


async def _reject(connection: Connection, call: ConsoleRequest, name: str) -> str:
    done = await decisions.reject(
        connection,
        name,
        actor=call.actor,
        reason=_reason(call, "reject"),
        notify=call.form.is_on("notify"),
        told=Notices.of(call.context.settings),
        seen=_seen(call),
    )
    return _with_purge(call, done)


async def _suspend(connection: Connection, call: ConsoleRequest, name: str) -> str:
    reason = call.form.words("reason")
    done = await decisions.suspend(
        connection, name, actor=call.actor, reason=reason, seen=_seen(call)
    )
    return done.message


async def _resume(connection: Connection, call: ConsoleRequest, name: str) -> str:
    return (await decisions.resume(connection, name, actor=call.actor, seen=_seen(call))).message


async def _blacklist(connection: Connection, call: ConsoleRequest, name: str) -> str:
    reason = _reason(call, "blacklist")
    done = await decisions.blacklist(
        connection, name, actor=call.actor, reason=reason, seen=_seen(call)
    )
    return _with_purge(call, done)


async def _review_again(connection: Connection, call: ConsoleRequest, name: str) -> str:
    reason = _reason(call, "review again")
    done = await decisions.review_again(
        connection, name, actor=call.actor, reason=reason, seen=_seen(call)
    )
    return done.message


async def _keep(connection: Connection, call: ConsoleRequest, name: str) -> str:
    return (await decisions.keep(connection, name, actor=call.actor, seen=_seen(call))).message


async def _trust(connection: Connection, call: ConsoleRequest, name: str) -> str:
    domain = await domains.get(connection, name)
    await notes.trust(connection, domain, actor=call.actor, trusted=True)
    return f"{name} is trusted: URLs are accepted from anyone."


async def _untrust(connection: Connection, call: ConsoleRequest, name: str) -> str:
    domain = await domains.get(connection, name)
    await notes.trust(connection, domain, actor=call.actor, trusted=False)
    return f"{name} is no longer trusted."


async def _no_funds(connection: Connection, call: ConsoleRequest, name: str) -> str:
    year = call.form.whole("year", "Year")
    if year is None:
        raise UsageError("Enter the year without funds.")
    domain = await domains.lock(connection, name)
    await rest.no_funds(connection, domain, year, actor=call.actor)
    return f"{name} is not crawled until {year + 1}."


ACTS: dict[str, Action] = {
    "approve": _approve,
    "reject": _reject,
    "suspend": _suspend,
    "resume": _resume,
    "blacklist": _blacklist,
    "review_again": _review_again,
    "keep": _keep,
    "trust": _trust,
    "untrust": _untrust,
    "no_funds": _no_funds,
}


async def decide(call: ConsoleRequest) -> Response:
    """Apply one of the actions above; a refusal is shown on the originating page."""
    act = ACTS.get(call.form.text("act"))
    if act is None:
        raise UsageError(f"The decision must be one of {', '.join(ACTS)}.")
    return await _do(call, act)


async def note(call: ConsoleRequest) -> Response:
    async def do(connection: Connection, call: ConsoleRequest, name: str) -> str:
        domain = await domains.get(connection, name)
        await notes.add(connection, domain, call.form.text("note"), actor=call.actor)
        return "Note added."

    return await _do(call, do)


async def run_preflight(call: ConsoleRequest) -> Response:
    async def do(connection: Connection, call: ConsoleRequest, name: str) -> str:
        domain = await domains.lock(connection, name)
        requested = await preflight.request_preflight(connection, domain, actor=call.actor)
        if requested is None:
            return "A preflight check is already running."
        return await prospects.hindrance(connection) or "Preflight check queued."

    return await _do(call, do)


async def set_vertical(call: ConsoleRequest) -> Response:
    async def do(connection: Connection, call: ConsoleRequest, name: str) -> str:
        domain = await domains.lock(connection, name)
        chosen = call.form.words("vertical")
        changed = await domain_vertical.assign(connection, domain, chosen, actor=call.actor)
        if changed.vertical is None:
            return f"{name} has no vertical of its own now."
        return f"{name} belongs to {changed.vertical}; its pages are judged for it."

    return await _do(call, do)


async def rescrape(call: ConsoleRequest) -> Response:
    async def do(connection: Connection, call: ConsoleRequest, name: str) -> str:
        pages = await intake.rescrape(connection, name, actor=call.actor)
        return f"{pages} pages of {name} are due now. {await decisions.started(connection)}"

    return await _do(call, do)


async def purge(call: ConsoleRequest) -> Response:
    async def do(connection: Connection, call: ConsoleRequest, name: str) -> str:
        if call.form.text("sure").strip() != name:
            raise UsageError(f"Type {name} into the field to confirm the purge.")
        kept = await purges.purge(connection, name, actor=call.actor)
        return f"{kept.pages} pages and {kept.snapshots} snapshots of {name} were purged."

    return await _do(call, do)


async def hold(call: ConsoleRequest) -> Response:
    """Pause or resume the crawl of a domain; its approval stays."""
    name, act = call.part("name"), call.form.text("act")
    if act not in ("pause", "resume"):
        raise UsageError("The action must be pause or resume.")
    scope = await Scope.domain(call.context.database, name)
    done = await control.act(call.context.database, act, scope, actor=call.actor)
    words = "paused" if act == "pause" else "resumed"
    return call.go(_back(call), f"Crawling of {name} is {words}; {done.tasks} tasks are affected.")


async def back_to_domain(call: ConsoleRequest) -> Response:
    """Redirect a reloaded action URL to its domain."""
    return call.go(domain_path(call.part("name")))


async def _do(call: ConsoleRequest, action: Action) -> Response:
    try:
        async with call.context.database.transaction() as connection:
            message = await action(connection, call, call.part("name"))
    except (ConflictError, UsageError) as error:
        here = within(call.form.text("here"), domain_path(call.part("name")))
        return call.go(here, str(error), "danger")
    return call.go(_back(call), message)


def _back(call: ConsoleRequest) -> str:
    return within(call.form.text("back"), domain_path(call.part("name")))


def _seen(call: ConsoleRequest) -> str | None:
    return call.form.words("seen")


def _notify(call: ConsoleRequest) -> bool:
    """Submitters are told of an approval, unless a form with this box leaves it out."""
    return call.form.is_on("notify") or not call.form.is_on("asks_notify")


def _reason(call: ConsoleRequest, what: str) -> str:
    reason = call.form.words("reason")
    if reason is None:
        raise UsageError(f"A reason is required to {what}.")
    return reason


def _with_purge(call: ConsoleRequest, done: Decided) -> str:
    if done.holdings is None or not call.may(Act.DATA_ERASE):
        return done.message
    return f"{done.message} Purge is at the bottom of the domain page."


SCREENS = (
    get("/domains/{name}/decide", Act.READ, back_to_domain),
    post("/domains/{name}/decide", Act.DOMAINS_REVIEW, decide),
    post("/domains/{name}/notes", Act.DOMAINS_REVIEW, note),
    post("/domains/{name}/vertical", Act.DOMAINS_REVIEW, set_vertical),
    post("/domains/{name}/preflight", Act.DOMAINS_REVIEW, run_preflight),
    post("/domains/{name}/rescrape", Act.CRAWL_CONTROL, rescrape),
    post("/domains/{name}/hold", Act.CRAWL_CONTROL, hold),
    post("/domains/{name}/purge", Act.DATA_ERASE, purge),
)
