"""The list of site owners' requests, for every interface."""

from __future__ import annotations

from typing import Literal

from messor.governance.owners import COLUMNS, OwnerRequest, Wish
from messor.store.listing import DomainText, Filters, Listing, both_ways, where

OwnerState = Literal["waiting", "proved", "expired"]


class OwnerRequestFilter(Filters):
    """Filters of site owners' requests."""

    domain: DomainText | None = where("r.domain = {}", "Domain")
    wish: Wish | None = where("r.wish = {}", "What is asked for")
    state: OwnerState | None = where(
        {
            "waiting": "r.proved_at IS NULL AND r.expires_at > (SELECT messor.clock())",
            "proved": "r.proved_at IS NOT NULL",
            "expired": "r.proved_at IS NULL AND r.expires_at <= (SELECT messor.clock())",
        },
        "Whether control over the domain was shown",
    )


OWNER_REQUESTS = Listing(
    name="owner requests",
    item=OwnerRequest,
    filters=OwnerRequestFilter,
    table="messor.owner_requests",
    alias="r",
    columns=COLUMNS,
    key_type="uuid",
    make=OwnerRequest.of,
    orders=both_ways("-asked_at", "r.asked_at", "timestamptz", "Newest first", "Oldest first"),
)
