"""The chart of a politeness audit as SVG: no script, no style sheet, nothing to load.

`chart.svg` is the drawing; here are the numbers and sentences in it. Widths are shares and heights
are pixels, so that text keeps its size on a phone and on a wide screen. Colours are of medium
lightness on a transparent background, readable on light and dark. Early requests are marked by
shape and text too, never by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import Environment, PackageLoader, StrictUndefined

from messor.core.plurals import counted
from messor.ops.report import EARLY, EDGES, LaneReport, PolitenessReport

MAX_SHOWN = 40
LONGEST_NAME = 24
TOP_RATIO = 2.0  # end of the axis; larger values are drawn there
TICKS = (0.0, 0.5, 1.0, 1.5, TOP_RATIO)
LEFT, RIGHT = 3.0, 97.0  # of the width, in percent
BARS = 72  # height of the histogram's tallest bar


def draw(report: PolitenessReport) -> str:
    """Draw the smallest gap of each lane against the delay due, and how all gaps spread."""
    drawing = Environment(
        loader=PackageLoader("messor.ops", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawing.filters.update(at=_at, host=_shorten, seconds=_seconds, short=_short)
    judged = sorted((lane for lane in report.lanes if lane.smallest), key=_by_gap)
    return drawing.get_template("chart.svg").render(
        report=report,
        lanes=judged[:MAX_SHOWN],
        remarks=list(_remarks(report, judged, judged[MAX_SHOWN:])),
        heading=_heading(report),
        bars=_bars(report.histogram) if judged else [],
        edges=(0.0, *EDGES),
        ticks=TICKS,
        left=LEFT,
        right=RIGHT,
    )


def _by_gap(lane: LaneReport) -> tuple[bool, float, str]:
    return not lane.early, lane.smallest.ratio if lane.smallest else 0.0, lane.host


def _heading(report: PolitenessReport) -> str:
    early = f"{report.found[EARLY]:,} of {report.requests:,} requests came early"
    others = report.found.total() - report.found[EARLY]
    also = f"; {others:,} should not have been made" if others else ""
    return early + also if report.requests else "No requests"


def _remarks(
    report: PolitenessReport, judged: list[LaneReport], rest: list[LaneReport]
) -> Iterator[str]:
    """What the chart omits, as text."""
    if rest:
        ratios = [lane.smallest.ratio for lane in rest if lane.smallest]
        early = sum(lane.early for lane in rest)
        yield f"{len(rest):,} more lanes: {min(ratios):.2f} to {max(ratios):.2f}, {early:,} early"
    unpaced = sum(lane.pace == "no delay requested" for lane in report.lanes)
    if unpaced:
        yield f"{counted(unpaced, 'lane')} with no delay requested"
    single = len(report.lanes) - len(judged) - unpaced
    if single:
        yield f"{counted(single, 'lane')} with nothing to compare"


def _bars(counts: list[int]) -> list[tuple[int, int, bool]]:
    """Count, height and whether its gaps are long enough, of each bar of the histogram."""
    tallest = max(*counts, 1)
    return [
        (count, max(round(BARS * count / tallest), 2) if count else 0, place > EDGES.index(1.0))
        for place, count in enumerate(counts)
    ]


def _short(count: int) -> str:
    """A number short enough for a bar on a phone."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.{1 if count < 10 * size else 0}f}{unit}"
    return str(count)


def _at(ratio: float) -> float:
    """The position of a ratio on the axis, in percent."""
    return LEFT + 1 + (RIGHT - LEFT - 2) * min(max(ratio, 0.0), TOP_RATIO) / TOP_RATIO


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f}" if milliseconds < 10_000 else f"{milliseconds / 1000:,.0f}"


def _shorten(name: str) -> str:
    """Shorten the middle of a host name: its end says most, its beginning distinguishes it."""
    if len(name) <= LONGEST_NAME:
        return name
    half = LONGEST_NAME // 2
    return f"{name[: half - 1]}…{name[-half:]}"
