"""Retention rules; a changed one is replaced. Holds are decisions of the day and have no file form."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator, model_validator

from messor.configuration.model import ApplyContext, DeclaredObject, PlannedChange, Source, Values
from messor.errors import UsageError
from messor.governance import retention
from messor.governance.retention import NAME, NewRule
from messor.governance.retention_queries import RULE_COLUMNS, Outcome
from messor.registry.domains import Submission
from messor.store.database import Connection

KEYS = ("domain", "vertical", "outcome", "days", "versions")
CURRENT = f"SELECT {RULE_COLUMNS} FROM messor.retention_rules r ORDER BY r.name"


class DeclaredRule(DeclaredObject):
    """A rule as a file declares it."""

    domain: str | None = None
    vertical: str | None = None
    outcome: Outcome = "any"
    days: int | None = Field(None, ge=0, le=36_500)
    versions: int | None = Field(None, ge=1, le=100_000)

    @field_validator("domain")
    @classmethod
    def _registrable(cls, given: str | None) -> str | None:
        return None if given is None else Submission.understand(given).domain

    @model_validator(mode="after")
    def _complete(self) -> DeclaredRule:
        if self.days is None and self.versions is None:
            raise ValueError("give days, versions, or both")
        if self.domain is not None and self.vertical is not None:
            raise ValueError("a rule is for a domain, for a vertical or for all")
        return self


class Retention:
    """The section `retention`."""

    name = "retention"
    declared: type[DeclaredObject] = DeclaredRule
    is_partial = False
    how_removed = "removed"

    def key(self, name: str) -> str:
        if not NAME.fullmatch(name):
            raise UsageError("a rule's name has letters a to z, digits, - and _.")
        return name

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        del how
        return {
            row["name"]: {key: row[key] for key in KEYS if row[key] is not None}
            for row in await source.fetch(CURRENT)
        }

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        """Every rule may be replaced by any."""

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        if change.action != "add":
            await retention.remove_rule(connection, change.name, actor=how.actor)
        if change.action != "remove":
            rule = NewRule(change.name, **change.wanted)
            await retention.add_rule(connection, rule, actor=how.actor)

    def goes(self, before: Values) -> bool:
        del before
        return True
