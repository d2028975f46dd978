"""The picture: sound XML, nothing that runs or loads, and everything said in words as well."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest

from messor.ops.chart import MAX_SHOWN, draw
from messor.ops.report import Gap, LaneReport, PolitenessReport

NOW = datetime(2026, 11, 15, tzinfo=UTC)
SVG = "{http://www.w3.org/2000/svg}"


def lane(host: str, ratio: float | None, *, early: int = 0) -> LaneReport:
    made = LaneReport(host, requests=10)
    if ratio is None:
        made.unpaced = 10
    else:
        made.smallest, made.gaps = Gap(1000 * ratio, 1000, NOW, None), 9
    made.found.update(early=early)
    return made


def picture(*lanes: LaneReport) -> tuple[PolitenessReport, ET.Element]:
    report = PolitenessReport(None, None, list(lanes))
    for one in lanes:
        if one.smallest:
            report.count(one.smallest)
    return report, ET.fromstring(draw(report))


def words(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("count", [0, 1, 40, 41, 250])
def test_any_number_of_lanes(count: int) -> None:
    report, root = picture(*(lane(f"h{n}.test", 1.0 + n / 100) for n in range(count)))
    assert len(list(root.iter(f"{SVG}circle"))) == min(count, MAX_SHOWN)
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert title.text == "Politeness of all domains"
    assert report.verdict in (desc.text or "")
    assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"
    more = [text for text in words(root) if "more lanes" in text]
    assert more == (
        [f"210 more lanes: 1.40 to {1 + 249 / 100:.2f}, 0 early"] if count > 100 else more
    )
    assert bool(more) == (count > MAX_SHOWN)


def test_nothing_runs_and_nothing_is_loaded() -> None:
    hostile = '"><script>alert(1)</script><image href="http://x.test/"/>&'
    _, root = picture(lane(hostile, 0.5, early=3), lane("a" * 300, 1.0))
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {"svg", "title", "desc", "g", "text", "rect", "line", "circle", "path"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not {
        name for name in names if name.startswith("on") or "href" in name or name == "style"
    }
    assert all(len(text) < 60 for text in words(root))


def test_early_lanes_come_first_in_shape_and_word() -> None:
    _, root = picture(
        lane("good.test", 0.99), lane("bad.test", 0.4, early=12), lane("own.test", None)
    )
    said = words(root)
    assert said.index("bad.test") < said.index("good.test")
    assert "12 early" in said
    assert "1 lane with no delay requested" in said
    assert len(list(root.iter(f"{SVG}path"))) == len(list(root.iter(f"{SVG}circle"))) == 1


def test_nothing_lies_outside_the_picture() -> None:
    _, root = picture(*(lane(f"h{n}.test", n / 10, early=n % 2) for n in range(60)))
    height = int(root.get("height") or 0)
    for element in root.iter():
        for name in ("x", "x1", "x2", "cx"):
            share = re.fullmatch(r"(-?[\d.]+)%", element.get(name, ""))
            assert share is None or 0 <= float(share[1]) <= 100
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(element.get(name, "0")) <= height
