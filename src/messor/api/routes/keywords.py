"""Keywords of a vertical: list, details with ranks, generation, expansion and tiers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.cursors import CursorParam, Listing, Pager, PageSize
from messor.api.gate import GatedRoute, needs
from messor.api.models.base import NO_NUL
from messor.api.models.discovery import (
    ExpansionOut,
    GenerationOut,
    GrowIn,
    KeywordIn,
    KeywordOut,
    KeywordsAddedOut,
    KeywordSearchOut,
    KeywordSource,
    KeywordState,
    KeywordTextOut,
    RetieredOut,
    SuggestionOut,
    Tier,
    TierChangeOut,
    TiersOut,
    VerticalName,
    WholeKeywordOut,
)
from messor.insight import trends
from messor.insight.trends import KeywordLooks
from messor.scout import expansion, keyword_queries, keywords, tiers
from messor.scout.keyword_queries import KeywordLook
from messor.verticals import verticals

router = APIRouter(tags=["keywords"], route_class=GatedRoute)

MAX_SUGGESTIONS = 1_000
OF_VERTICAL = "/verticals/{vertical}/keywords"
Part = Annotated[str | None, Query(min_length=1, max_length=200, pattern=NO_NUL)]


@router.get(OF_VERTICAL)
@needs(Act.READ)
async def list_keywords(
    vertical: VerticalName,
    database: DatabaseDep,
    *,
    tier: Tier | None = None,
    kind: Annotated[KeywordSource | None, Query(description="DatabaseDep of the keyword")] = None,
    state: KeywordState = "active",
    q: Part = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[KeywordTextOut]:
    """List keywords by text, each with its profiles."""
    applied = await verticals.get(database, vertical)
    filters = KeywordLook(tier, kind, keywords.normal(q) or None if q else None, state)
    pager = Pager("keywords", vertical, filters)
    after = pager.read(cursor, str) or ""
    rows = await keyword_queries.grid(
        database, applied, filters, after=after.replace("\x00", ""), limit=limit + 1
    )
    items = [
        KeywordTextOut(
            text=row.text,
            keywords=[KeywordOut.model_validate(cell) for cell in row.cells.values()],
        )
        for row in rows[:limit]
    ]
    return Listing(items=items, next=pager.next(rows, limit, lambda row: row.text))


@router.post(OF_VERTICAL, status_code=201)
@needs(Act.DOMAINS_CONFIGURE)
async def add_keyword(
    vertical: VerticalName, given: KeywordIn, connection: TransactionDep
) -> KeywordsAddedOut:
    """Add a keyword manually, for all profiles or some; it is never pruned."""
    applied = await verticals.get(connection, vertical)
    new = await keywords.add(connection, applied, given.text, tier=given.tier, names=given.profiles)
    return KeywordsAddedOut(new=new)


@router.post(f"{OF_VERTICAL}/generate")
@needs(Act.DOMAINS_CONFIGURE, own_transactions=True)
async def generate_keywords(
    vertical: VerticalName, given: GrowIn, database: DatabaseDep, principal: PrincipalDep
) -> GenerationOut:
    """Generate keywords from the templates with services, synonyms and places."""
    applied = await verticals.get(database, vertical)
    seen = await keywords.preview(database, applied)
    written = (
        await keywords.write(database, applied, actor=principal.actor) if given.write else None
    )
    figures = {**asdict(seen), "sample": list(seen.sample)}
    return GenerationOut(**figures, new=seen.new, written=written)


@router.post(f"{OF_VERTICAL}/expand")
@needs(Act.DOMAINS_CONFIGURE, own_transactions=True)
async def expand_keywords(
    vertical: VerticalName, given: GrowIn, database: DatabaseDep, principal: PrincipalDep
) -> ExpansionOut:
    """Add suggestions from result pages that stay on topic."""
    applied = await verticals.get(database, vertical)
    if given.write:
        found = await expansion.expand(database, applied, actor=principal.actor)
    else:
        found = await expansion.suggest(database, applied)
    shown = [
        SuggestionOut(
            text=one.text,
            seed=one.seed,
            source=one.source,  # type: ignore[arg-type]  # the database allows no other
            depth=one.depth,
            drift=one.drift,
            taken=one.taken,
            message=one.message,
        )
        for one in found[:MAX_SUGGESTIONS]
    ]
    taken = sum(one.taken for one in found)
    return ExpansionOut(suggestions=shown, taken=taken, all=len(found), written=given.write)


@router.post(f"{OF_VERTICAL}/tiers")
@needs(Act.DOMAINS_CONFIGURE, own_transactions=True)
async def tier_keywords(
    vertical: VerticalName, given: GrowIn, database: DatabaseDep, principal: PrincipalDep
) -> TiersOut:
    """Assign tiers by measured value."""
    applied = await verticals.get(database, vertical)
    changes = await tiers.preview(database, applied)
    done = await tiers.apply(database, applied, actor=principal.actor) if given.write else None
    return TiersOut(
        changes=[TierChangeOut.model_validate(one) for one in changes],
        done=None if done is None else RetieredOut.model_validate(done),
    )


@router.get("/keywords/{keyword_id}")
@needs(Act.READ)
async def show_keyword(keyword_id: UUID, database: DatabaseDep) -> WholeKeywordOut:
    """Get a keyword with the ranks on its latest result pages."""
    found = await keyword_queries.get(database, keyword_id)
    seen = await trends.looks(database, keyword_id)
    facts = {name: getattr(found, name) for name in WholeKeywordOut.model_fields if name != "looks"}
    return WholeKeywordOut(**facts, looks=_looks(seen))


def _looks(seen: KeywordLooks) -> list[KeywordSearchOut]:
    return [
        KeywordSearchOut(
            id=key,
            captured_at=seen.times[at],
            outcome=seen.outcomes[at],  # type: ignore[arg-type]  # the database allows no other
            ranks={
                domain: rank
                for domain, ranks in seen.ranks.items()
                if (rank := ranks[at]) is not None
            },
        )
        for at, key in enumerate(seen.ids)
    ]
