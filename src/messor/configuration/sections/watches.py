"""Watches, by name; among several of one name the second is `NAME (2)`. A changed one keeps its feed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from pydantic import Field, model_validator

from messor.configuration.model import ApplyContext, DeclaredObject, PlannedChange, Source, Values
from messor.store.database import Connection
from messor.watches import watches
from messor.watches.conditions import Noun
from messor.watches.nouns import check_filters
from messor.watches.watches import Channel, Digest, NewWatch, Watch, condition_of

KEYS = ("channel", "recipient", "digest", "zone", "hour", "quiet_from", "quiet_to")
CURRENT = f"SELECT {watches.COLUMNS} FROM messor.watches w ORDER BY w.created_at, w.id"


class DeclaredWatch(DeclaredObject):
    """A watch as a file declares it."""

    name: str | None = None  # where its key is another: several watches may have one name
    noun: Noun
    condition: dict[str, Any]
    filters: dict[str, Any] = Field(default_factory=dict)
    channel: Channel = "feed"
    recipient: str | None = None
    webhook: UUID | None = None
    digest: Digest = "at_once"
    zone: str = "UTC"
    hour: int = 8
    quiet_from: int | None = None
    quiet_to: int | None = None
    active: bool = True

    @model_validator(mode="before")
    @classmethod
    def _usual_form(cls, given: Any) -> Any:
        """Condition and filters as they are stored, so that equal ones compare as equal."""
        if isinstance(given, dict) and isinstance(given.get("condition"), dict):
            noun = given.get("noun", "")
            condition = condition_of(noun, given["condition"])
            given = {**given, "condition": condition.model_dump(mode="json", exclude_none=True)}
            if isinstance(filters := given.get("filters", {}), dict):
                given["filters"] = check_filters(noun, filters)
        return given


class Watches:
    """The section `watches`."""

    name = "watches"
    declared: type[DeclaredObject] = DeclaredWatch
    is_partial = False
    how_removed = "removed with its alerts"

    def key(self, name: str) -> str:
        return name

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        del how
        return {key: _file_form(key, watch) for key, watch in (await _keyed(source)).items()}

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        """A watch may become any other."""

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        if change.action == "add":
            made, _ = await watches.add(connection, _new(change), actor=how.actor)
        else:
            made = (await _keyed(connection))[change.name]
            if change.action == "remove":
                await watches.remove(connection, made.id, actor=how.actor)
                return
            if {field.key for field in change.fields} != {"active"}:
                made = await watches.change(connection, made.id, _new(change), actor=how.actor)
        if made.is_active != change.wanted["active"]:
            on = change.wanted["active"]
            await watches.switch(connection, made.id, on=on, actor=how.actor)

    def goes(self, before: Values) -> bool:
        del before
        return True


def _new(change: PlannedChange) -> NewWatch:
    given = dict(change.wanted)
    webhook = given.pop("webhook", None)
    given.pop("active")
    name = given.pop("name", change.name)
    return NewWatch(name, webhook_id=None if webhook is None else UUID(webhook), **given)


async def _keyed(source: Source) -> dict[str, Watch]:
    found: dict[str, Watch] = {}
    for row in await source.fetch(CURRENT):
        watch = Watch.of(row)
        key, number = watch.name, 1
        while key in found:
            number += 1
            key = f"{watch.name} ({number})"
        found[key] = watch
    return found


def _file_form(key: str, watch: Watch) -> dict[str, Any]:
    form: dict[str, Any] = {} if key == watch.name else {"name": watch.name}
    form |= {"noun": watch.noun, "filters": watch.filters, "active": watch.is_active}
    form["condition"] = watch.condition.model_dump(mode="json", exclude_none=True)
    form["webhook"] = None if watch.webhook_id is None else str(watch.webhook_id)
    form |= {key: getattr(watch, key) for key in KEYS}
    return {key: value for key, value in form.items() if value is not None}
