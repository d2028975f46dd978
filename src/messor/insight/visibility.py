"""Visibility: an organisation's share of what is visible of a vertical on result pages.

For each keyword, the weight of the best position among organic and local results, averaged over the
keyword's good snapshots of the window, times the weight of its tier; summed, and divided by the
maximum: first place everywhere. Only first result pages count. A keyword without a good snapshot is
in neither sum. Domains of classes that the vertical is not about are ignored, and move nobody up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from messor.errors import NotFoundError, UsageError
from messor.store.database import Connection, Database
from messor.verticals.model import Scoring
from messor.verticals.verticals import Applied

DEFAULT_WINDOW = timedelta(days=7)

# $1 vertical, $2 and $3 the window, $4 rank weights, $5 to $7 tier weights, $8 counted classes.
_GOOD = """
looks AS MATERIALIZED (
  SELECT s.id, s.keyword_id,
         CASE k.tier WHEN 'A' THEN $5::float8 WHEN 'B' THEN $6::float8 ELSE $7::float8 END AS weight
    FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
    JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
   WHERE k.vertical_id = $1 AND s.outcome <> 'failed'
     AND s.captured_at >= $2 AND s.captured_at < $3
), good AS MATERIALIZED (
  SELECT id, keyword_id, weight / count(*) OVER (PARTITION BY keyword_id) AS share FROM looks
)"""
_GREATEST = "(SELECT sum(share) * ($4::float8[])[1] FROM good)"
_RESULTS = """messor.serp_results r JOIN good g ON g.id = r.snapshot_id
   AND r.block_type IN ('organic', 'local_pack') AND r.domain IS NOT NULL
   AND r.rank_position <= cardinality($4::float8[])"""
# No rank weighs more than the one above it: the maximum points of a page are those of the best
# position.
_PLACE = (
    """max(($4::float8[])[r.rank_position] * g.share) AS points, min(r.rank_position) AS rank"""
)
_SUMMED = """SELECT name, sum(points) AS points, count(*) AS pages, min(rank) AS best_rank
    FROM place GROUP BY name"""
_IS_COUNTED = """EXISTS (
  SELECT FROM (SELECT) one LEFT JOIN messor.domains d ON d.domain = {0}
    LEFT JOIN messor.domain_classes c ON c.domain = {0}
   WHERE coalesce(nullif(d.domain_class, 'unknown'), c.class, 'unknown') = ANY ($8::text[]))"""

# Classes and owners are looked up once per domain, not once per result. Results mark which is the
# best of their domain, so that they need not be grouped by page.
DOMAINS = f"""
WITH {_GOOD}, summed AS MATERIALIZED (
  SELECT r.domain AS name, sum(($4::float8[])[r.rank_position] * g.share) AS points,
         count(*) AS pages, min(r.rank_position) AS best_rank
    FROM {_RESULTS} AND r.is_best GROUP BY r.domain
)
SELECT m.name, o.organisation_id, m.points, {_GREATEST} AS greatest, m.pages, m.best_rank
  FROM summed m
  LEFT JOIN messor.organisation_domains o ON o.vertical_id = $1 AND o.domain = m.name
  LEFT JOIN messor.domains d ON d.domain = m.name
  LEFT JOIN messor.domain_classes c ON c.domain = m.name
 WHERE coalesce(nullif(d.domain_class, 'unknown'), c.class, 'unknown') = ANY ($8::text[])
 ORDER BY m.points DESC, m.name
"""
ORGANISATIONS = f"""
WITH {_GOOD}, owner AS MATERIALIZED (
  SELECT o.domain, o.organisation_id FROM messor.organisation_domains o
   WHERE o.vertical_id = $1 AND {_IS_COUNTED.format("o.domain")}
), place AS (
  SELECT o.organisation_id AS name, {_PLACE} FROM {_RESULTS} JOIN owner o ON o.domain = r.domain
   GROUP BY o.organisation_id, r.snapshot_id
), summed AS ({_SUMMED})
SELECT o.name, o.id AS organisation_id, m.points, {_GREATEST} AS greatest, m.pages, m.best_rank
  FROM summed m JOIN messor.organisations o ON o.id = m.name ORDER BY m.points DESC, o.name
"""
MEASURED = """
SELECT count(DISTINCT s.keyword_id) FROM messor.serp_snapshots s
  JOIN messor.keywords k ON k.id = s.keyword_id
  JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
 WHERE k.vertical_id = $1 AND s.outcome <> 'failed' AND s.captured_at >= $2 AND s.captured_at < $3
