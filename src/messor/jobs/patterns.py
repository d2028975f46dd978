"""Error patterns: logged errors grouped by type and by what their messages have in common.

`messor.error_pattern` in the database derives the patterns, so that they are the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from messor.core.masking import mask_text
from messor.store.database import Database

# Equal messages are counted first, as deriving a pattern costs more. The newest message represents
# its pattern.
PATTERNS = """
WITH messages AS (
  SELECT category, error_type, error_message, count(*) AS times, count(job_id) AS of_jobs,
         min(occurred_at) AS first_at, max(occurred_at) AS last_at,
         (array_agg(job_id ORDER BY occurred_at DESC) FILTER (WHERE job_id IS NOT NULL))[1] AS job_id
    FROM messor.error_logs
   WHERE ($1::interval IS NULL OR occurred_at >= (SELECT messor.clock()) - $1)
     AND ($2::text IS NULL OR category = $2) AND ($3::text IS NULL OR error_type = $3)
   GROUP BY category, error_type, error_message
)
SELECT category, error_type, messor.error_pattern(error_message) AS pattern,
       sum(times)::bigint AS times, sum(of_jobs)::bigint AS of_jobs,
       min(first_at) AS first_at, max(last_at) AS last_at,
       left((array_agg(error_message ORDER BY last_at DESC))[1], 1000) AS sample,
       (array_agg(job_id ORDER BY last_at DESC) FILTER (WHERE job_id IS NOT NULL))[1] AS sample_job_id
  FROM messages
 GROUP BY 1, 2, 3
 ORDER BY times DESC, last_at DESC, pattern LIMIT $4
"""


@dataclass(frozen=True, slots=True)
class ErrorPattern:
    """Errors of one kind: how often, since when, and an example."""

    category: str
    error_type: str
    pattern: str
    times: int
    of_jobs: int  # the others are of crawl tasks
    first_at: datetime
    last_at: datetime
    sample: str
    sample_job_id: UUID | None


async def patterns(
    database: Database,
    *,
    within: timedelta | None = None,
    category: str | None = None,
    error_type: str | None = None,
    limit: int = 50,
) -> list[ErrorPattern]:
    """Most frequent first; `within` restricts the age of errors."""
    rows = await database.fetch(PATTERNS, within, category, error_type, limit)
    texts = ("pattern", "sample")
    return [
        ErrorPattern(**{**row, **{name: mask_text(row[name]) for name in texts}}) for row in rows
    ]
