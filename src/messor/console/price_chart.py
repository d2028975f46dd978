"""The price of a product over time as a step chart: a price holds until the next observation.

A missing price, or one in another currency, is a gap rather than zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from messor.console.charts import HEIGHT, WIDTH, LineChart
from messor.records.product_queries import ObservedPrice

MARGIN = 0.15  # share of the range, above and below


@dataclass(frozen=True, slots=True)
class PriceChart:
    """The chart and its key figures."""

    line: LineChart
    currency: str
    lowest: Decimal
    highest: Decimal
    since: datetime
    until: datetime


def draw(prices: Sequence[ObservedPrice], until: datetime) -> PriceChart | None:
    """Draw prices given oldest first; None when there are too few for a line."""
    currencies = [one.currency for one in prices if one.price is not None]
    if not currencies:
        return None
    currency = currencies[-1]
    stated = [one.price if one.currency == currency else None for one in prices]
    values = [value for value in stated if value is not None]
    until = max(until, prices[-1].seen_at)
    since = prices[0].seen_at
    if len(values) < 2 or since == until:
        return None
    low, high = min(values), max(values)
    scale = _Scale(since, until, float(low), float(high))
    ends = [*(one.seen_at for one in prices[1:]), until]
    steps = [
        (scale.x(one.seen_at), scale.x(end), scale.y(float(value)))
        for one, end, value in zip(prices, ends, stated, strict=True)
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
