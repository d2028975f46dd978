"""Candidates: the review queue, judges and evidence of each, and decisions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import discovery_labels
from messor.console.addresses import with_query, within
from messor.console.call import ConsoleRequest
from messor.console.screens import get, post
from messor.errors import ConflictError, UsageError
from messor.registry.life import THRESHOLD
from messor.scout import candidate_queries, candidate_review
from messor.scout.candidate_queries import CandidateDossier, Place
from messor.scout.candidates import IN_REVIEW, PENDING_REVIEW, TRANSITIONS, Candidate

PER_PAGE = 50
MAX_AT_ONCE = 200
# Selectable lists and their statuses.
SHOWS = {
    "waiting": (PENDING_REVIEW, IN_REVIEW),
    **{status: (status,) for status in TRANSITIONS},
    "all": tuple(TRANSITIONS),
}


async def show(call: ConsoleRequest) -> Response:
    """The queue with the dossier of the selected candidate, or of the first."""
    _, values = await discovery_labels.about(call)
    selected_vertical = call.query("vertical") or None
    shown = call.query("show") if call.query("show") in SHOWS else "waiting"
    q = call.query("q").strip().lower()[:200]
    rows = await candidate_queries.queue(
        call.context.database,
        SHOWS[shown],
        vertical=selected_vertical,
        containing=q or None,
        after=_after(call),
        limit=PER_PAGE + 1,
    )
    keep = {"vertical": selected_vertical, "show": shown if shown != "waiting" else "", "q": q}
    more = None
    if len(rows) > PER_PAGE:
        more = with_query("/candidates", after=_mark(rows[PER_PAGE - 1]), **keep)
    rows = rows[:PER_PAGE]
    at = _at(call) or (rows[0].id if rows else None)
    values |= {
        "rows": rows,
        "at": at,
        "show": shown,
        "q": q,
        "more": more,
        "selected_vertical": selected_vertical,
    }
    values |= {"keep": keep, "shows": SHOWS, "link": with_query}
    values |= await _dossier(call, at, rows, keep) if at else {"dossier": None}
    counts = await candidate_queries.counts(call.context.database, selected_vertical)
    return await call.page("candidates/queue.html", counts=counts, **values)


async def show_one(call: ConsoleRequest) -> Response:
    """The dossier fragment for htmx; otherwise the queue at this candidate."""
    key = discovery_labels.uuid_of(call.part("candidate_id"), "candidate")
    if not call.is_partial:
        return call.go(with_query("/candidates", at=key, show="all"))
    keep = {
        "vertical": call.query("vertical"),
        "show": call.query("show"),
        "q": call.query("q")[:200],
    }
    values = await _dossier(call, key, [], keep)
    return call.bare("candidates/dossier.html", find=discovery_labels.WORDS, keep=keep, **values)


async def decide(call: ConsoleRequest) -> Response:
    """Assign, approve or reject a candidate; a refusal is shown on the originating page."""
    key = discovery_labels.uuid_of(call.part("candidate_id"), "candidate")
    act = call.form.text("act")
    try:
        async with call.context.database.transaction() as connection:
            found = await candidate_review.decide(
                connection,
                key,
                act,
                actor=call.actor,
                reason=call.form.words("reason"),
                seen=call.form.words("seen"),
            )
    except (ConflictError, UsageError) as error:
        here = within(call.form.text("here"), with_query("/candidates", at=key, show="all"))
        return call.go(here, str(error), "danger")
    words = discovery_labels.CANDIDATE[found.status][0]
    default = with_query("/candidates", at=key, show="all")
    back = default if act == "take" else within(call.form.text("back"), default)
    return call.go(back, f"{found.url} is {words}.")


async def decide_many(call: ConsoleRequest) -> Response:
    """Apply one decision to each selected candidate."""
    keys, act = call.form.every("candidate")[:MAX_AT_ONCE], call.form.text("act")
    reason = call.form.words("reason")
    back = within(call.form.text("back"), "/candidates")
    if not keys:
        return call.go(back, "Select at least one candidate.", "warning")
    if act == "reject" and reason is None:
        return call.go(back, "A reason is required to reject.", "danger")
    refused: list[str] = []
    for text in keys:
        key = discovery_labels.uuid_of(text, "candidate")
        try:
            async with call.context.database.transaction() as connection:
                await candidate_review.decide(connection, key, act, actor=call.actor, reason=reason)
        except (ConflictError, UsageError) as error:
            refused.append(str(error))
    message = f"{len(keys) - len(refused)} of {len(keys)} candidates: {act} done."
    return call.go(back, " ".join([message, *refused[:5]]), "warning" if refused else "success")


async def _dossier(
    call: ConsoleRequest, key: UUID, rows: list[Candidate], keep: dict[str, Any]
) -> dict[str, Any]:
    async with call.context.database.connection() as connection:
        dossier = await candidate_queries.dossier(connection, key)
    following = _following([row.id for row in rows], key) or _uuid(call.query("then"))
    return {
        "dossier": dossier,
        "names": await call.names(_actors(dossier)),
        "threshold": THRESHOLD,
        "back": with_query("/candidates", at=following, **keep),
        "here": with_query("/candidates", at=key, **keep),
    }


def _actors(dossier: CandidateDossier) -> set[str]:
    one = dossier.candidate
    return {one.assigned_to or "", one.reviewed_by or ""}


def _following(keys: list[UUID], key: UUID) -> UUID | None:
    """The candidate to show after this one."""
    if key not in keys:
        return None
    place = keys.index(key)
    others = keys[place + 1 :] or keys[:place][-1:]
    return others[0] if others else None


def _at(call: ConsoleRequest) -> UUID | None:
    return discovery_labels.uuid_of(call.query("at"), "candidate") if call.query("at") else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _after(call: ConsoleRequest) -> Place | None:
    score, _, key = call.query("after").partition("_")
    try:
        return float(score), UUID(key)
    except ValueError:
        return None


def _mark(row: Candidate) -> str:
    return f"{row.confidence_score!r}_{row.id}"


SCREENS = (
    get("/candidates", Act.READ, show),
    post("/candidates", Act.DOMAINS_REVIEW, decide_many),
    get("/candidates/{candidate_id}", Act.READ, show_one),
    post("/candidates/{candidate_id}/decide", Act.DOMAINS_REVIEW, decide),
)
