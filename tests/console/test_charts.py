"""Charts: shapes from figures, whatever the figures are."""

from __future__ import annotations

from messor.console import charts


def test_a_line() -> None:
    chart = charts.line([0, 5, 10], "said", top=10, guides={5: "half"}, width=100, height=100)
    assert chart.line == "M0 98L50 50L100 2"
    assert chart.area.endswith("L100 100L0 100Z")
    assert chart.guides == ((50.0, "half"),)
    assert chart.summary == "said"


def test_lines_of_nothing_and_of_too_much() -> None:
    assert charts.line([], "nothing").line == ""
    assert charts.line([7.0], "one").line.startswith("M0 ")
    assert "nan" not in charts.line([0.0, 0.0], "zero").line
    assert charts.line([1e9], "much", top=100).line == "M0 2"


def test_bars() -> None:
    tones = {"good": "green", "bad": "red"}
    chart = charts.bars(
        [("Mon", {"good": 3, "bad": 1}), ("Tue", {}), ("Wed", {"bad": 2})], tones, "x"
    )
    assert chart.top == 4
    assert [piece.tone for piece in chart.bars[0].segments] == ["green", "red"]
    assert sum(piece.height for piece in chart.bars[0].segments) == charts.HEIGHT
    assert chart.bars[1].segments == ()
    assert chart.legend == (("good", "green", 3), ("bad", "red", 3))
    assert charts.bars([], tones, "none").bars == ()


def test_shares() -> None:
    parts = charts.shares({"a": 1, "b": 3, "c": 0}, {"a": "red"})
    assert parts == [("b", "secondary", 3, 75.0), ("a", "red", 1, 25.0)]
    assert charts.shares({}, {}) == []
