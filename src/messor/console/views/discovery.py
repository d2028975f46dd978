"""Discovery sessions: results, search spending and starting due searches."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, discovery_labels
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.charts import Bars
from messor.console.screens import get, post
from messor.scout import costs, session_queries, track
from messor.scout.candidate_queries import CANDIDATES, CandidateFilter
from messor.scout.session_queries import SESSIONS, DiscoverySession

PER_PAGE = 20
MAX_DUE = 1_000
MAX_CANDIDATES = 100
# Outcomes of a session's results, in stacking order.
OUTCOMES = {
    "candidates_created": ("became candidates", "green"),
    "skipped_low_confidence": ("low confidence", "gray"),
    "skipped_domain_already_processed": ("already known", "azure"),
    "skipped_blacklisted": ("blacklisted or erased", "purple"),
    "failures": ("failed", "red"),
}


async def show_all(call: ConsoleRequest) -> Response:
    """The sessions of a vertical and its search spending."""
    applied, values = await discovery_labels.about(call)
    database = call.context.database
    listed = await discovery_labels.listed(
        call, SESSIONS, "/discovery", values["known"], limit=PER_PAGE
    )
    return await call.page(
        "discovery/list.html",
        listed=listed,
        chart=_chart(listed.items),
        due=len(await track.due(database, applied.id, MAX_DUE)) if applied else 0,
        most_due=MAX_DUE,
        spent=await costs.by_month(database, 12),
        engines=tuple(call.context.settings.search_engines),
        names=await call.names({one.started_by for one in listed.items}),
        **values,
    )


async def show(call: ConsoleRequest) -> Response:
    """One session with its candidates."""
    database = call.context.database
    key = discovery_labels.uuid_of(call.part("session_id"), "discovery session")
    session = await session_queries.get(database, key)
    _, values = await discovery_labels.about(call, session.vertical)
    filters = CandidateFilter(session_id=key)
    found = await CANDIDATES.read(database, filters, limit=MAX_CANDIDATES)
    return await call.page(
        "discovery/session.html",
        session=session,
        rows=found.items,
        has_more=found.next is not None,
        outcomes=_outcomes(session),
        names=await call.names({session.started_by}),
        **values,
    )


async def start_searches(call: ConsoleRequest) -> Response:
    """Queue a search job for every due keyword."""
    applied = await discovery_labels.required(call, call.form.text("vertical"))
    back = with_query("/discovery", vertical=applied.vertical.name)
    if not call.context.settings.search_engines:
        message = "No search engine is configured; set search_engines first."
        return call.go(back, message, "warning")
    async with call.context.database.transaction() as connection:
        new = await track.ask_for_jobs(connection, applied.id, MAX_DUE)
    return call.go(back, f"{new:,} searches were queued.")


def _outcomes(session: DiscoverySession) -> list[tuple[str, str, int, float]]:
    counts = {label: session.statistics.get(key) or 0 for key, (label, _) in OUTCOMES.items()}
    return charts.shares(counts, dict(OUTCOMES.values()))


def _chart(rows: list[DiscoverySession]) -> Bars | None:
    """Chart of the listed sessions, oldest first."""
    if not rows:
        return None
    columns: list[tuple[str, dict[str, Any]]] = [
        (
            f"{row.started_at:%d %b %H:%M}",
            {label: row.statistics.get(key) or 0 for key, (label, _) in OUTCOMES.items()},
        )
        for row in reversed(rows)
    ]
    made = sum(row.statistics.get("candidates_created") or 0 for row in rows)
    judged = sum(row.statistics.get("total_processed") or 0 for row in rows)
    many = "session" if len(rows) == 1 else "sessions"
    summary = f"{len(rows)} {many} judged {judged:,} results; {made:,} became candidates"
    return charts.bars(columns, dict(OUTCOMES.values()), summary)


SCREENS = (
    get("/discovery", Act.READ, show_all),
    post("/discovery", Act.CRAWL_CONTROL, start_searches),
    get("/discovery/{session_id}", Act.READ, show),
)
