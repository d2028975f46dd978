"""Lists of watches and of their alerts, for every interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import msgspec

from messor.store.listing import Filters, Listing, Order, both_ways, where
from messor.watches.conditions import Noun
from messor.watches.watches import COLUMNS, Watch


class WatchFilter(Filters):
    """Filters of watches."""

    q: str | None = where(
        "strpos(lower(w.name), lower({})) > 0", "Part of the name", max_length=200
    )
    noun: Noun | None = where("w.noun = {}", "What is watched")
    active: bool | None = where("w.is_active = {}", "Switched on")


WATCHES = Listing(
    name="watches",
    item=Watch,
    filters=WatchFilter,
    table="messor.watches",
    alias="w",
    columns=COLUMNS,
    key_type="uuid",
    make=Watch.of,
    orders=both_ways("-created_at", "w.created_at", "timestamptz", "Newest first", "Oldest first"),
)


@dataclass(frozen=True, slots=True)
class Alert:
    """What a watch tells about a change."""

    id: int
    watch_id: UUID
    subject: str
    page_id: int | None
    record_id: int | None
    message: str
    url: str | None
    details: dict[str, Any]
    state: Literal["due", "held", "dropped", "sent"]
    created_at: datetime
    sent_at: datetime | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Alert:
        return cls(**{**row, "details": msgspec.json.decode(row["details"])})


class AlertFilter(Filters):
    """Filters of a watch's alerts."""

    watch_id: UUID | None = where("a.watch_id = {}", "Watch", indexed=True)
    state: Literal["due", "held", "dropped", "sent"] | None = where("a.state = {}", "State")


ALERTS = Listing(
    name="alerts",
    item=Alert,
    filters=AlertFilter,
    table="messor.watch_alerts",
    alias="a",
    columns="""a.id, a.watch_id, a.subject, a.page_id, a.record_id, a.message, a.url,
               a.details::text AS details, a.state, a.created_at, a.sent_at""",
    orders={"-id": Order("a.id", "bigint", "Newest first", descending=True)},
    make=Alert.of,
)
