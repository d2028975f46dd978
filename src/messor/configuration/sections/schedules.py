"""Schedules of the orchestrators: their cadence, and whether they run by themselves."""

from __future__ import annotations

from typing import Any

from pydantic import field_validator

from messor.configuration.model import ApplyContext, DeclaredObject, PlannedChange, Source, Values
from messor.errors import UsageError
from messor.schedule import cron, plan
from messor.schedule.standard import standard_registry
from messor.store.database import Connection

DEFAULT = "default"
USUAL: Values = {"cadence": DEFAULT, "enabled": True}


class DeclaredSchedule(DeclaredObject):
    """A schedule as a file declares it."""

    cadence: str | None = None
    enabled: bool | None = None

    @field_validator("cadence")
    @classmethod
    def _cadence(cls, given: str | None) -> str | None:
        return given if given in (None, DEFAULT) else cron.parse(given).text


class Schedules:
    """The section `schedules`; names are those of `messor schedule show`."""

    name = "schedules"
    declared: type[DeclaredObject] = DeclaredSchedule
    is_partial = True
    how_removed = "reset to its default"

    def key(self, name: str) -> str:
        return name

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        plans = await plan.find(source)
        found = {}
        for orchestrator in standard_registry(how.settings):
            its = plans.of(orchestrator)
            found[orchestrator.name] = {"cadence": its.cadence or DEFAULT, "enabled": its.enabled}
        return found

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        del wanted
        if before is None:
            raise UsageError(f"schedules.{name}: there is none; names: messor schedule show")

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        orchestrator = standard_registry(how.settings).get(change.name)
        wanted = USUAL if change.action == "remove" else change.wanted
        for field in change.fields:
            if field.key == "cadence":
                text = None if wanted["cadence"] == DEFAULT else wanted["cadence"]
                await plan.override(connection, orchestrator, text, actor=how.actor)
            else:
                enabled = wanted["enabled"]
                await plan.switch(connection, orchestrator, enabled=enabled, actor=how.actor)

    def goes(self, before: Values) -> bool:
        return dict(before) != dict(USUAL)
