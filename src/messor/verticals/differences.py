"""Differences between two versions of a vertical, key by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from messor.verticals.model import Vertical


@dataclass(frozen=True, slots=True)
class KeyDifference:
    """A key whose value differs; None means it is absent."""

    key: str
    before: Any
    after: Any

    def __str__(self) -> str:
        if self.before is None:
            return f"+ {self.key} = {self.after!r}"
        if self.after is None:
            return f"- {self.key} = {self.before!r}"
        return f"~ {self.key}: {self.before!r} → {self.after!r}"


def between(before: Vertical | None, after: Vertical) -> list[KeyDifference]:
    """The keys that differ, sorted; lists of services and templates are compared by name."""
    old = dict(_leaves(_keyed(before))) if before is not None else {}
    new = dict(_leaves(_keyed(after)))
    return [
        KeyDifference(key, old.get(key), new.get(key))
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def _keyed(vertical: Vertical) -> dict[str, Any]:
    table = vertical.model_dump(mode="json", exclude_none=True)
    table["services"] = {service.pop("name"): service for service in table["services"]}
    table["templates"] = {
        f"{row['template']} ({row.get('geo_set', '-')})": row["language"]
        for row in table["templates"]
    }
    return table


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
