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
from messor.scout.candidate_queries import CANDIDATES, CandidateFilter
from messor.scout.candidates import IN_REVIEW, PENDING_REVIEW, Candidate

MAX_AT_ONCE = 200


async def show(call: ConsoleRequest) -> Response:
    """The list with the dossier of the selected candidate, or of the first."""
    _, values = await discovery_labels.about(call)
    counts = await candidate_queries.counts(call.context.database, call.query("vertical") or None)
    listed = await discovery_labels.listed(
        call, CANDIDATES, "/candidates", values["known"], labels={"status": _statuses(counts)}
    )
    at = _at(call) or (listed.items[0].id if listed.items else None)
    values |= {"listed": listed, "at": at, "link": with_query, "counts": counts}
    values |= await _dossier(call, at, listed.items) if at else {"dossier": None}
    return await call.page("candidates/queue.html", **values)


async def show_one(call: ConsoleRequest) -> Response:
    """The dossier fragment for htmx; otherwise the list at this candidate."""
    key = discovery_labels.uuid_of(call.part("candidate_id"), "candidate")
    if not call.is_partial:
        return call.go(with_query("/candidates", at=key))
    values = await _dossier(call, key, [])
    return call.bare("candidates/dossier.html", find=discovery_labels.WORDS, **values)


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
        here = within(call.form.text("here"), with_query("/candidates", at=key))
        return call.go(here, str(error), "danger")
    words = discovery_labels.CANDIDATE[found.status][0]
    default = with_query("/candidates", at=key)
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


async def _dossier(call: ConsoleRequest, key: UUID, rows: list[Candidate]) -> dict[str, Any]:
    async with call.context.database.connection() as connection:
        dossier = await candidate_queries.dossier(connection, key)
    following = _following([row.id for row in rows], key) or _uuid(call.query("then"))
    keep = {name: call.query(name)[:200] for name in (*CandidateFilter.model_fields, "sort")}
    return {
        "dossier": dossier,
        "names": await call.names({dossier.assigned_to or "", dossier.reviewed_by or ""}),
        "threshold": THRESHOLD,
        "back": with_query("/candidates", **keep, at=following),
        "here": with_query("/candidates", **keep, at=key),
    }


def _statuses(counts: dict[str, int]) -> dict[str, str]:
    """Labels of the statuses, with the number of candidates."""
    words = {status: label for status, (label, _) in discovery_labels.CANDIDATE.items()}
    waiting = counts.get(PENDING_REVIEW, 0) + counts.get(IN_REVIEW, 0)
    counted = {status: f"{label} ({counts.get(status, 0):,})" for status, label in words.items()}
    return {"waiting": f"for review ({waiting:,})", **counted}


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


SCREENS = (
    get("/candidates", Act.READ, show),
    post("/candidates", Act.DOMAINS_REVIEW, decide_many),
    get("/candidates/{candidate_id}", Act.READ, show_one),
    post("/candidates/{candidate_id}/decide", Act.DOMAINS_REVIEW, decide),
)
