"""Compares the database after a rehearsal with the ground truth of its simulated web."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from messor.insight import visibility
from messor.insight.visibility import TimeSpan
from messor.store.database import Database
from messor.verticals.verticals import Applied
from simweb import LoggedRequest
from simweb.commands import rehearsal_checks as checks
from simweb.commands.rehearsal_checks import Check, TruePage
from simweb.truth import Serp, Truth

PAGES = """
SELECT k.id::text AS keyword, k.keyword_text AS text, p.location, k.tier, s.captured_at
  FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
  JOIN messor.serp_profiles p ON p.id = s.serp_profile_id
 WHERE k.vertical_id = $1 AND s.outcome <> 'failed' AND s.captured_at >= $2 AND s.captured_at < $3
"""
FOUND = """
SELECT DISTINCT domain FROM messor.candidates
 WHERE vertical_id = $1 AND status <> 'SKIPPED_LOW_CONFIDENCE'
"""
KINDS = """
SELECT n.domain, coalesce(nullif(d.domain_class, 'unknown'), c.class, 'unknown') AS kind
  FROM (SELECT domain FROM messor.domains
         UNION SELECT domain FROM messor.serp_results WHERE domain IS NOT NULL) n
  LEFT JOIN messor.domains d ON d.domain = n.domain
  LEFT JOIN messor.domain_classes c ON c.domain = n.domain
"""
OWNERS = """
SELECT d.domain, o.name FROM messor.organisation_domains d
  JOIN messor.organisations o ON o.id = d.organisation_id WHERE d.vertical_id = $1
"""
APPROVED = "SELECT domain FROM messor.domains WHERE status = 'approved'"
WANTED = """
SELECT c.id::text FROM messor.candidates c JOIN messor.domains d ON d.id = c.domain_id
 WHERE d.status = 'approved'
"""
UNREAD = """
SELECT c.id::text || ' of ' || c.domain || ': ' || coalesce(c.crawl_note, 'no reason recorded') FROM messor.candidates c
  JOIN messor.domains d ON d.id = c.domain_id
 WHERE d.status = 'approved' AND c.status = 'PENDING_CRAWL'
"""
PAID_TWICE = """
SELECT k.keyword_text FROM messor.search_spend s JOIN messor.search_requests r ON r.id = s.request_id
  JOIN messor.keywords k ON k.id = r.keyword_id WHERE s.state <> 'refused'
 GROUP BY k.keyword_text, r.id HAVING count(*) > 1
"""
WITHOUT_LEVEL = (
    "SELECT domain FROM messor.domains WHERE status = 'approved' AND track_level IS NULL"
)
# History makes the crawl frequency at most four times higher or lower.
OFF_CADENCE = """
SELECT DISTINCT d.domain FROM messor.crawl_tasks t JOIN messor.hosts h ON h.id = t.host_id
  JOIN messor.domains d ON d.id = h.domain_id AND d.track_level IS NOT NULL
 WHERE t.kind = 'page' AND t.outcome IN ('ok', 'unchanged') AND t.completed_at >= $1
   AND (t.due_at - t.completed_at < messor.base_frequency(d.track_interval, d.track_level, NULL) / 4.1
     OR t.due_at - t.completed_at > messor.base_frequency(d.track_interval, d.track_level, NULL) * 4.1)
"""
CADENCE = """
SELECT d.track_level AS level, count(DISTINCT d.id)::int AS domains, count(t.page_id)::int AS pages,
       avg(extract(epoch FROM t.due_at - t.completed_at) / 86400)::float8 AS days
  FROM messor.domains d JOIN messor.hosts h ON h.domain_id = d.id
  JOIN messor.crawl_tasks t ON t.host_id = h.id AND t.kind = 'page' AND t.completed_at >= $1
   AND t.outcome IN ('ok', 'unchanged')
 WHERE d.track_level IS NOT NULL GROUP BY 1 ORDER BY 1