"""

# Two windows, over keywords with good snapshots in both: a missing one moves nobody.
MOVERS = """
WITH good AS MATERIALIZED (
  SELECT s.id, s.keyword_id, w.now,
         CASE k.tier WHEN 'A' THEN $5::float8 WHEN 'B' THEN $6::float8 ELSE $7::float8 END
           / count(*) OVER (PARTITION BY s.keyword_id, w.now) AS share,
         min(w.now::int) OVER (PARTITION BY s.keyword_id) AS first,
         max(w.now::int) OVER (PARTITION BY s.keyword_id) AS last
    FROM messor.serp_snapshots s JOIN messor.keywords k ON k.id = s.keyword_id
    JOIN messor.search_requests q ON q.id = s.request_id AND q.page = 1
   CROSS JOIN LATERAL (SELECT s.captured_at >= $2 AS now) w
   WHERE k.vertical_id = $1 AND s.outcome <> 'failed'
     AND s.captured_at >= $9 AND s.captured_at < $3
), twice AS MATERIALIZED (SELECT * FROM good WHERE first <> last), place AS (
  SELECT g.now, g.share, r.domain, min(r.rank_position) AS rank
    FROM messor.serp_results r JOIN twice g ON g.id = r.snapshot_id
   WHERE r.block_type IN ('organic', 'local_pack') AND r.domain IS NOT NULL
     AND r.rank_position <= cardinality($4::float8[])
   GROUP BY g.id, g.now, g.share, r.domain
), moved AS (
  SELECT p.domain, sum(($4::float8[])[p.rank] * p.share) FILTER (WHERE NOT p.now) AS before,
         sum(($4::float8[])[p.rank] * p.share) FILTER (WHERE p.now) AS after
    FROM place p LEFT JOIN messor.domains d ON d.domain = p.domain
    LEFT JOIN messor.domain_classes c ON c.domain = p.domain
   WHERE coalesce(nullif(d.domain_class, 'unknown'), c.class, 'unknown') = ANY ($8::text[])
   GROUP BY p.domain
)
SELECT m.domain, coalesce(m.before, 0) / t.greatest AS before, coalesce(m.after, 0) / t.greatest AS after
  FROM moved m, (SELECT sum(share) FILTER (WHERE now) * ($4::float8[])[1] AS greatest FROM twice) t
 WHERE t.greatest > 0 AND coalesce(m.before, 0) <> coalesce(m.after, 0)
 ORDER BY abs(coalesce(m.after, 0) - coalesce(m.before, 0)) DESC, m.domain LIMIT $10
"""

# Other domains on the same pages: how often, and how often above.
COMPETITORS = f"""
WITH {_GOOD}, ours AS MATERIALIZED (
  SELECT g.id, g.keyword_id, g.share, min(r.rank_position) AS rank
    FROM {_RESULTS} WHERE r.domain = ANY ($9::text[]) GROUP BY 1, 2, 3
), place AS (
  SELECT r.domain, u.keyword_id, u.share, u.rank AS ours, min(r.rank_position) AS rank
    FROM messor.serp_results r JOIN ours u ON u.id = r.snapshot_id
   WHERE r.block_type IN ('organic', 'local_pack') AND r.domain <> ALL ($9::text[])
     AND r.rank_position <= cardinality($4::float8[])
   GROUP BY u.id, u.keyword_id, u.share, u.rank, r.domain
)
SELECT p.domain, o.organisation_id, count(DISTINCT p.keyword_id) AS keywords,
       count(*) FILTER (WHERE p.rank < p.ours) AS above, count(*) AS meetings,
       coalesce(sum(($4::float8[])[p.rank] * p.share) / nullif({_GREATEST}, 0), 0) AS visibility
  FROM place p LEFT JOIN messor.organisation_domains o ON o.vertical_id = $1 AND o.domain = p.domain
 WHERE {_IS_COUNTED.format("p.domain")}
 GROUP BY p.domain, o.organisation_id ORDER BY keywords DESC, visibility DESC, p.domain LIMIT $10
