"""The life of a domain as one table: which steps each of its two axes may take, and what each needs.

`status` is governance: may we? `processing` is how the search for its worth went. Everything that
changes either asks here first; docs/domain-life.md draws the same table. Nothing here is stored.
"""

from __future__ import annotations

from datetime import timedelta

# From each status, the statuses a reviewer may move a domain to.
TRANSITIONS: dict[str, set[str]] = {
    "pending_review": {"approved", "rejected", "blacklisted"},
    "approved": {"pending_review", "suspended", "blacklisted"},
    "rejected": {"pending_review", "blacklisted"},
    "suspended": {"approved", "rejected", "blacklisted"},
    "blacklisted": set(),
}

# The same for processing. A blacklisted domain takes none of these steps.
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
# Trust is given to an approved domain, and outlasts only its suspension.
KEEPS_TRUST = {"approved", "suspended"}

EVENT_TYPES = {
    "approved": "domain.approved",
    "rejected": "domain.rejected",
    "suspended": "domain.suspended",
    "blacklisted": "domain.blacklisted",
    "pending_review": "domain.resubmitted",
    "approved → pending_review": "domain.review_asked",
}

LOW_QUALITY_MARKS = 3  # candidates below the threshold, and none above, mark a domain
THRESHOLD = 0.6  # the confidence from which a candidate counts as high quality
NO_FUNDS_YEARS = (2020, 2100)

BACK_OFF = (timedelta(hours=1), timedelta(hours=4), timedelta(days=1), timedelta(weeks=1))


def event_type(before: str, after: str) -> str:
    """What a step of the status is called in the ledger."""
    return EVENT_TYPES.get(f"{before} → {after}", EVENT_TYPES[after])


def back_off(failures: int) -> timedelta:
    """How long a domain is left alone after so many failures in a row: weekly in the end."""
    return BACK_OFF[min(failures, len(BACK_OFF)) - 1]


def steps_from(table: dict[str, set[str]], before: str) -> str:
    """The legal steps, for a sentence."""
    return ", ".join(sorted(table[before])) or "nothing"
