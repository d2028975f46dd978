"""Parser failures: pages on which a parser raised or returned invalid output, by domain.

If a parser fails, records stay unchanged or another parser replaces it, so `health` sees no loss.
Each failure is logged as an error, and many raise an alarm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from messor.ledger.errors import LoggedError
from messor.parsers.health import FEWEST, SHARE
from messor.parsers.page_findings import FoundPage
from messor.records.changes import Sighting
from messor.store.database import Connection, Database

PARSER_FAILED = "ParserFailed"

FAILURES = """
SELECT d.domain, f.parser, f.failed, greatest(r.pages, f.failed) AS pages
  FROM (SELECT h.domain_id, l.detail ->> 'parser' AS parser,
               count(DISTINCT l.crawl_task_id)::int AS failed
          FROM messor.error_logs l JOIN messor.pages p ON p.id = l.crawl_task_id
          JOIN messor.hosts h ON h.id = p.host_id
         WHERE l.occurred_at >= (SELECT messor.clock()) - make_interval(hours => $1)
           AND l.category = 'parse' AND l.error_type = $2 GROUP BY 1, 2) f
  JOIN messor.domains d ON d.id = f.domain_id CROSS JOIN LATERAL (
       SELECT count(*)::int AS pages FROM messor.extractions x WHERE x.domain_id = f.domain_id
          AND x.extracted_at >= (SELECT messor.clock()) - make_interval(hours => $1)) r
 ORDER BY f.failed DESC, d.domain, f.parser LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class Failing:
    """The number of a domain's pages on which a parser failed."""

    domain: str
    parser: str
    failed: int
    pages: int

    @property
    def is_alarming(self) -> bool:
        return self.failed >= FEWEST and self.failed >= SHARE * self.pages

    @property
    def message(self) -> str:
        return f"{self.parser} failed on {self.failed} of {self.pages} pages read"


async def failures(
    source: Connection | Database, *, hours: int = 24, limit: int = 200
) -> list[Failing]:
    """Return failures by domain and parser, the most in the last hours first."""
    return [Failing(**row) for row in await source.fetch(FAILURES, hours, PARSER_FAILED, limit)]


def faults_of(read: Iterable[tuple[Sighting, FoundPage | None]]) -> list[LoggedError]:
    """Return the log entries of failed parsers."""
    return [
        _fault(sighting, page, parser)
        for sighting, page in read
        if page is not None
        for parser in dict.fromkeys(page.failed)
    ]


def _fault(sighting: Sighting, page: FoundPage, parser: str) -> LoggedError:
    warnings = [warning for warning in page.warnings if warning.startswith(parser)]
    detail = {
        "url": sighting.url,
        "snapshot_id": sighting.snapshot_id,
        "step": "extraction",
        "parser": parser,
    }
    message = " ".join(warnings).replace("\x00", "")[:2000]
    return LoggedError("parse", PARSER_FAILED, message, None, sighting.page_id, None, detail)
