"""Charts: values become coordinates of a fixed-size drawing that templates render as SVG.

Every chart carries a text summary for screen readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH = 600
HEIGHT = 120


@dataclass(frozen=True, slots=True)
class LineChart:
    """A series as a line with the area below it."""

    line: str  # SVG path
    area: str
    top: float
    last: float
    summary: str
    width: int
    height: int
    guides: tuple[tuple[float, str], ...] = ()  # (y, label) pairs


@dataclass(frozen=True, slots=True)
class BarSegment:
    """One segment of a stacked bar."""

    y: float
    height: float
    tone: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; segments from bottom to top."""

    x: float
    width: float
    label: str
    total: int
    segments: tuple[BarSegment, ...]


@dataclass(frozen=True, slots=True)
class Bars:
    """Stacked bars with their legend."""

    bars: tuple[Bar, ...]
    legend: tuple[tuple[str, str, int], ...]  # label, tone, total count
    top: int
    summary: str
    width: int = WIDTH
    height: int = HEIGHT


def line(
    values: Sequence[float],
    summary: str,
    *,
    top: float | None = None,
    guides: Mapping[float, str] | None = None,
    width: int = WIDTH,
    height: int = 60,
) -> LineChart:
    """A line through the values, oldest first; `top` is the value of the upper edge."""
    highest = top if top is not None else max([*values, 1.0])
    step = width / max(len(values) - 1, 1)
    points = [
        (round(step * place, 1), _y(value, highest, height)) for place, value in enumerate(values)
    ]
    path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points) if points else ""
    area = f"{path}L{width} {height}L0 {height}Z" if points else ""
    marks = tuple((_y(value, highest, height), label) for value, label in (guides or {}).items())
    last = values[-1] if values else 0.0
    return LineChart(path, area, highest, last, summary, width, height, marks)


def bars(
    columns: Sequence[tuple[str, Mapping[str, int]]], tones: Mapping[str, str], summary: str
) -> Bars:
    """A bar per column, its counts stacked in the order of `tones`."""
    top = max([sum(counts.values()) for _, counts in columns] + [1])
    slot = WIDTH / max(len(columns), 1)
    drawn = tuple(
        Bar(
            round(slot * place + slot * 0.1, 1),
            round(slot * 0.8, 1),
            label,
            sum(counts.values()),
            _segments(counts, tones, top),
        )
        for place, (label, counts) in enumerate(columns)
    )
    legend = tuple(
        (name, tone, count)
        for name, tone in tones.items()
        if (count := sum(counts.get(name, 0) for _, counts in columns))
    )
    return Bars(drawn, legend, top, summary)


def shares(
    counts: Mapping[str, int], tones: Mapping[str, str]
) -> list[tuple[str, str, int, float]]:
    """Counts as shares of the total: label, tone, count, per cent; largest first."""
    total = sum(counts.values())
    return [
        (name, tones.get(name, "secondary"), count, 100 * count / total)
        for name, count in sorted(counts.items(), key=lambda one: -one[1])
        if count
    ]


def _segments(
    counts: Mapping[str, int], tones: Mapping[str, str], top: int
) -> tuple[BarSegment, ...]:
    segments: list[BarSegment] = []
    base = float(HEIGHT)
    for name, tone in tones.items():
        count = counts.get(name, 0)
        if count:
            height = max(HEIGHT * count / top, 1.0)
            base -= height
            segments.append(BarSegment(round(base, 1), round(height, 1), tone, name, count))
    return tuple(segments)


def _y(value: float, top: float, height: int) -> float:
    """Scale with a margin of 2 so that a line at the edge is fully visible."""
    return round(height - 2 - (height - 4) * min(max(value / top, 0.0), 1.0), 1)
