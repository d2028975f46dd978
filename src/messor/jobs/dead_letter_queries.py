"""Queries of dead letters: jobs that are not retried automatically."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import field_validator

from messor.core.masking import mask_text
from messor.ledger.errors import Category
from messor.store.listing import Age, Filters, Listing, both_ways, where


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead letter, for display."""

    id: UUID
    job_type: str
    dedupe_key: str
    attempts: int
    category: str | None
    error_type: str | None
    reason: str | None
    died_at: datetime


class DeadLetterFilter(Filters):
    """Filters of dead letters; a pattern is searched for in the reason's own pattern."""

    job_ids: list[UUID] | None = where("j.id = ANY({})", "Ids")
    job_type: str | None = where("j.job_type = {}", "Type", max_length=100)
    category: Category | None = where("j.dead_category = {}", "Error category")
    pattern: str | None = where(
        "strpos(messor.error_pattern(j.dead_reason), messor.error_pattern({})) > 0",
        "Part of an error pattern or message",
        max_length=1_000,
    )
    older_than: Age | None = where(
        "j.finished_at <= (SELECT messor.clock()) - {}::interval", "Minimum age: 90m, 12h, 7d"
    )

    @field_validator("pattern")
    @classmethod
    def _is_not_empty(cls, pattern: str | None) -> str | None:
        if pattern is not None and not pattern.strip():
            raise ValueError("an empty pattern would match every dead letter; leave it out")
        return pattern

    def __str__(self) -> str:
        parts = [
            self.job_ids is not None and "named by id",
            self.job_type and f"of type {self.job_type}",
            self.category and f"of category {self.category}",
            self.pattern and f"with the pattern {self.pattern!r}",
            self.older_than is not None and f"older than {self.older_than}",
        ]
        return ", ".join(part for part in parts if part) or "all"

    def as_data(self) -> dict[str, Any]:
        """The filter as event data."""
        return {
            "ids": [str(job_id) for job_id in self.job_ids or ()][:100],
            "type": self.job_type,
            "category": self.category,
            "pattern": self.pattern,
            "older_than_seconds": self.older_than and self.older_than.total_seconds(),
        }


def _dead_letter(row: Mapping[str, Any]) -> DeadLetter:
    """A row for display: a reason may contain a URL with a password."""
    reason = row["reason"]
    return DeadLetter(**{**row, "reason": reason and mask_text(reason)})


DEAD_LETTERS = Listing(
    name="dead letters",
    item=DeadLetter,
    filters=DeadLetterFilter,
    table="messor.jobs",
    alias="j",
    only="j.state = 'dead'",
    columns="""j.id, j.job_type, j.dedupe_key, j.attempts, j.dead_category AS category,
               j.dead_type AS error_type, j.dead_reason AS reason, j.finished_at AS died_at""",
    key_type="uuid",
    orders=both_ways("-died_at", "j.finished_at", "timestamptz", "Newest first", "Oldest first"),
    make=_dead_letter,
)
