"""When a watch tells: conditions over a change, and what looks too odd to be told at once.

A value that is missing is no value: it neither crosses nor falls. A change that a better parser
made, and not the site, is never told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from messor.feed.queries import Change

Noun = Literal["records", "products", "pages", "programs", "ranks", "domains"]
When = Literal[
    "new", "changed", "removed", "crosses", "falls", "out_of_stock", "rank_lost", "deadline",
    "blocked", "stale",
]  # fmt: skip

SWEPT: frozenset[When] = frozenset(
    ("deadline", "blocked", "stale")
)  # true at a time, not by a change
GONE = frozenset(("out_of_stock", "discontinued"))
# Another parser, or a person, sees the same page otherwise: nothing happened on the web.
_NOT_OF_THE_WEB = frozenset(("parser", "person"))
JUMP = 10.0  # times as much, or as little, as before
_NOUNS: Mapping[When, frozenset[Noun]] = {
    "new": frozenset(("records", "products", "pages", "programs", "domains")),
    "changed": frozenset(("records", "products", "pages", "programs", "domains")),
    "removed": frozenset(("records", "products", "pages", "programs", "domains")),
    "crosses": frozenset(("records", "products")),
    "falls": frozenset(("records", "products")),
    "out_of_stock": frozenset(("records", "products")),
    "rank_lost": frozenset(("ranks",)),
    "deadline": frozenset(("records",)),
    "blocked": frozenset(("pages",)),
    "stale": frozenset(("pages",)),
}
_NEEDED: Mapping[When, tuple[str, ...]] = {
    "crosses": ("field", "value"),
    "falls": ("field", "percent"),
    "deadline": ("days",),
    "stale": ("days",),
}


class Condition(BaseModel):
    """When to tell."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    when: When
    field: str | None = Field(None, pattern=r"^[a-z_]{1,60}$", description="Field of the record")
    value: float | None = Field(None, allow_inf_nan=False, description="Value that is crossed")
    percent: float | None = Field(None, gt=0, le=100, description="Least fall in percent")
    days: int | None = Field(None, ge=1, le=3_650, description="Days")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for name in _NEEDED.get(self.when, ()):
            if getattr(self, name) is None:
                raise ValueError(f"{self.when} needs {name}")
        return self

    def check_noun(self, noun: Noun) -> None:
        if noun not in _NOUNS[self.when]:
            fit = ", ".join(sorted(_NOUNS[self.when]))
            raise ValueError(f"{self.when} applies to {fit}, not to {noun}")


def sentence(condition: Condition, change: Change, name: str | None = None) -> str | None:
    """What to tell about a change; None if the condition does not hold."""
    if (change.evidence or {}).get("cause") in _NOT_OF_THE_WEB or condition.when not in _TESTS:
        return None
    return _TESTS[condition.when](condition, change, name or _name(change))


def _new(_: Condition, change: Change, name: str) -> str | None:
    return f"New: {name}" if change.state in ("new", "returned") else None


def _changed(condition: Condition, change: Change, name: str) -> str | None:
    if change.state != "changed":
        return None
    if change.record_id is None:
        return f"Changed: {name}"
    fields = [condition.field] if condition.field else sorted(change.after or {})
    moved = [one for one in fields if one in (change.after or {})]
    return f"Changed: {name}: {_moves(change, moved)}" if moved else None


def _removed(_: Condition, change: Change, name: str) -> str | None:
    return f"Removed: {name}" if change.state in ("removed", "erased") else None


def _crosses(condition: Condition, change: Change, name: str) -> str | None:
    assert condition.field is not None
    assert condition.value is not None
    before, after = numbers(change, condition.field)
    if before is None or after is None or (before < condition.value) == (after < condition.value):
        return None
    way = "below" if after < condition.value else "to or above"
    moved = _moves(change, [condition.field])
    return f"{name}: {moved}, {way} {condition.value:g}"


def _falls(condition: Condition, change: Change, name: str) -> str | None:
    assert condition.field is not None
    assert condition.percent is not None
    before, after = numbers(change, condition.field)
    if before is None or after is None or before <= 0 or after >= before:
        return None
    fall = 100 * (before - after) / before
    if fall < condition.percent:
        return None
    return f"{name}: {_moves(change, [condition.field])}, a fall of {fall:.0f} %"


def _out_of_stock(_: Condition, change: Change, name: str) -> str | None:
    before, after = (change.before or {}), (change.after or {})
    has_gone = after.get("availability") in GONE and before.get("availability") not in GONE
    return f"Out of stock: {name}" if change.state == "changed" and has_gone else None


_TESTS = {
    "new": _new,
    "changed": _changed,
    "removed": _removed,
    "crosses": _crosses,
    "falls": _falls,
    "out_of_stock": _out_of_stock,
}


def numbers(change: Change, field: str) -> tuple[float | None, float | None]:
    """A field before and after, if both are numbers."""
    if change.state != "changed":
        return None, None
    return _number((change.before or {}).get(field)), _number((change.after or {}).get(field))


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def is_implausible(change: Change) -> bool:
    """Whether a change looks like a fault of the site or of reading: a jump, another currency."""
    if change.state != "changed":
        return False
    if {"currency"} <= (change.before or {}).keys() & (change.after or {}).keys():
        return change.before["currency"] is not None  # type: ignore[index]
    before, after = numbers(change, "price")
    if before is None or after is None or before <= 0:
        return False
    return after >= before * JUMP or after <= before / JUMP


def _name(change: Change) -> str:
    message = change.after or change.before or {}
    for key in ("product_name", "name", "title", "headline", "keyword"):
        if isinstance(message.get(key), str) and message[key].strip():
            return str(message[key])[:200]
    return change.url or change.domain or change.subject


def _moves(change: Change, fields: list[str]) -> str:
    before, after = change.before or {}, change.after or {}
    return ", ".join(
        f"{one} {_short(before.get(one))} → {_short(after.get(one))}" for one in fields
    )


def _short(value: Any) -> str:
    return "none" if value is None else str(value)[:100]
