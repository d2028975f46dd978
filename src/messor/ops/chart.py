"""The chart of a politeness audit as SVG: no script, no style sheet, nothing to load.

Widths are shares and heights are pixels, so that text keeps its size on a phone and on a wide
screen. Colours are of medium lightness on a transparent background, readable on light and dark.
Early requests are marked by shape and text too, never by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from messor.ops.report import EARLY, EDGES, LaneReport, PolitenessReport

MAX_SHOWN = 40
LONGEST_NAME = 24
TOP_RATIO = 2.0  # end of the axis; larger values are drawn there
TICKS = (0.0, 0.5, 1.0, 1.5, TOP_RATIO)

TEXT, LINE, GOOD, BAD = "#787878", "#9a9a9a", "#2f80c2", "#d9432f"
FONT = "system-ui, sans-serif"

LEFT, RIGHT = 3.0, 97.0  # of the width, in percent
ROW = 34
BARS = 72  # height of the histogram's tallest bar


def draw(report: PolitenessReport) -> str:
    """Draw the smallest gap of each lane against the delay due, and how all gaps spread."""
    judged = sorted((lane for lane in report.lanes if lane.smallest), key=_by_gap)
    shown, rest = judged[:MAX_SHOWN], judged[MAX_SHOWN:]
    parts = list(_heading(report))
    y = 60
    if shown:
        parts += _lanes(shown, y)
        y += ROW * len(shown) + 28
    for line in _remarks(report, judged, rest):
        parts.append(_text(LEFT, y + 10, line))
        y += 20
    if judged:
        parts += _histogram(report.histogram, y + 36)
        y += BARS + 92
    return _document(report, parts, y)


def _by_gap(lane: LaneReport) -> tuple[bool, float, str]:
    return not lane.early, lane.smallest.ratio if lane.smallest else 0.0, lane.host


def _document(report: PolitenessReport, parts: Iterable[str], height: int) -> str:
    title = f"Politeness of {report.domain or 'all domains'}"
    described = (
        "For each lane the smallest pause before a request, divided by the delay that was due; "
        f"below 1 a request came early. {report.verdict}"
    )
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="{height}" role="img" '
        f'aria-labelledby="politeness-title politeness-desc" font-family="{FONT}" '
        f'font-size="12" fill="{TEXT}">'
    )
    named = f'<title id="politeness-title">{escape(title)}</title>'
    explained = f'<desc id="politeness-desc">{escape(described)}</desc>'
    return "\n".join([opening, named, explained, *parts, "</svg>\n"])


def _heading(report: PolitenessReport) -> Iterable[str]:
    yield _text(LEFT, 20, "Smallest gap ÷ due delay, by lane", size=14, bold=True)
    found = report.found
    early = f"{found[EARLY]:,} of {report.requests:,} requests came early"
    others = found.total() - found[EARLY]
    also = f"; {others:,} should not have been made" if others else ""
    says = early + also if report.requests else "No requests"
    yield _text(LEFT, 40, says, colour=BAD if found else TEXT)


def _lanes(lanes: list[LaneReport], top: int) -> Iterable[str]:
    for number, lane in enumerate(lanes):
        yield from _lane(lane, top + ROW * number)
    axis = top + ROW * len(lanes) + 14
    for ratio in TICKS:
        label = f"{ratio:g}+" if ratio == TOP_RATIO else f"{ratio:.1f}"
        yield _text(_x(ratio), axis, label, anchor="middle", bold=ratio == 1)


def _lane(lane: LaneReport, y: int) -> Iterable[str]:
    gap = lane.smallest
    assert gap is not None
    colour, bad = (BAD, True) if lane.early else (GOOD, False)
    x, one, middle = _x(gap.ratio), _x(1), y + 23
    says = f"{_seconds(gap.gap_ms)} of {_seconds(gap.due_ms)} s"
    early = f"{lane.early:,} early"
    named = f"{lane.host}: {says}, {early}"
    yield f"<g><title>{escape(named)}</title>"
    yield _text(LEFT, y + 12, _shorten(lane.host))
    yield _text(RIGHT, y + 12, says, anchor="end", colour=colour if bad else TEXT)
    yield from (_tick(ratio, middle) for ratio in TICKS)
    yield (
        f'<rect x="{min(x, one):.2f}%" y="{middle - 2}" width="{abs(x - one):.2f}%" height="4" '
        f'fill="{colour}" opacity="0.6"/>'
    )
    if bad:
        yield _diamond(x, middle)
        yield _text(one + 1.5, middle + 4, early, bold=True, colour=BAD)
    else:
        yield _dot(x, middle)
    yield "</g>"


def _tick(ratio: float, middle: int) -> str:
    """A tick of the axis, short of the text above it."""
    x, width = _x(ratio), 2 if ratio == 1 else 1
    return (
        f'<line x1="{x:.2f}%" x2="{x:.2f}%" y1="{middle - 7}" y2="{middle + 7}" '
        f'stroke="{LINE}" stroke-width="{width}"/>'
    )


def _dot(x: float, y: int) -> str:
    return f'<circle cx="{x:.2f}%" cy="{y}" r="4.5" fill="{GOOD}"/>'


def _diamond(x: float, y: int) -> str:
    shape = f'<path d="M0-6 6 0 0 6-6 0Z" fill="{BAD}"/>'
    return f'<svg x="{x:.2f}%" y="{y}" overflow="visible">{shape}</svg>'


def _remarks(
    report: PolitenessReport, judged: list[LaneReport], rest: list[LaneReport]
) -> Iterable[str]:
    """What the chart omits, as text."""
    if rest:
        ratios = [lane.smallest.ratio for lane in rest if lane.smallest]
        early = sum(lane.early for lane in rest)
        yield f"{len(rest):,} more lanes: {min(ratios):.2f} to {max(ratios):.2f}, {early:,} early"
    unpaced = sum(lane.pace == "no delay requested" for lane in report.lanes)
    if unpaced:
        yield f"{unpaced:,} {_lanes_word(unpaced)} with no delay requested"
    single = len(report.lanes) - len(judged) - unpaced
    if single:
        yield f"{single:,} {_lanes_word(single)} with nothing to compare"


def _lanes_word(count: int) -> str:
    return "lane" if count == 1 else "lanes"


def _histogram(counts: list[int], top: int) -> Iterable[str]:
    yield _text(LEFT, top, f"All {sum(counts):,} gaps ÷ due delay", size=14, bold=True)
    base = top + 30 + BARS
    width = (RIGHT - LEFT) / len(counts)
    tallest = max(*counts, 1)
    for number, count in enumerate(counts):
        x = LEFT + width * number
        height = max(round(BARS * count / tallest), 2) if count else 0
        colour = GOOD if number > EDGES.index(1.0) else BAD
        yield (
            f'<rect x="{x + width * 0.1:.2f}%" y="{base - height}" width="{width * 0.8:.2f}%" '
            f'height="{height}" fill="{colour}"/>'
        )
        if count:
            label = _short(count)
            yield _text(x + width / 2, base - height - 4, label, anchor="middle", size=11)
    yield f'<line x1="{LEFT}%" x2="{RIGHT}%" y1="{base}" y2="{base}" stroke="{LINE}"/>'
    for number, edge in enumerate((0.0, *EDGES)):
        x = LEFT + width * number
        yield _text(x, base + 15, f"{edge:g}", anchor="middle", size=11, bold=edge == 1)


def _short(count: int) -> str:
    """A number short enough for a bar on a phone."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.{1 if count < 10 * size else 0}f}{unit}"
    return str(count)


def _x(ratio: float) -> float:
    return LEFT + 1 + (RIGHT - LEFT - 2) * min(max(ratio, 0.0), TOP_RATIO) / TOP_RATIO


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.2f}" if milliseconds < 10_000 else f"{milliseconds / 1000:,.0f}"


def _shorten(name: str) -> str:
    """Shorten the middle of a host name: its end says most, its beginning distinguishes it."""
    if len(name) <= LONGEST_NAME:
        return name
    half = LONGEST_NAME // 2
    return f"{name[: half - 1]}…{name[-half:]}"


def _text(
    x: float,
    y: int,
    text: str,
    *,
    anchor: str = "start",
    size: int = 12,
    bold: bool = False,
    colour: str = TEXT,
) -> str:
    weight = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{x:.2f}%" y="{y}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}"{weight}>{escape(text)}</text>'
    )
