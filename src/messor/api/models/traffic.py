"""The traffic halt and limits in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from messor.api.models.base import In, Out, text
from messor.politeness.traffic import LONGEST_REASON
from messor.registry.terms import RANGES


class HaltIn(In):
    reason: Annotated[str, text(LONGEST_REASON)]


class HaltOut(Out):
    halted_at: datetime
    halted_by: str
    reason: str


class LimitsIn(In):
    """Limits on all sites together; without hours and megabytes there are none."""

    crawl_hours: Annotated[str, text(10)] | None = Field(None, description="Such as 22-6")
    time_zone: Annotated[str, text(100)] | None = Field(None, description="Such as Europe/Berlin")
    megabytes_per_day: int | None = Field(None, ge=1, le=RANGES["megabytes_per_day"][1])


class LimitsOut(Out):
    crawl_hours: str | None
    time_zone: str
    megabytes_per_day: int | None
    set_by: str
    set_at: datetime
    closed_until: datetime | None = Field(description="No site is visited until then")
    bytes_today: int = Field(
        description="Received since a cap was set, in the day of the time zone"
    )


class TrafficOut(Out):
    halted: bool
    halt: HaltOut | None
    limits: LimitsOut | None
