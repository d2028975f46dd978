"""Line charts of several series over the same x positions, with breaks where values are unknown.

Like `charts`, it computes shapes and a text summary; templates render them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 600, 160
TONES = ("blue", "orange", "green", "purple", "cyan", "red")


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
    """The chart with its axis labels."""

    curves: tuple[Curve, ...]
    gaps: tuple[tuple[float, float, str], ...]  # left edge, width and label
    top: str
    bottom: str
    first: str
    final: str
    summary: str
    width: int = WIDTH
    height: int = HEIGHT


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
        return round(4 + (HEIGHT - 8) * min(max(part, 0.0), 1.0), 1)


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
            TONES[place % len(TONES)],
            _path(values, step, axis),
            "".join(f"M{_x(at, step)} {axis.y(value):g}h0" for at, value in _known(values)),
            next((value for value in reversed(values) if value is not None), None),
        )
        for place, (label, values) in enumerate(rows.items())
    )
    marks = tuple(_gap(at, step, labels[at]) for at in gaps)
    ends = (labels[0], labels[-1]) if labels else ("", "")
    return Curves(drawn, marks, axis.top, axis.bottom, *ends, summary)


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
