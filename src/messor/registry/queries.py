"""Queries of domains: the list for every interface, and counts by status."""

from __future__ import annotations

from typing import Literal

from messor.registry.domains import COLUMNS, Domain
from messor.registry.life import Processing, Status, SubmitterType
from messor.store.database import Connection, Database
from messor.store.listing import Filters, Listing, both_ways, where

COUNTS = "SELECT status, count(*)::int AS domains FROM messor.domains GROUP BY 1"

_HOSTS = "FROM messor.hosts h WHERE h.domain_id = domains.id"
_LAST_SCRAPED = f"(SELECT max(h.last_good_at) {_HOSTS})"

View = Literal["approved", "pending", "suspended", "refused", "failing", "unvisited"]


class DomainFilter(Filters):
    """Filters of domains."""

    q: str | None = where(
        "strpos(domains.domain, lower({})) > 0", "Part of the name", max_length=253
    )
    view: View | None = where(
        {
            "approved": "domains.status = 'approved'",
            "pending": "domains.status = 'pending_review' OR domains.review_reason IS NOT NULL",
            "suspended": "domains.status = 'suspended' OR domains.paused",
            "refused": "domains.status IN ('rejected', 'blacklisted')",
            "failing": "domains.processing = 'processing_failed'",
            "unvisited": f"domains.status = 'approved' AND (SELECT max(h.last_request_at) {_HOSTS}) IS NULL",
        },
        "A frequent list",
    )
    status: Status | None = where("domains.status = {}", "Status")
    processing: Processing | None = where("domains.processing = {}", "Processing state")
    submitter_type: SubmitterType | None = where("domains.submitter_type = {}", "Who requested it")
    trusted: bool | None = where("domains.is_trusted_domain = {}", "Trusted")
    domain_class: str | None = where("domains.domain_class = {}", "Class", max_length=100)
    vertical: str | None = where("domains.vertical = {}", "Vertical", max_length=63)


DOMAINS = Listing(
    name="domains",
    item=Domain,
    filters=DomainFilter,
    table="messor.domains",
    alias="domains",
    columns=COLUMNS,
    key_type="uuid",
    orders={
        **both_ways("domain", "domains.domain", "text", "Name, A to Z", "Name, Z to A"),
        **both_ways(
            "created_at", "domains.created_at", "timestamptz", "Oldest first", "Newest first"
        ),
        **both_ways(
            "pages_known", "domains.pages_known", "integer", "Fewest pages", "Most pages first"
        ),
        **both_ways(
            "reviewed_at", "coalesce(domains.reviewed_at, '-infinity')", "timestamptz",
            "Least recently reviewed", "Recently reviewed first",
        ),
        **both_ways(
            "last_scraped_at", f"coalesce({_LAST_SCRAPED}, '-infinity')", "timestamptz",
            "Oldest good page first", "Newest good page first",
        ),
        **both_ways(
            "priority", "domains.priority", "smallint", "Highest priority first", "Lowest priority first"
        ),
        **both_ways(
            "last_processed_at", "coalesce(domains.last_processed_at, '-infinity')", "timestamptz",
            "Least recently processed", "Recently processed first",
        ),
    },
)  # fmt: skip


async def counts(source: Connection | Database) -> dict[str, int]:
    """Number of domains by status."""
    return {row["status"]: row["domains"] for row in await source.fetch(COUNTS)}
