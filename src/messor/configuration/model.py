"""What a section of the configuration is, and one difference between files and database.

Every section speaks of its objects in *file form*: a mapping of keys to values as the files have
them, without what is a default that no key states. Nothing secret has a file form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from messor.errors import ConflictError
from messor.settings import Settings
from messor.store.database import Connection, Database

Values = Mapping[str, Any]
Action = Literal["add", "change", "remove"]
Source = Connection | Database


class DeclaredObject(BaseModel):
    """An object as a file declares it."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=10_000)


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key whose value differs; None: it has none."""

    key: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What applying the files does to one object."""

    section: str
    name: str
    action: Action
    fields: tuple[KeyChange, ...] = ()
    note: str = ""
    wanted: Values = field(default_factory=dict)  # as the file declares it
    before: Values = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApplyContext:
    """What sections need besides a connection."""

    settings: Settings
    actor: str


class Section(Protocol):
    """A part of the configuration: domains, members, and so on."""

    name: str
    declared: type[DeclaredObject]
    # Whether a key that a file leaves out is left as it is, or has its default value.
    is_partial: bool
    how_removed: str  # what pruning does to what the files do not name; empty: nothing

    def key(self, name: str) -> str:
        """The name of an object in its usual form; raises UsageError."""

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        """Every object of the database in file form."""

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        """Raise an error for what the database's state does not allow."""

    def goes(self, before: Values) -> bool:
        """Whether pruning does anything to an object that no file names."""

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        """Make one change, through the services that people use."""


def fixed(section: str, name: str, key: str, before: Values | None, wanted: Values) -> None:
    """Raise ConflictError for another value of a key that nobody can change."""
    if before is not None and wanted.get(key, before.get(key)) != before.get(key):
        raise ConflictError(
            f"{section}.{name}: {key} is {before.get(key)!r} and cannot be changed by files; "
            "write that value, or leave the key out."
        )
