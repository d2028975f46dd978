"""The plan: which few of the known pages a run reads, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from messor.core import clock
from messor.fetch.outcome import Outcome
from messor.frontier.categories import categorise
from messor.frontier.sample import SampleCandidate, sample
from messor.ingest.run import IngestionRun, PageChoice, retry_until_available
from messor.politeness.robots import RobotsCache
from messor.web.urls import parse

MAX_CANDIDATES = 5_000
DEAD_ENDS = [outcome for outcome in Outcome if outcome.is_dead_end]

# Some of every category, shallow pages first. Pages known to be dead ends are not requested again
# within a day.
CANDIDATES = """
SELECT c.id, c.url, c.category, c.depth, c.found_by, c.lastmod, c.robots_id FROM (
  SELECT p.id, p.url, p.category, p.depth, p.found_by, p.sitemap_lastmod AS lastmod,
         CASE WHEN p.url LIKE coalesce(h.scheme, split_part(p.url, ':', 1)) || ':%' THEN h.robots_id
              ELSE h.other_robots_id END AS robots_id,
         row_number() OVER (PARTITION BY p.category ORDER BY p.depth, length(p.url), p.id) AS rank
    FROM messor.hosts h JOIN messor.pages p ON p.host_id = h.id
    JOIN messor.crawl_tasks t ON t.page_id = p.id
   WHERE h.domain_id = $1 AND t.kind = 'page' AND t.status NOT IN ('paused', 'cancelled')
     AND coalesce(t.outcome, '') NOT IN ('depth', 'scope', 'trap')
     AND (t.last_fetched_at IS NULL OR t.last_fetched_at < messor.clock() - interval '24 hours'
          OR t.outcome <> ALL ($3::text[]))) c
 ORDER BY c.rank, c.id LIMIT $2
"""


@dataclass(frozen=True, slots=True)
class PlanCandidate:
    page_id: int
    sampled: SampleCandidate
    robots_id: int | None


async def make_plan(run: IngestionRun, agent: str) -> None:
    """Fill the plan up to what mode and risk allow."""
    rows = await retry_until_available(
        lambda: run.database.fetch(CANDIDATES, run.domain.id, MAX_CANDIDATES, DEAD_ENDS)
    )
    candidates = await _allowed(run, [_candidate(run, row) for row in rows], agent)
    by_url = {candidate.sampled.url: candidate.page_id for candidate in candidates}
    choices = sample([each.sampled for each in candidates], 2 * run.cap, clock.this_year())
    await run.plan(
        PageChoice(by_url[choice.candidate.url], choice.origin, choice.reason) for choice in choices
    )


def _candidate(run: IngestionRun, row: Any) -> PlanCandidate:
    url = parse(row["url"])
    assert url is not None, "pages hold web addresses"
    category = categorise(url.target)
    wanted = row["url"] in (run.checked.url.href, run.checked.home.href)
    sampled = SampleCandidate(
        row["url"],
        category.name if category else row["category"],
        category.score if category else 0.0,
        row["depth"],
        "seed" if wanted else row["found_by"],
        lastmod=row["lastmod"],
    )
    return PlanCandidate(row["id"], sampled, row["robots_id"])


async def _allowed(
    run: IngestionRun, candidates: list[PlanCandidate], agent: str
) -> list[PlanCandidate]:
    """Pages that robots.txt allows: a page that will be refused would waste a slot."""
    robots_cache = RobotsCache(run.database, agent)
    ids = {each.robots_id for each in candidates if each.robots_id is not None}
    robots = await retry_until_available(lambda: robots_cache.get(ids))
    return [
        each
        for each in candidates
        if each.robots_id is None
        or each.robots_id not in robots
        or robots[each.robots_id].objection(agent, each.sampled.url) is None
    ]
