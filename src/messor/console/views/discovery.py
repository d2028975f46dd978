"""Discovery sessions: what each judged and found, what searches cost, and asking for those that are due."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, discovery_labels
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.charts import Bars
from messor.console.screens import get, post
from messor.scout import candidate_queries, costs, session_queries, track
from messor.scout.candidates import TRANSITIONS
from messor.scout.session_queries import SessionSeen

PER_PAGE = 20
MOST_DUE = 1_000
# What a session's results came to, in the order they are stacked.
FATES = {
    "candidates_created": ("became candidates", "green"),
    "skipped_low_confidence": ("not confident enough", "gray"),
    "skipped_domain_already_processed": ("known already", "azure"),
    "skipped_blacklisted": ("blacklisted or erased", "purple"),
    "failures": ("failed", "red"),
}


async def show_all(call: ConsoleRequest) -> Response:
    """The sessions of a vertical, and what searches cost."""
    applied, values = await discovery_labels.about(call)
    if applied is None:
        return await call.page("discovery/list.html", **values)
    database = call.desk.database
    rows = await session_queries.sessions(
        database,
        vertical=applied.vertical.name,
        before=discovery_labels.place_of(call.query("before")),
        limit=PER_PAGE + 1,
    )
    shown = rows[:PER_PAGE]
    more = None
    if len(rows) > PER_PAGE:
        mark = discovery_labels.mark_of(shown[-1].started_at, shown[-1].id)
        more = with_query("/discovery", vertical=applied.vertical.name, before=mark)
    return await call.page(
        "discovery/list.html",
        rows=shown,
        more=more,
        chart=_chart(shown),
        due=len(await track.due(database, applied.id, MOST_DUE)),
        most_due=MOST_DUE,
        spent=await costs.by_month(database, 12),
        engines=tuple(call.desk.settings.search_engines),
        names=await call.names({one.started_by for one in shown}),
        **values,
    )


async def show(call: ConsoleRequest) -> Response:
    """One session with its candidates."""
    database = call.desk.database
    key = discovery_labels.uuid_of(call.part("session_id"), "discovery session")
    session = await session_queries.get(database, key)
    _, values = await discovery_labels.about(call, session.vertical)
    rows = await candidate_queries.queue(
        database, list(TRANSITIONS), session_id=key, limit=PER_PAGE * 5
    )
    return await call.page(
        "discovery/session.html",
        session=session,
        rows=rows,
        fates=_fates(session),
        most=PER_PAGE * 5,
        names=await call.names({session.started_by}),
        **values,
    )


async def ask(call: ConsoleRequest) -> Response:
    """A search for every keyword that is due, as jobs."""
    applied = await discovery_labels.required(call, call.form.text("vertical"))
    back = with_query("/discovery", vertical=applied.vertical.name)
    if not call.desk.settings.search_engines:
        said = "No search engine is configured, so nothing is asked for. Set search_engines first."
        return call.go(back, said, "warning")
    async with call.desk.database.transaction() as connection:
        new = await track.ask_for_jobs(connection, applied.id, MOST_DUE)
    return call.go(back, f"{new:,} searches are asked for; workers make them.")


def _fates(session: SessionSeen) -> list[tuple[str, str, int, float]]:
    counts = {label: session.statistics.get(key) or 0 for key, (label, _) in FATES.items()}
    return charts.shares(counts, dict(FATES.values()))


def _chart(rows: list[SessionSeen]) -> Bars | None:
    """The sessions shown, oldest first."""
    if not rows:
        return None
    columns: list[tuple[str, dict[str, Any]]] = [
        (
            f"{row.started_at:%d %b %H:%M}",
            {label: row.statistics.get(key) or 0 for key, (label, _) in FATES.items()},
        )
        for row in reversed(rows)
    ]
    made = sum(row.statistics.get("candidates_created") or 0 for row in rows)
    judged = sum(row.statistics.get("total_processed") or 0 for row in rows)
    many = "session" if len(rows) == 1 else "sessions"
    said = f"{len(rows)} {many} judged {judged:,} results; {made:,} became candidates"
    return charts.bars(columns, dict(FATES.values()), said)


SCREENS = (
    get("/discovery", Act.READ, show_all),
    post("/discovery", Act.CRAWL_CONTROL, ask),
    get("/discovery/{session_id}", Act.READ, show),
)
