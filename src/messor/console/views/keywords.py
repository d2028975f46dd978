"""Keywords: the grid of texts by profile, one keyword with its ranks over time, and adding keywords."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

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
from messor.scout import keyword_queries, keywords
from messor.scout.keyword_queries import KEYWORDS, TierCount
from messor.scout.keywords import Tier
from messor.scout.serp_queries import SERPS, SerpFilter
from messor.verticals import verticals

MAX_PAGES = 50
LABELS = {
    "tier": {tier: f"{tier}, {often}" for tier, often in discovery_labels.TIER_WORDS.items()},
    "source": discovery_labels.SOURCES,
}


async def show_all(call: ConsoleRequest) -> Response:
    """The list of keywords, and the number by tier of one vertical."""
    applied, values = await discovery_labels.about(call)
    listed = await discovery_labels.listed(
        call, KEYWORDS, "/keywords", values["known"], labels=LABELS
    )
    values["listed"] = listed
    if call.is_partial:
        return call.bare("keywords/rows.html", **values)
    counts = await keyword_queries.counts(call.context.database, applied.id) if applied else []
    return await call.page("keywords/list.html", counts=counts, shares=_shares(counts), **values)


async def show(call: ConsoleRequest) -> Response:
    """One keyword: source, value and the ranks on its result pages."""
    database = call.context.database
    key = discovery_labels.uuid_of(call.part("keyword_id"), "keyword")
    keyword = await keyword_queries.get(database, key)
    _, values = await discovery_labels.about(call, keyword.vertical)
    domain = call.query("domain")[:253].lower() or None
    seen = await trends.looks(database, key, domain=domain)
    pages = await SERPS.read(database, SerpFilter(keyword_id=key), limit=MAX_PAGES)
    return await call.page(
        "keywords/keyword.html",
        keyword=keyword,
        ranks=rank_chart(seen) if seen.ids else None,
        pages=pages,
        domain=domain,
        **values,
    )


async def add(call: ConsoleRequest) -> Response:
    """Add a keyword manually, for one profile or all."""
    name, tier = call.form.text("vertical"), _tier(call.form.text("tier"))
    profile = call.form.words("profile")
    back = with_query("/keywords", vertical=name[:63])
    try:
        async with call.context.database.transaction() as connection:
            applied = await verticals.get(connection, name[:63])
            new = await keywords.add(
                connection,
                applied,
                call.form.text("text"),
                tier=tier,
                names=[profile] if profile else [],
                actor=call.actor,
            )
    except UsageError as error:
        return call.go(back, str(error), "danger")
    message = f"{new} keywords were added." if new else "These keywords already exist."
    return call.go(back, message, "success" if new else "warning")


async def set_tier(call: ConsoleRequest) -> Response:
    """Set a keyword's tier by hand, or return it to automatic tiers."""
    key = discovery_labels.uuid_of(call.part("keyword_id"), "keyword")
    tier = _tier(call.form.text("tier"))
    async with call.context.database.transaction() as connection:
        await keywords.set_tier(connection, [key], tier, actor=call.actor)
    now = f"tier {tier}, set by hand" if tier else "rated automatically"
    return call.go(f"/keywords/{key}", f"The keyword is {now}.")


def _tier(text: str) -> Tier | None:
    """A tier of a form; empty stands for automatic."""
    if text and text not in discovery_labels.TIERS:
        raise UsageError(f"The tier must be one of {', '.join(discovery_labels.TIERS)}.")
    return cast(Tier, text) if text else None


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
ONE = (
    get("/keywords/{keyword_id}", Act.READ, show),
    post("/keywords/{keyword_id}/tier", Act.DOMAINS_CONFIGURE, set_tier),
)
