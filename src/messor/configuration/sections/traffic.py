"""The limits on all sites together, under the one name `limits`."""

from __future__ import annotations

from typing import Any

from pydantic import Field, model_validator

from messor.configuration.model import ApplyContext, DeclaredObject, PlannedChange, Source, Values
from messor.errors import UsageError
from messor.politeness import limits
from messor.politeness.limits import NewLimits
from messor.store.database import Connection

NAME = "limits"
KEYS = ("crawl_hours", "time_zone", "megabytes_per_day")


class DeclaredLimits(DeclaredObject):
    """The limits as a file declares them."""

    crawl_hours: str | None = None
    time_zone: str = "UTC"
    megabytes_per_day: int | None = Field(None, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _usual_form(cls, given: Any) -> Any:
        if not isinstance(given, dict) or given.keys() - set(KEYS):
            return given
        made = limits.understood(*(given.get(key) for key in KEYS))
        if made.crawl_hours is None and made.megabytes_per_day is None:
            raise ValueError("give crawl_hours, megabytes_per_day or both")
        return {key: getattr(made, key) for key in KEYS}


class AllTraffic:
    """The section `traffic`."""

    name = "traffic"
    declared: type[DeclaredObject] = DeclaredLimits
    is_partial = False
    how_removed = "removed"

    def key(self, name: str) -> str:
        if name != NAME:
            raise UsageError(f"the one table of traffic is [traffic.{NAME}].")
        return name

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        del how
        found = await limits.find(source)
        if found is None:
            return {}
        values = {key: getattr(found, key) for key in KEYS}
        return {NAME: {key: value for key, value in values.items() if value is not None}}

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        """Any limits may follow any."""

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        given = change.wanted
        wanted = NewLimits(
            given.get("crawl_hours"), given.get("time_zone", "UTC"), given.get("megabytes_per_day")
        )
        await limits.set_limits(connection, wanted, actor=how.actor)

    def goes(self, before: Values) -> bool:
        del before
        return True
