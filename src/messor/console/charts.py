"""Charts: values become coordinates of a fixed-size drawing that templates render as SVG.

Every chart carries a text summary for screen readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from messor.records.product_queries import ObservedPrice

WIDTH = 600
HEIGHT = 120
CURVES_HEIGHT = 160
CURVE_TONES = ("blue", "orange", "green", "purple", "cyan", "red")
MARGIN = 0.15  # share of the range of prices, above and below


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


@dataclass(frozen=True, slots=True)
class Curve:
    """One series."""

    label: str
    tone: str
    path: str  # restarts after each missing value
    dots: str  # a dot at each value
    last: float | None


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines of several series over the same positions, broken where values are unknown."""

    curves: tuple[Curve, ...]
    gaps: tuple[tuple[float, float, str], ...]  # left edge, width and label
    top: str
    bottom: str
    first: str
    final: str
    summary: str
    width: int = WIDTH
    height: int = CURVES_HEIGHT


@dataclass(frozen=True, slots=True)
class Axis:
    """Values at the upper and lower edge; for ranks the smaller value is at the top."""

    upper: float
    lower: float
    top: str
    bottom: str

    @classmethod
    def of_ranks(cls, ranks: Sequence[float | None]) -> Axis:
        worst = max([rank for rank in ranks if rank is not None] + [10.0])
        return cls(1.0, worst, "1st", f"{worst:.0f}th")

    @classmethod
    def of_shares(cls, values: Sequence[float | None]) -> Axis:
        most = max([value for value in values if value is not None] + [0.01])
        return cls(most, 0.0, f"{most:.0%}" if most >= 0.1 else f"{most:.1%}", "0 %")

    def y(self, value: float) -> float:
        part = (value - self.upper) / (self.lower - self.upper)
        return round(4 + (CURVES_HEIGHT - 8) * min(max(part, 0.0), 1.0), 1)


@dataclass(frozen=True, slots=True)
class PriceChart:
    """The price of a product over time as steps, and its key figures."""

    line: LineChart
    currency: str
    lowest: Decimal
    highest: Decimal
    since: datetime
    until: datetime


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


def curves(
    rows: Mapping[str, Sequence[float | None]],
    labels: Sequence[str],
    axis: Axis,
    summary: str,
    *,
    gaps: Sequence[int] = (),
) -> Curves:
    """One line per series over the labelled positions; `gaps` are positions without a complete result."""
    step = WIDTH / max(len(labels) - 1, 1)
    drawn = tuple(
        Curve(
            label,
            CURVE_TONES[place % len(CURVE_TONES)],
            _path(values, step, axis),
            "".join(f"M{_x(at, step)} {axis.y(value):g}h0" for at, value in _known(values)),
            next((value for value in reversed(values) if value is not None), None),
        )
        for place, (label, values) in enumerate(rows.items())
    )
    marks = tuple(_gap(at, step, labels[at]) for at in gaps)
    ends = (labels[0], labels[-1]) if labels else ("", "")
    return Curves(drawn, marks, axis.top, axis.bottom, *ends, summary)


def prices(observed: Sequence[ObservedPrice], until: datetime) -> PriceChart | None:
    """Prices over time, given oldest first; None when there are too few for a line.

    A price holds until the next one; a missing one, or one in another currency, is a gap, not zero.
    """
    currencies = [one.currency for one in observed if one.price is not None]
    if not currencies:
        return None
    currency = currencies[-1]
    stated = [one.price if one.currency == currency else None for one in observed]
    values = [value for value in stated if value is not None]
    until = max(until, observed[-1].seen_at)
    since = observed[0].seen_at
    if len(values) < 2 or since == until:
        return None
    low, high = min(values), max(values)
    scale = _Scale(since, until, float(low), float(high))
    ends = [*(one.seen_at for one in observed[1:]), until]
    steps = [
        (scale.x(one.seen_at), scale.x(end), scale.y(float(value)))
        for one, end, value in zip(observed, ends, stated, strict=True)
        if value is not None
    ]
    line, area = _paths(steps)
    least, most = _amount(low), _amount(high)
    guides = ((scale.y(float(high)), f"highest: {most}"), (scale.y(float(low)), f"lowest: {least}"))
    words = f"{currency or ''} {_amount(values[-1])}".strip()
    summary = (
        f"Current price {words}; range {least} to {most} since {since:%Y-%m-%d},"
        f" {len(values)} observed prices"
    )
    drawn = LineChart(line, area, float(high), float(values[-1]), summary, WIDTH, HEIGHT, guides)
    return PriceChart(drawn, currency or "", low, high, since, until)


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


def _path(values: Sequence[float | None], step: float, axis: Axis) -> str:
    parts: list[str] = []
    broken = True
    for at, value in enumerate(values):
        if value is not None:
            parts.append(f"{'M' if broken else 'L'}{_x(at, step)} {axis.y(value):g}")
        broken = value is None
    return "".join(parts)


def _known(values: Sequence[float | None]) -> list[tuple[int, float]]:
    return [(at, value) for at, value in enumerate(values) if value is not None]


def _x(at: int, step: float) -> str:
    return f"{step * at:.1f}"


def _gap(at: int, step: float, label: str) -> tuple[float, float, str]:
    """A stripe around a position, clipped to the drawing."""
    left, right = max(step * (at - 0.5), 0.0), min(step * (at + 0.5), float(WIDTH))
    return round(left, 1), round(right - left, 1), label


def _amount(price: Decimal) -> str:
    """Format a price as tables do: with two decimals or none."""
    if price == price.to_integral_value():
        return f"{price:,.0f}"
    return f"{price:,.2f}" if price * 100 == (price * 100).to_integral_value() else f"{price:,}"


@dataclass(frozen=True, slots=True)
class _Scale:
    since: datetime
    until: datetime
    low: float
    high: float

    def x(self, at: datetime) -> float:
        return round(WIDTH * ((at - self.since) / (self.until - self.since)), 1)

    def y(self, value: float) -> float:
        air = (self.high - self.low) * MARGIN or 1.0
        share = (value - self.low + air) / (self.high - self.low + 2 * air)
        return round(HEIGHT * (1 - share), 1)


def _paths(steps: Sequence[tuple[float, float, float]]) -> tuple[str, str]:
    """The steps joined where they touch, and the areas below them, as SVG paths."""
    line, area = "", ""
    last: float | None = None
    for begin, end, y in steps:
        line += f"L{begin:g} {y:g}" if begin == last else f"M{begin:g} {y:g}"
        line += f"L{end:g} {y:g}"
        area += f"M{begin:g} {y:g}L{end:g} {y:g}L{end:g} {HEIGHT}L{begin:g} {HEIGHT}Z"
        last = end
    return line, area
