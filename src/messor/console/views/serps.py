"""Result pages: visibility, gains and losses, and each captured page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import groupby

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, discovery_labels
from messor.console.call import ConsoleRequest
from messor.console.charts import Axis, Bars, Curves
from messor.console.screens import get
from messor.errors import UsageError
from messor.insight import ranks, trends, visibility
from messor.insight.trends import VisibilitySpan
from messor.insight.visibility import TimeSpan
from messor.registry.domains import Submission
from messor.scout import serp_queries
from messor.scout.serp_queries import SERPS, SeenResult
from messor.store.database import Connection

MAX_RANKS = 50
SHOWN = 20  # losses, competitors
WINDOWS = {"7": "1 week", "28": "4 weeks", "91": "1 quarter"}
PLACES = {"1 to 3": "green", "4 to 10": "azure", "below 10": "yellow", "not found": "gray"}


async def show(call: ConsoleRequest) -> Response:
    """Visibility of all domains, movers and the number of captured pages."""
    applied, values = await discovery_labels.about(call)
    if applied is None:
        return await call.page("serps/overview.html", **values)
    days = _days(call)
    found = await call.context.overviews.get(applied, int(days))
    return await call.page(
        "serps/overview.html",
        window=found.window,
        windows=WINDOWS,
        days=days,
        tally=found.tally,
        seen=found.seen,
        all_seen=found.all_seen,
        gained=[one for one in found.moved if one.change > 0],
        lost=[one for one in found.moved if one.change < 0],
        chart=visibility_chart(found.drawn, found.spans) if found.drawn else None,
        **values,
    )


async def show_pages(call: ConsoleRequest) -> Response:
    """The list of result pages, including gaps."""
    _, values = await discovery_labels.about(call)
    labels = {"outcome": {key: label for key, (label, _) in discovery_labels.SERP.items()}}
    listed = await discovery_labels.listed(
        call, SERPS, "/serps/pages", values["known"], labels=labels
    )
    return await call.page("serps/pages.html", listed=listed, **values)


async def show_page(call: ConsoleRequest) -> Response:
    """One captured result page, or the reason for a gap."""
    database = call.context.database
    key = discovery_labels.uuid_of(call.part("snapshot_id"), "result page")
    page = await serp_queries.get(database, key)
    _, values = await discovery_labels.about(call, page.vertical)
    return await call.page("serps/page.html", page=page, blocks=blocks_of(page.results), **values)


async def show_domain(call: ConsoleRequest) -> Response:
    """One domain on result pages: visibility, ranks, losses and competitors."""
    applied, values = await discovery_labels.about(call)
    name = _domain(call)
    values["name"] = name
    if applied is None:
        return await call.page("serps/domain.html", **values)
    async with call.context.database.transaction() as connection:
        window = await _window(connection, call, "28")
        spans = trends.spans(window.until)
        stood = await trends.places(connection, applied, spans, name)
        values |= {
            "chart": visibility_chart({name: [_seen(one) for one in stood]}, spans),
            "places": places_chart(stood, spans),
            "standing": await trends.standing(connection, applied, window, name, MAX_RANKS),
            "losses": await ranks.losses(connection, applied, window, name, limit=SHOWN),
            "competitors": await visibility.competitors(
                connection, applied, window, [name], limit=SHOWN
            ),
        }
    return await call.page(
        "serps/domain.html", windows=WINDOWS, days=_days(call, "28"), window=window, **values
    )


def visibility_chart(
    drawn: Mapping[str, Sequence[float | None]], spans: Sequence[TimeSpan]
) -> Curves:
    """One curve per domain; a span without complete result pages is a gap."""
    rows = dict(drawn)
    gaps = [at for at in range(len(spans)) if all(row[at] is None for row in rows.values())]
    labels = [f"{span.since:%d %b} to {span.until:%d %b %Y}" for span in spans]
    values = "; ".join(f"{name} {_share(row)}" for name, row in rows.items())
    summary = f"Visibility over {len(spans)} spans, {len(gaps)} of them gaps: {values}"
    every = [value for row in rows.values() for value in row]
    return charts.curves(rows, labels, Axis.of_shares(every), summary, gaps=gaps)


def places_chart(counted: Sequence[VisibilitySpan | None], spans: Sequence[TimeSpan]) -> Bars:
    """Keywords by rank of a domain; empty for spans without complete result pages."""
    columns = [
        (f"{span.until:%d %b}", _tally(one)) for one, span in zip(counted, spans, strict=True)
    ]
    known = [one for one in counted if one is not None]
    now = known[-1] if known else VisibilitySpan(0.0, 0, 0, 0, 0)
    summary = (
        f"Keywords by rank, most recently: {now.first_three} at 1 to 3, {now.first_ten} at 4 to 10, "
        f"{now.below} below 10, {now.absent} not found; "
        f"{len(counted) - len(known)} of {len(counted)} weeks are gaps"
    )
    return charts.bars(columns, PLACES, summary)


def blocks_of(results: Sequence[SeenResult]) -> list[tuple[str, list[SeenResult]]]:
    """Results by block, in page order."""
    grouped = {block: list(rows) for block, rows in groupby(results, lambda result: result.block)}
    return [
        (label, grouped[block])
        for block, label in discovery_labels.BLOCKS.items()
        if block in grouped
    ]


def _tally(one: VisibilitySpan | None) -> dict[str, int]:
    if one is None:
        return {}
    return dict(zip(PLACES, (one.first_three, one.first_ten, one.below, one.absent), strict=True))


def _seen(one: VisibilitySpan | None) -> float | None:
    return None if one is None else one.visibility


def _share(row: Sequence[float | None]) -> str:
    known = [value for value in row if value is not None]
    return f"{known[-1]:.1%}, maximum {max(known):.1%}" if known else "never measured"


def _days(call: ConsoleRequest, default: str = "7") -> str:
    days = call.query("days")
    return days if days in WINDOWS else default


async def _window(connection: Connection, call: ConsoleRequest, default: str = "7") -> TimeSpan:
    length = timedelta(days=int(_days(call, default)))
    return await visibility.last_window(connection, length)


def _domain(call: ConsoleRequest) -> str:
    try:
        return Submission.understand(call.part("name")).domain
    except UsageError:
        return call.part("name")[:253].lower()


SCREENS = (
    get("/serps", Act.READ, show),
    get("/serps/pages", Act.READ, show_pages),
    get("/serps/domains/{name}", Act.READ, show_domain),
    get("/serps/{snapshot_id}", Act.READ, show_page),
)
