"""Templates: one environment that escapes everything, and the few filters that pages share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from messor.console import charts, labels
from messor.core.counting import counted
from messor.core.masking import mask_text

NOTHING = "\N{EN DASH}"
UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def environment(version: str) -> Environment:
    """Jinja with everything escaped; a template that names what is not there fails."""
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
    return made


def ago(when: datetime | None) -> str:
    """How long ago, or until when, in a few words."""
    if when is None:
        return "never"
    seconds = (datetime.now(UTC) - when).total_seconds()
    told = lasting(abs(seconds))
    if abs(seconds) < 1:
        return "now"
    return f"in {told}" if seconds < 0 else f"{told} ago"


def lasting(seconds: float) -> str:
    """A span of time in its largest unit."""
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
    """Bytes as people read them."""
    if count is None:
        return NOTHING
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def masked(text: Any) -> str:
    """A sentence about what went wrong, without the secrets that it repeats."""
    return "" if text is None else mask_text(str(text))


def outward(url: Any) -> str | None:
    """An address that a link may lead to; None for what a browser could run."""
    text = str(url or "")
    return text if text.startswith(("http://", "https://")) else None