"""


class Findings:
    """Checks of one vertical against the ground truth of its market."""

    def __init__(self, database: Database, applied: Applied, truth: Truth) -> None:
        self._database = database
        self._applied = applied
        self._truth = truth
        self._served: dict[tuple[str, str, int], Serp] = {}

    async def discovery(self, window: TimeSpan, epoch: int) -> list[Check]:
        """Check recall and precision of the domains found by search."""
        reachable: set[str] = set()
        pages = await self._rows(PAGES, self._applied.id, window.since, window.until)
        for row in pages:
            reachable |= self._serp(row, epoch).domains()
        found = await self._names(FOUND, self._applied.id)
        return [
            checks.share("recall", reachable & self._truth.relevant, found, checks.RECALL),
            checks.share("precision", found, self._truth.relevant, checks.PRECISION),
            checks.none_of("paid twice", await self._names(PAID_TWICE)),
        ]

    async def classes(self) -> Check:
        true = {name: one.domain_class for name, one in self._truth.domains.items()}
        return checks.accuracy("classes", await self._kinds(), true, checks.CLASSES)

    async def reading(self, requests: Collection[LoggedRequest]) -> list[Check]:
        """Check that approved domains were crawled, and no others."""
        hosts = {one.host: one.domain for one in self._truth.domains.values()}
        approved = await self._names(APPROVED)
        unread = await self._names(UNREAD)
        wanted = await self._names(WANTED)
        value = 1 - len(unread) / len(wanted) if wanted else 0.0
        visited = {hosts[one.host.partition(":")[0]] for one in requests}
        return [
            checks.at_least("candidates read", value, checks.READ, "; ".join(sorted(unread)[:3])),
            checks.none_of("fetched without approval", visited - approved),
            checks.none_of("without a track level", await self._names(WITHOUT_LEVEL)),
        ]

    async def visibility(self, window: TimeSpan, epoch: int) -> list[Check]:
        """Check that visibility follows exactly from the true result lists."""
        owners = await self._owners()
        counted = self._counted(await self._kinds())
        when = ", a week later" if epoch else ""
        pages = await self._pages(window, epoch, counted)
        scoring = self._applied.vertical.scoring
        seen = await visibility.of_domains(self._database, self._applied, window)
        owned = await visibility.of_organisations(self._database, self._applied, window)
        by_owner = [TruePage(p.keyword, p.tier, _best(p.ranks, owners)) for p in pages]
        return [
            checks.equal(
                f"visibility{when}",
                {one.name: one.visibility for one in seen},
                checks.visibility(pages, scoring),
            ),
            checks.equal(
                f"visibility of organisations{when}",
                {one.name: one.visibility for one in owned},
                checks.visibility(by_owner, scoring),
            ),
        ]

    async def movers(self, window: TimeSpan, epoch: int) -> Check:
        """Check who moved between two windows, over keywords searched in both."""
        counted = self._counted(await self._kinds())
        now = await self._pages(window, epoch, counted)
        before = await self._pages(window.before, epoch - 1, counted)
        both = {page.keyword for page in now} & {page.keyword for page in before}
        scoring = self._applied.vertical.scoring
        then, after = (
            checks.visibility([page for page in pages if page.keyword in both], scoring)
            for pages in (before, now)
        )
        true = {
            name: after.get(name, 0.0) - then.get(name, 0.0)
            for name in {*then, *after}
            if abs(after.get(name, 0.0) - then.get(name, 0.0)) > checks.ROUNDING
        }
        found = await visibility.movers(self._database, self._applied, window, limit=10_000)
        return checks.equal("movers", {one.domain: one.change for one in found}, true)

    async def cadence(self, since: datetime) -> tuple[list[dict[str, Any]], Check]:
        """Return crawl frequency by track level, and check for domains off their cadence."""
        rows = [dict(row) for row in await self._rows(CADENCE, since)]
        return rows, checks.none_of("out of cadence", await self._names(OFF_CADENCE, since))

    async def _pages(
        self, window: TimeSpan, epoch: int, counted: Collection[str]
    ) -> list[TruePage]:
        rows = await self._rows(PAGES, self._applied.id, window.since, window.until)
        found = []
        for row in rows:
            ranks: dict[str, int] = {}
            for one in self._serp(row, epoch).results:
                if one.block in ("organic", "local_pack") and one.domain in counted:
                    ranks[one.domain] = min(one.rank, ranks.get(one.domain, one.rank))
            found.append(TruePage(row["keyword"], row["tier"], ranks))
        return found

    def _serp(self, row: Any, epoch: int) -> Serp:
        key = (row["text"], row["location"], epoch)
        if key not in self._served:
            self._served[key] = self._truth.serp(*key)
        return self._served[key]

    def _counted(self, kinds: Mapping[str, str]) -> set[str]:
        wanted = set(self._applied.vertical.counted_classes)
        return {name for name, kind in kinds.items() if kind in wanted}

    async def _kinds(self) -> dict[str, str]:
        return {row["domain"]: row["kind"] for row in await self._rows(KINDS)}

    async def _owners(self) -> dict[str, str]:
        return {row["domain"]: row["name"] for row in await self._rows(OWNERS, self._applied.id)}

    async def _names(self, sql: str, *args: Any) -> set[str]:
        return {row[0] for row in await self._rows(sql, *args)}

    async def _rows(self, sql: str, *args: Any) -> Any:
        return await self._database.fetch(sql, *args)


def _best(ranks: Mapping[str, int], owners: Mapping[str, str]) -> dict[str, int]:
    """Return the best rank of each owner."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for domain, rank in ranks.items():
        if domain in owners:
            found[owners[domain]].append(rank)
    return {name: min(owned) for name, owned in found.items()}
