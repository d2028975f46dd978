"""Dead letters grouped by what their reasons have in common, largest group first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from messor.core.masking import mask_text
from messor.store.database import Connection, Database

MANY = 1_000  # dead letters grouped at once

# Equal reasons are counted first, as deriving a pattern costs more.
GROUPS = """
WITH reasons AS (
  SELECT job_type, dead_category, dead_type, dead_reason, count(*) AS jobs,
         min(finished_at) AS first_at, max(finished_at) AS last_at
    FROM messor.jobs WHERE state = 'dead' GROUP BY 1, 2, 3, 4
)
SELECT job_type, coalesce(dead_category, '') AS category, coalesce(dead_type, '') AS error_type,
       coalesce(messor.error_pattern(dead_reason), '') AS pattern, sum(jobs)::bigint AS jobs,
       min(first_at) AS first_at, max(last_at) AS last_at,
       left((array_agg(dead_reason ORDER BY last_at DESC))[1], 500) AS sample
  FROM reasons GROUP BY 1, 2, 3, 4 ORDER BY jobs DESC, last_at DESC, 4 LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class Group:
    """Dead letters of one kind."""

    job_type: str
    category: str
    error_type: str
    pattern: str
    jobs: int
    first_at: datetime
    last_at: datetime
    sample: str | None


async def groups(source: Connection | Database, limit: int = 50) -> list[Group]:
    return [_group(row) for row in await source.fetch(GROUPS, limit)]


def _group(row: Any) -> Group:
    sample = row["sample"]
    masked = {"pattern": mask_text(row["pattern"]), "sample": sample and mask_text(sample)}
    return Group(**{**row, **masked})


def are_many(found: Sequence[Group]) -> bool:
    """Whether there are too many to group again while someone waits."""
    return sum(group.jobs for group in found) > MANY
