"""The demo's search: sends keywords of a vertical to a simulated engine and judges the results."""

from __future__ import annotations

from typing import Any

from messor.cli.output import emit, print_table
from messor.cli.session import LOCAL_ADMIN
from messor.scout import explore, keywords
from messor.scout.candidate_queries import CANDIDATES, CandidateFilter
from messor.scout.candidates import Candidate
from messor.scout.engines.registry import hire
from messor.scout.explore import Explored
from messor.scout.search import Searcher
from messor.settings import EngineOptions
from messor.store.database import Database
from messor.verticals import files, verticals
from messor.verticals.verticals import Applied
from simweb import World
from simweb.engines import open_engines

VERTICAL = "funding"
KEYWORDS = 24
MAX_CANDIDATES = 5


async def search(database: Database, *, show: bool) -> dict[str, Any]:
    """Search the simulated web once; returns the session's statistics."""
    applied = await _applied(database)
    async with open_engines(World("demo")) as engines:
        options = {n: EngineOptions.model_validate(o) for n, o in engines.settings.items()}
        searcher = Searcher(database, hire(options))
        try:
            done = await explore.explore(
                database, searcher, applied, actor=LOCAL_ADMIN, limit=KEYWORDS
            )
        finally:
            await searcher.close()
    if show:
        filters = CandidateFilter(session_id=done.session_id)
        found = await CANDIDATES.read(database, filters, limit=MAX_CANDIDATES)
        _print(done, found.items)
    return done.statistics


async def _applied(database: Database) -> Applied:
    """Apply the vertical and add some of its keywords."""
    async with database.transaction() as connection:
        applied, _ = await verticals.apply(connection, files.shipped(VERTICAL), actor=LOCAL_ADMIN)
        phrases = keywords.generate(applied.vertical).phrases
        profile = next(iter(applied.vertical.profiles))
        for phrase in phrases[:: max(len(phrases) // KEYWORDS, 1)]:
            await keywords.add(
                connection, applied, phrase.text, tier="B", names=[profile], actor=LOCAL_ADMIN
            )
    return applied


def _print(done: Explored, found: list[Candidate]) -> None:
    emit(f"\nSearch for {done.paid_for} {VERTICAL} keywords (messor scout search {VERTICAL})")
    table = [(o.domain, f"{o.confidence_score:.2f}", o.status, o.title[:50]) for o in found]
    print_table(("domain", "confidence", "candidate", "title"), table)
