"""The review queue, and the dossier of each waiting domain."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import labels, saved
from messor.console.addresses import with_query, within
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.governance import decisions, domain_uses, domain_vertical
from messor.governance.notices import Notices
from messor.registry import review as reviews
from messor.registry.review import Dossier
from messor.registry.review_queries import WAITING, WaitingDomain
from messor.rights.uses import MEANINGS

MAX_AT_ONCE = 200
LABELS = {"submitter_type": labels.SUBMITTERS}
BULK = ("approve", "reject", "blacklist", "keep")


async def show(call: ConsoleRequest) -> Response:
    """The queue with the dossier of the selected domain, or of the first."""
    if (opened := await saved.opening(call, "review")) is not None:
        return opened
    listed = await list_of(call, WAITING, "/review", labels=LABELS)
    at = call.query("at") or (listed.items[0].domain if listed.items else "")
    values: dict[str, Any] = {"listed": listed, "at": at, "place": partial(_place, call)}
    values["saved"] = await saved.bar(call, "review", listed.given)
    values |= await _dossier(call, at, listed.items) if at else {"dossier": None}
    return await call.page("review/queue.html", **values)


async def show_dossier(call: ConsoleRequest) -> Response:
    """The dossier fragment for htmx."""
    name = call.part("name")
    if not call.is_partial:
        return call.go(_place(call, name))
    return call.bare("review/dossier.html", **await _dossier(call, name, []))


async def _dossier(call: ConsoleRequest, name: str, rows: list[WaitingDomain]) -> dict[str, Any]:
    async with call.context.database.connection() as connection:
        dossier = await reviews.dossier(connection, name)
        choice = await domain_vertical.choice(connection, dossier.submissions, dossier.preflight)
        guess = choice.guess.vertical if choice.guess else None
        suggested = await domain_uses.suggested_for(connection, dossier.domain.vertical or guess)
    actors = {row.submitted_by for row in rows} | _actors(dossier)
    following = _following([row.domain for row in rows], name) or call.query("then")
    return {
        "dossier": dossier,
        "names": await call.names(actors),
        "back": _place(call, following),
        "verticals": choice.titles,
        "guess": choice.guess,
        "suggested_uses": suggested,
        "use_meanings": MEANINGS,
    }


def _place(call: ConsoleRequest, name: str, then: str | None = None) -> str:
    """URL of the filtered queue at a domain; with `then`, of the dossier fragment."""
    if then is None:
        return with_query("/review", at=name, **_filters(call))
    return with_query(f"/review/{quote(name, safe='')}", then=then, **_filters(call))


def _filters(call: ConsoleRequest) -> dict[str, str]:
    names = (*WAITING.filters.model_fields, "sort")
    return {name: call.query(name) for name in names}


def _actors(dossier: Dossier) -> set[str]:
    return (
        {one.submitted_by for one in dossier.submissions}
        | {one.author for one in dossier.notes}
        | {one.actor for one in dossier.history}
        | {one.submitted_by for one in dossier.urls}
    )


def _following(names: list[str], name: str) -> str:
    """The domain to show after this one."""
    if name not in names:
        return ""
    place = names.index(name)
    others = names[place + 1 :] or names[:place][-1:]
    return others[0] if others else ""


async def decide_many(call: ConsoleRequest) -> Response:
    """Apply one decision to each selected domain."""
    names, act = call.form.every("domain")[:MAX_AT_ONCE], call.form.text("act")
    if not names:
        return call.go("/review", "Select at least one domain.", "warning")
    given: dict[str, Any] = _why(act, call.form.words("reason"))
    if act in ("approve", "reject"):
        given["told"] = Notices.of(call.context.settings)
    acting = partial(_act_named(act), actor=call.actor, **given)
    verdicts = await decisions.decide_many(call.context.database, names, acting)
    done = [verdict.name for verdict in verdicts if verdict.done]
    refused = [verdict.message for verdict in verdicts if not verdict.done]
    message = f"{len(done)} of {len(names)} domains: {act} done."
    if act == "approve" and done:
        message += f" {await decisions.started(call.context.database)}"
    back = within(call.form.text("back"), "/review")
    return call.go(back, " ".join([message, *refused[:5]]), "warning" if refused else "success")


def _act_named(act: str) -> Any:
    if act not in BULK:
        raise UsageError(f"The action must be one of {', '.join(BULK)}.")
    return getattr(decisions, act)


def _why(act: str, reason: str | None) -> dict[str, str]:
    if act not in ("reject", "blacklist"):
        return {}
    if reason is None:
        raise UsageError(f"A reason is required to {act}.")
    return {"reason": reason}


SCREENS = (
    get("/review", Act.DOMAINS_REVIEW, show),
    get("/review/{name}", Act.DOMAINS_REVIEW, show_dossier),
    post("/review", Act.DOMAINS_REVIEW, decide_many),
)
