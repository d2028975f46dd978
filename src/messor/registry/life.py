"""Domain life cycle: allowed transitions of status and processing, and what each requires.

`status` is governance; `processing` is the progress of the search for funds. Every change of either
is checked here; docs/domain-life.md shows the same table. Nothing is stored here.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

Status = Literal["pending_review", "approved", "rejected", "suspended", "blacklisted"]
Processing = Literal[
    "discovered", "processing", "processed_high_quality", "processed_low_quality",
    "no_funds_this_year", "processing_failed",
]  # fmt: skip
SubmitterType = Literal["admin", "public_user", "system"]

# Statuses that a reviewer may move a domain to, by current status.
TRANSITIONS: dict[str, set[str]] = {
    "pending_review": {"approved", "rejected", "blacklisted"},
    "approved": {"pending_review", "suspended", "blacklisted"},
    "rejected": {"pending_review", "blacklisted"},
    "suspended": {"approved", "rejected", "blacklisted"},
    "blacklisted": set(),
}

# The same for processing; a blacklisted domain takes none of these steps.
PROCESSING: dict[str, set[str]] = {
    "discovered": {"processing", "no_funds_this_year"},
    "processing": {
        "processed_high_quality",
        "processed_low_quality",
        "no_funds_this_year",
        "processing_failed",
    },
    "processed_high_quality": {"processing", "no_funds_this_year"},
    "processed_low_quality": {"processing", "processed_high_quality", "no_funds_this_year"},
    "no_funds_this_year": {"processing"},
    "processing_failed": {"processing", "no_funds_this_year"},
}

NEEDS_REASON = {"rejected", "blacklisted"}
# Only an approved domain can be trusted; trust survives only suspension.
KEEPS_TRUST = {"approved", "suspended"}

EVENT_TYPES = {
    "approved": "domain.approved",
    "rejected": "domain.rejected",
    "suspended": "domain.suspended",
    "blacklisted": "domain.blacklisted",
    "pending_review": "domain.resubmitted",
    "approved → pending_review": "domain.review_asked",
}

LOW_QUALITY_MARKS = 3  # a domain with only candidates below the threshold is marked
THRESHOLD = 0.6  # minimum confidence of a high-quality candidate
NO_FUNDS_YEARS = (2020, 2100)

BACK_OFF = (timedelta(hours=1), timedelta(hours=4), timedelta(days=1), timedelta(weeks=1))


def event_type(before: str, after: str) -> str:
    """The event type of a status change."""
    return EVENT_TYPES.get(f"{before} → {after}", EVENT_TYPES[after])


def back_off(failures: int) -> timedelta:
    """How long a domain rests after so many consecutive failures; at most a week."""
    return BACK_OFF[min(failures, len(BACK_OFF)) - 1]


def steps_from(table: dict[str, set[str]], before: str) -> str:
    """The allowed transitions, as text."""
    return ", ".join(sorted(table[before])) or "nothing"