"""
NOW = "SELECT messor.clock()"
# A million results are grouped in memory rather than on disk.
IN_MEMORY = "SET LOCAL work_mem = '128MB'"


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A time span, excluding its end."""

    since: datetime
    until: datetime

    def __post_init__(self) -> None:
        if self.since >= self.until:
            raise UsageError(
                f"A window must end after it begins; {self.since} is not before its end."
            )

    @property
    def before(self) -> TimeSpan:
        """The window of the same length that ends where this one begins."""
        return TimeSpan(self.since - (self.until - self.since), self.since)


@dataclass(frozen=True, slots=True)
class Visibility:
    """The visibility of a domain or an organisation."""

    name: str
    organisation_id: UUID | None
    visibility: float  # of the maximum
    share_of_voice: float  # of the total of all counted domains, or organisations
    pages: int  # of results that list it
    best_rank: int


@dataclass(frozen=True, slots=True)
class Moved:
    domain: str
    before: float
    after: float
    change: float


@dataclass(frozen=True, slots=True)
class Competitor:
    """Another domain or organisation on the same pages."""

    domain: str
    organisation_id: UUID | None
    keywords: int
    above: int  # pages that list it higher
    meetings: int
    visibility: float  # on these pages, of the maximum on all


async def last_window(
    source: Connection | Database, length: timedelta = DEFAULT_WINDOW
) -> TimeSpan:
    """The window that ends now."""
    now: datetime = await source.fetchval(NOW)
    return TimeSpan(now - length, now)


async def of_domains(
    source: Connection | Database,
    applied: Applied,
    window: TimeSpan,
    classes: Collection[str] | None = None,
) -> list[Visibility]:
    """Every visible domain, most visible first."""
    return _seen(await _fetch(source, DOMAINS, *_given(applied, window, classes)))


async def of_organisations(
    source: Connection | Database,
    applied: Applied,
    window: TimeSpan,
    classes: Collection[str] | None = None,
) -> list[Visibility]:
    """Every visible organisation; one with several domains counts by its best position."""
    return _seen(await _fetch(source, ORGANISATIONS, *_given(applied, window, classes)))


async def keywords_measured(
    source: Connection | Database, applied: Applied, window: TimeSpan
) -> int:
    """Keywords with a good snapshot; without any, visibility is unknown."""
    count: int = await source.fetchval(MEASURED, applied.id, window.since, window.until)
    return count


async def movers(
    source: Connection | Database, applied: Applied, window: TimeSpan, *, limit: int = 20
) -> list[Moved]:
    """Largest gains and losses since the previous window, over keywords seen well in both."""
    given = _given(applied, window, None)
    rows = await _fetch(source, MOVERS, *given, window.before.since, limit)
    return [Moved(**row, change=row["after"] - row["before"]) for row in rows]


async def competitors(
    source: Connection | Database,
    applied: Applied,
    window: TimeSpan,
    domains: Collection[str],
    *,
    limit: int = 20,
) -> list[Competitor]:
    """Others listed with these domains, for example those of one organisation."""
    if not domains:
        raise NotFoundError("An organisation without a domain has no competitors.")
    given = _given(applied, window, None)
    rows = await _fetch(source, COMPETITORS, *given, sorted(domains), limit)
    return [Competitor(**row) for row in rows]


def counted_classes(applied: Applied) -> frozenset[str]:
    """The domain classes that a vertical is about, from its file."""
    return frozenset(applied.vertical.counted_classes)


async def _fetch(source: Connection | Database, sql: str, *args: Any) -> Sequence[Any]:
    """Within the caller's transaction the memory setting lasts until its end."""
    if isinstance(source, Database):
        async with source.transaction() as connection:
            return await _fetch(connection, sql, *args)
    await source.execute(IN_MEMORY)
    return await source.fetch(sql, *args)


def _given(applied: Applied, window: TimeSpan, classes: Collection[str] | None) -> tuple[Any, ...]:
    scoring: Scoring = applied.vertical.scoring
    tiers = scoring.tier_weights
    return (
        applied.id,
        window.since,
        window.until,
        list(scoring.rank_weights),
        tiers["A"],
        tiers["B"],
        tiers["C"],
        sorted(counted_classes(applied) if classes is None else classes),
    )


def _seen(rows: Sequence[Any]) -> list[Visibility]:
    total = sum(row["points"] for row in rows)
    return [
        Visibility(
            row["name"],
            row["organisation_id"],
            row["points"] / row["greatest"] if row["greatest"] else 0.0,
            row["points"] / total if total else 0.0,
            row["pages"],
            row["best_rank"],
        )
        for row in rows
    ]
