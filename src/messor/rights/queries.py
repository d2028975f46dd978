"""Lists of permissions on file and of what was held back, for every interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from messor.rights.decide import Reason
from messor.rights.permissions import COLUMNS, Permission
from messor.rights.release import Purpose
from messor.rights.uses import ApprovedUse
from messor.store.listing import Age, DomainText, Filters, Listing, both_ways, where

OF_DOMAIN = "{alias}.domain_id = (SELECT id FROM messor.domains WHERE domain = {{}})"


class PermissionFilter(Filters):
    """Filters of permissions."""

    domain: DomainText | None = where(OF_DOMAIN.format(alias="q"), "Domain")
    use: ApprovedUse | None = where("q.use = {}", "Use")
    in_force: bool | None = where(
        "(q.revoked_at IS NULL AND (q.expires_on IS NULL"
        " OR q.expires_on >= (SELECT messor.clock())::date)) = {}",
        "Neither revoked nor expired",
    )


PERMISSIONS = Listing(
    name="permissions",
    item=Permission,
    filters=PermissionFilter,
    table="messor.use_permissions",
    alias="q",
    joins="JOIN messor.domains d ON d.id = q.domain_id",
    columns=COLUMNS,
    key_type="uuid",
    make=Permission.of,
    orders=both_ways("-granted_at", "q.granted_at", "timestamptz", "Newest first", "Oldest first"),
)


@dataclass(frozen=True, slots=True)
class Held:
    """Items that were held back together, and the statement that did it."""

    id: int
    refused_at: datetime
    domain: str | None
    purpose: Purpose
    use: ApprovedUse
    reason: Reason
    place: str | None
    text: str | None
    items: int
    example: str | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        named = {
            "purpose": Purpose(row["purpose"]),
            "use": ApprovedUse(row["use"]),
            "reason": Reason(row["reason"]),
        }
        return cls(**{**row, **named})


class HeldFilter(Filters):
    """Filters of what was held back."""

    domain: DomainText | None = where(OF_DOMAIN.format(alias="r"), "Domain")
    purpose: Purpose | None = where("r.purpose = {}", "Way out")
    use: ApprovedUse | None = where("r.use = {}", "Use")
    reason: Reason | None = where("r.reason = {}", "Why it was held back")
    since: Age | None = where(
        "r.refused_at >= (SELECT messor.clock()) - {}::interval", "Not older than, such as 7d"
    )


HELD = Listing(
    name="held items",
    item=Held,
    filters=HeldFilter,
    table="messor.use_refusals",
    alias="r",
    joins="LEFT JOIN messor.domains d ON d.id = r.domain_id"
    " LEFT JOIN messor.pages p ON p.id = r.example_page_id",
    columns="""r.id, r.refused_at, d.domain, r.purpose, r.use, r.reason, r.place, r.text, r.items,
               p.url AS example""",
    make=Held.of,
    orders=both_ways("-id", "r.id", "bigint", "Newest first", "Oldest first"),
)
