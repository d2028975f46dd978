"""Keywords of a vertical: list, details with ranks, generation, expansion and tiers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter

from messor.access.roles import Act
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.discovery import (
    ExpansionOut,
    GenerationOut,
    GrowIn,
    KeywordIn,
    KeywordsAddedOut,
    KeywordTierIn,
    TiersOut,
    VerticalName,
)
from messor.insight import trends
from messor.insight.trends import KeywordLooks
from messor.scout import expansion, keyword_queries, keywords, tiers
from messor.scout.keyword_queries import KEYWORDS, Keyword, KeywordFacts, KeywordFilter
from messor.scout.serps import Outcome
from messor.store.listing import ListPage
from messor.verticals import verticals

router = APIRouter(tags=["keywords"], route_class=GatedRoute)

MAX_SUGGESTIONS = 1_000
OF_VERTICAL = "/verticals/{vertical}/keywords"


@dataclass(frozen=True, slots=True)
class KeywordSearch:
    """One search for a keyword; `failed` is a gap without ranks."""

    id: UUID
    captured_at: datetime
    outcome: Outcome
    ranks: dict[str, int]  # by domain; domains not found are absent


@dataclass(frozen=True, slots=True, kw_only=True)
class KeywordRanks(KeywordFacts):
    """A keyword with its latest searches, oldest first."""

    looks: list[KeywordSearch]


@router.get("/keywords")
@needs(Act.READ)
async def list_keywords(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Keyword, KeywordFilter], list_request(KEYWORDS)],
) -> ListPage[Keyword]:
    """List keywords, filtered and ordered; a text has one on each profile."""
    return await asked.read(database)


@router.post(OF_VERTICAL, status_code=201)
@needs(Act.DOMAINS_CONFIGURE)
async def add_keyword(
    vertical: VerticalName, given: KeywordIn, connection: TransactionDep, principal: PrincipalDep
) -> KeywordsAddedOut:
    """Add a keyword manually, for all profiles or some; it is never pruned."""
    applied = await verticals.get(connection, vertical)
    new = await keywords.add(
        connection,
        applied,
        given.text,
        tier=given.tier,
        names=given.profiles,
        actor=principal.actor,
    )
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
        async with database.transaction() as connection:
            grown = await expansion.expand(connection, applied, actor=principal.actor)
        found = grown.suggestions
    else:
        found = await expansion.suggest(database, applied)
    taken = sum(one.taken for one in found)
    return ExpansionOut(
        suggestions=found[:MAX_SUGGESTIONS], taken=taken, all=len(found), written=given.write
    )


@router.post(f"{OF_VERTICAL}/tiers")
@needs(Act.DOMAINS_CONFIGURE, own_transactions=True)
async def tier_keywords(
    vertical: VerticalName, given: GrowIn, database: DatabaseDep, principal: PrincipalDep
) -> TiersOut:
    """Assign tiers by measured value."""
    applied = await verticals.get(database, vertical)
    async with database.transaction() as connection:
        changes = await tiers.preview(connection, applied)
        if not given.write:
            return TiersOut(changes=changes, done=None)
        done = await tiers.apply(connection, applied, actor=principal.actor)
    return TiersOut(changes=changes, done=done)


@router.put("/keywords/{keyword_id}/tier")
@needs(Act.DOMAINS_CONFIGURE)
async def set_keyword_tier(
    keyword_id: UUID, given: KeywordTierIn, connection: TransactionDep, principal: PrincipalDep
) -> KeywordFacts:
    """Set a keyword's tier by hand; it stays until you return it with null."""
    await keyword_queries.get(connection, keyword_id)
    await keywords.set_tier(connection, [keyword_id], given.tier, actor=principal.actor)
    return await keyword_queries.get(connection, keyword_id)


@router.get("/keywords/{keyword_id}")
@needs(Act.READ)
async def show_keyword(keyword_id: UUID, database: DatabaseDep) -> KeywordRanks:
    """Get a keyword with the ranks on its latest result pages."""
    found = await keyword_queries.get(database, keyword_id)
    seen = await trends.looks(database, keyword_id)
    return KeywordRanks(**asdict(found), looks=[_look(seen, at) for at in range(len(seen.ids))])


def _look(seen: KeywordLooks, at: int) -> KeywordSearch:
    ranks = {domain: rank for domain, each in seen.ranks.items() if (rank := each[at]) is not None}
    return KeywordSearch(seen.ids[at], seen.times[at], seen.outcomes[at], ranks)
