"""Keywords: the grid of texts by profiles, one keyword with its ranks over time, and new ones by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from messor.access.roles import Act
from messor.console import charts, curves, discovery_labels
from messor.console.addresses import with_query
from messor.console.call import ConsoleRequest
from messor.console.curves import Axis, Curves
from messor.console.screens import get, post
from messor.errors import UsageError
from messor.insight import trends
from messor.insight.trends import KeywordLooks
from messor.scout import keyword_queries, keywords, serp_queries
from messor.scout.keyword_queries import SOURCES, STATES, KeywordLook, TierCount
from messor.verticals import verticals

PER_PAGE = 50


async def show_all(call: ConsoleRequest) -> Response:
    """The grid, a page of texts at a time."""
    applied, values = await discovery_labels.about(call)
    if applied is None:
        return await call.page("keywords/list.html", **values)
    look, after = _look(call), call.query("after")
    rows = await keyword_queries.grid(
        call.desk.database, applied, look, after=after, limit=PER_PAGE + 1
    )
    keep = {"vertical": applied.vertical.name, **_asked(look)}
    more = None
    if len(rows) > PER_PAGE:
        more = with_query("/keywords", after=rows[PER_PAGE - 1].text, **keep)
    shown = rows[:PER_PAGE]
    values |= {
        "rows": shown,
        "profiles": _profiles(shown) or sorted(applied.vertical.profiles),
        "look": look,
        "more": more,
        "first": with_query("/keywords", **keep) if after else None,
        "states": STATES,
    }
    if call.is_partial:
        return call.bare("keywords/rows.html", **values)
    counts = await keyword_queries.counts(call.desk.database, applied)
    return await call.page("keywords/list.html", counts=counts, shares=_shares(counts), **values)


async def show(call: ConsoleRequest) -> Response:
    """One keyword: where it came from, what it is worth, and who stood where on its pages."""
    database = call.desk.database
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
    """A keyword by hand, for every profile or one."""
    name, tier = call.form.text("vertical"), call.form.text("tier", "C")
    profile = call.form.words("profile")
    back = with_query("/keywords", vertical=name[:63])
    if tier not in discovery_labels.TIERS:
        raise UsageError(f"A tier is {', '.join(discovery_labels.TIERS)}.")
    try:
        async with call.desk.database.transaction() as connection:
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
    said = f"{new} keywords were added." if new else "These keywords were there already."
    return call.go(back, said, "success" if new else "warning")


def rank_chart(seen: KeywordLooks) -> Curves:
    """Ranks of the domains that lead, with the looks that failed as gaps."""
    gaps = [at for at, outcome in enumerate(seen.outcomes) if outcome == "failed"]
    labels = [f"{moment:%d %b %Y}" for moment in seen.times]
    ranks: dict[str, Sequence[float | None]] = dict(seen.ranks)
    every = [rank for row in ranks.values() for rank in row]
    said = f"Ranks on the last {len(labels)} looks, {len(gaps)} of them gaps: " + "; ".join(
        f"{domain} {_told(row)}" for domain, row in seen.ranks.items()
    )
    return curves.curves(ranks, labels, Axis.of_ranks(every), said, gaps=gaps)


def _told(ranks: Sequence[int | None]) -> str:
    known = [rank for rank in ranks if rank is not None]
    return f"from {known[0]} to {known[-1]}" if known else "never seen"


def _look(call: ConsoleRequest) -> KeywordLook:
    """What the address asks for; what it does not know is as if it was not there."""
    tier, source, state = call.query("tier"), call.query("source"), call.query("state")
    return KeywordLook(
        tier if tier in discovery_labels.TIERS else None,
        source if source in SOURCES else None,
        keywords.normal(call.query("q"))[:200] or None,
        state if state in STATES else "active",
    )


def _asked(look: KeywordLook) -> dict[str, Any]:
    return {
        "tier": look.tier,
        "source": look.source,
        "q": look.containing,
        "state": look.state if look.state != "active" else "",
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
# After `/keywords/generate` and its like, which would be taken for keys.
ONE = (get("/keywords/{keyword_id}", Act.READ, show),)
