"""The template environment, which escapes all output, and the shared filters."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from messor.console import charts, labels
from messor.core.masking import mask_text
from messor.core.plurals import counted

NOTHING = "\N{EN DASH}"
UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def environment(version: str) -> Environment:
    """A Jinja environment with autoescaping; undefined names are errors."""
    made = Environment(
        loader=PackageLoader("messor.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        ago=ago, counted=counted, lasting=lasting, masked=masked, moment=moment, number=number, outward=outward,
        size=size,
    )  # fmt: skip
    made.globals.update(version=version, words=labels, charts=charts)
    # Times, numbers and ids of rows are shown as JSON too.
    made.policies["json.dumps_kwargs"] = {"sort_keys": True, "default": str}
    return made


def ago(when: datetime | None) -> str:
    """A relative time, such as `3 minutes ago` or `in 2 days`."""
    if when is None:
        return "never"
    seconds = (datetime.now(UTC) - when).total_seconds()
    span = lasting(abs(seconds))
    if abs(seconds) < 1:
        return "now"
    return f"in {span}" if seconds < 0 else f"{span} ago"


def lasting(seconds: float) -> str:
    """A duration in its largest unit."""
    for length, unit in UNITS:
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"{int(seconds)} s"


def moment(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def size(count: int | None) -> str:
    """A byte count with a unit."""
    if count is None:
        return NOTHING
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def masked(text: Any) -> str:
    """An error message with secrets masked."""
    return "" if text is None else mask_text(str(text))


def outward(url: Any) -> str | None:
    """A URL that is safe to link to; None for schemes that a browser could execute."""
    text = str(url or "")
    return text if text.startswith(("http://", "https://")) else None
