"""Standing exports; a changed one is replaced, and its next export is a whole one."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from messor.configuration.model import ApplyContext, DeclaredObject, PlannedChange, Source, Values
from messor.exports.nouns import noun_of
from messor.exports.places import Places
from messor.exports.requests import checked_filters
from messor.rights.uses import parsed
from messor.schedule import cron, standing_exports
from messor.schedule.standing_exports import NewStandingExport
from messor.schedule.standing_queries import COLUMNS, LAST, OF_LAST, StandingExport
from messor.store.database import Connection

CURRENT = f"SELECT {COLUMNS}, {OF_LAST} FROM messor.standing_exports s {LAST} ORDER BY s.name"


class DeclaredExport(DeclaredObject):
    """A standing export as a file declares it."""

    noun: str
    format: str = "jsonl"
    cadence: str
    place: str
    filters: dict[str, Any] = Field(default_factory=dict)
    columns: list[str] = Field(default_factory=list)
    bom: bool = False
    incremental: bool = False
    uses: list[str] = Field(default_factory=list)
    active: bool = True

    @model_validator(mode="before")
    @classmethod
    def _usual_form(cls, given: Any) -> Any:
        """Filters as they are stored, so that equal ones compare as equal."""
        if isinstance(given, dict) and isinstance(filters := given.get("filters", {}), dict):
            made = checked_filters(noun_of(str(given.get("noun"))), filters)
            return {**given, "filters": made.model_dump(mode="json", exclude_none=True)}
        return given

    @field_validator("cadence")
    @classmethod
    def _cadence(cls, given: str) -> str:
        cron.parse(given)
        return given

    @field_validator("uses")
    @classmethod
    def _known(cls, given: list[str]) -> list[str]:
        return [each.value for each in parsed(given)]


class Exports:
    """The section `exports`."""

    name = "exports"
    declared: type[DeclaredObject] = DeclaredExport
    is_partial = False
    how_removed = "removed; delivered files stay"

    def key(self, name: str) -> str:
        return name

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        del how
        rows = map(StandingExport.of, await source.fetch(CURRENT))
        return {row.name: _file_form(row) for row in rows}

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        """Its own service checks an export whole, where it is applied."""

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        name, actor, wanted = change.name, how.actor, change.wanted
        is_switch = {field.key for field in change.fields} == {"active"}
        if change.action == "remove" or (change.action == "change" and not is_switch):
            await standing_exports.remove(connection, name, actor=actor)
        if change.action != "remove" and not (change.action == "change" and is_switch):
            places = Places.of_settings(how.settings)
            made = _new(name, wanted)
            await standing_exports.add(connection, made, places, actor=actor, may_audit=True)
        if change.action != "remove" and (is_switch or not wanted["active"]):
            await standing_exports.switch(connection, name, on=wanted["active"], actor=actor)

    def goes(self, before: Values) -> bool:
        del before
        return True


def _new(name: str, wanted: Values) -> NewStandingExport:
    return NewStandingExport(
        name,
        wanted["noun"],
        wanted["format"],
        wanted["cadence"],
        wanted["place"],
        wanted["filters"],
        tuple(wanted["columns"]),
        wanted["bom"],
        wanted["incremental"],
        parsed(wanted["uses"]),
    )


def _file_form(row: StandingExport) -> dict[str, Any]:
    return {
        "noun": row.noun,
        "format": row.format,
        "cadence": row.cadence,
        "place": row.place,
        "filters": row.filters,
        "columns": list(row.options.get("columns", ())),
        "bom": bool(row.options.get("bom")),
        "incremental": row.is_incremental,
        "uses": list(row.options.get("uses", ())),
        "active": row.is_active,
    }
