"""Keywords: the grid of texts by profile, one keyword with its ranks over time, and adding keywords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, discovery_labels
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.charts import Axis, Curves
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.insight import trends
from messor.insight.trends import KeywordLooks
from messor.scout import keyword_queries, keywords, serp_queries
from messor.scout.keyword_queries import SOURCES, STATES, KeywordLook, TierCount
from messor.verticals import verticals

PER_PAGE = 50


async def show_all(call: ConsoleRequest) -> Response:
    """The grid, one page of texts at a time."""
    applied, values = await discovery_labels.about(call)
    if applied is None:
        return await call.page("keywords/list.html", **values)
    filters, after = _filters(call), call.query("after")
    rows = await keyword_queries.grid(
        call.context.database, applied, filters, after=after, limit=PER_PAGE + 1
    )
    keep = {"vertical": applied.vertical.name, **_filter_values(filters)}
    more = None
    if len(rows) > PER_PAGE:
        more = with_query("/keywords", after=rows[PER_PAGE - 1].text, **keep)
    shown = rows[:PER_PAGE]
    values |= {
        "rows": shown,
        "profiles": _profiles(shown) or sorted(applied.vertical.profiles),
        "filters": filters,
        "more": more,
        "first": with_query("/keywords", **keep) if after else None,
        "states": STATES,
    }
    if call.is_partial:
        return call.bare("keywords/rows.html", **values)
    counts = await keyword_queries.counts(call.context.database, applied)
    return await call.page("keywords/list.html", counts=counts, shares=_shares(counts), **values)


async def show(call: ConsoleRequest) -> Response:
    """One keyword: source, value and the ranks on its result pages."""
    database = call.context.database
    key = discovery_labels.uuid_of(call.part("keyword_id"), "keyword")
    keyword = await keyword_queries.get(database, key)
    applied, values = await discovery_labels.about(call, keyword.vertical)
    assert applied is not None
    domain = call.query("domain")[:253].lower() or None
    seen = await trends.looks(database, key, domain=domain)
    pages = await serp_queries.pages(database, applied, keyword_id=key, limit=PER_PAGE)
    return await call.page(
        "keywords/keyword.html",
        keyword=keyword,
        ranks=rank_chart(seen) if seen.ids else None,
        pages=pages,
        most=PER_PAGE,
        domain=domain,
        **values,
    )


async def add(call: ConsoleRequest) -> Response:
    """Add a keyword manually, for one profile or all."""
    name, tier = call.form.text("vertical"), call.form.text("tier", "C")
    profile = call.form.words("profile")
    back = with_query("/keywords", vertical=name[:63])
    if tier not in discovery_labels.TIERS:
        raise UsageError(f"The tier must be one of {', '.join(discovery_labels.TIERS)}.")
    try:
        async with call.context.database.transaction() as connection:
            applied = await verticals.get(connection, name[:63])
            new = await keywords.add(
                connection,
                applied,
                call.form.text("text"),
                tier=tier,
                names=[profile] if profile else [],
            )
    except UsageError as error:
        return call.go(back, str(error), "danger")
    message = f"{new} keywords were added." if new else "These keywords already exist."
    return call.go(back, message, "success" if new else "warning")


def rank_chart(seen: KeywordLooks) -> Curves:
    """Ranks of the leading domains, with failed searches as gaps."""
    gaps = [at for at, outcome in enumerate(seen.outcomes) if outcome == "failed"]
    labels = [f"{moment:%d %b %Y}" for moment in seen.times]
    ranks: dict[str, Sequence[float | None]] = dict(seen.ranks)
    every = [rank for row in ranks.values() for rank in row]
    summary = (
        f"Ranks on the last {len(labels)} result pages, {len(gaps)} of them gaps: "
        + "; ".join(f"{domain} {_rank_range(row)}" for domain, row in seen.ranks.items())
    )
    return charts.curves(ranks, labels, Axis.of_ranks(every), summary, gaps=gaps)


def _rank_range(ranks: Sequence[int | None]) -> str:
    known = [rank for rank in ranks if rank is not None]
    return f"from {known[0]} to {known[-1]}" if known else "never found"


def _filters(call: ConsoleRequest) -> KeywordLook:
    """Filters from the query string; unknown values are ignored."""
    tier, source, state = call.query("tier"), call.query("source"), call.query("state")
    return KeywordLook(
        tier if tier in discovery_labels.TIERS else None,
        source if source in SOURCES else None,
        keywords.normal(call.query("q"))[:200] or None,
        state if state in STATES else "active",
    )


def _filter_values(filters: KeywordLook) -> dict[str, Any]:
    return {
        "tier": filters.tier,
        "source": filters.source,
        "q": filters.containing,
        "state": filters.state if filters.state != "active" else "",
    }


def _profiles(rows: Sequence[keyword_queries.GridRow]) -> list[str]:
    return sorted({profile for row in rows for profile in row.cells})


def _shares(counts: Sequence[TierCount]) -> list[tuple[str, str, int, float]]:
    by_tier = {f"tier {one.tier}": one.keywords for one in counts if one.active}
    by_tier["pruned"] = sum(one.keywords for one in counts if not one.active)
    tones = {f"tier {tier}": tone for tier, tone in discovery_labels.TIERS.items()} | {
        "pruned": "red"
    }
    return charts.shares(by_tier, tones)


SCREENS = (
    get("/keywords", Act.READ, show_all),
    post("/keywords", Act.DOMAINS_CONFIGURE, add),
)
# Matched after `/keywords/generate` and the like, which would otherwise be taken for ids.
ONE = (get("/keywords/{keyword_id}", Act.READ, show),)
