"""The visible text as columns: what its lines say, what holds them, and in which region they are."""

from __future__ import annotations

import pytest

from messor.content import visible_lines
from messor.content.visible_lines import holder_of
from tests.content.views import view


def texts(body: str) -> list[str]:
    return view(body).visible_lines.texts


def test_a_text_goes_on_only_within_the_same_block() -> None:
    inline = "<div>zero <span>one<p>two</p>x <b>y</b>three</span></div>"
    assert texts(inline) == ["zero one", "two", "x ythree"]
    assert texts("<p>a <i><b>b</b> c</i> <u>d</u></p>e") == ["a b c d", "e"]
    assert texts("<div>a<p></p>b<br>c</div>") == ["a", "b", "c"]
    assert texts("<ul><li><a>Card</a><span>3</span></li>\n<li><a>Next</a></li></ul>") == [
        "Card 3",
        "Next",
    ]


def test_texts_deep_within_inline_elements_are_one_line() -> None:
    deep = f"<p>{'<i>' * 200}{'a<b>b</b> ' * 3}{'</i>' * 100}c{'</i>' * 100}<u>d</u></p>e"
    assert texts(deep) == ["ab ab ab c d", "e"]
    assert texts("<i><p>a <b>b</b></p><u>c <b>d</b></u></i> e") == ["a b", "c d e"]


@pytest.mark.parametrize(
    "size", [visible_lines._SHORT - 1, visible_lines._SHORT, 3 * visible_lines._SHORT]
)
def test_long_lines_are_put_together_like_short_ones(size: int) -> None:
    said = "x" * size
    assert texts(f"<p>{said}<b>y</b> z <i>1</i><i>2</i>3</p><p>{said}</p>") == [
        f"{said}y z 1 23",
        said,
    ]


@pytest.mark.parametrize(
    "body, said",
    [
        ("<p> a </p><p>b <i>c</i> </p>", ["a", "b c"]),
        ("<p>a\tb</p><p> c</p>", ["a b", "c"]),
        ("<p>a\u00a0b</p><p> \u00e9 </p>", ["a b", "\u00e9"]),
        ("<p>a&#12;b</p><p>c  d</p>", ["a b", "c d"]),
        ("<p>a&#31;b</p><p>c</p>", ["a b", "c"]),
        ("<p>caf\u00e9 </p><p> x</p>", ["caf\u00e9", "x"]),
    ],
)
def test_white_space_is_collapsed_whichever_it_is(body: str, said: list[str]) -> None:
    assert texts(body) == said


def test_a_line_has_a_greatest_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visible_lines, "MAX_LINE", 4)
    assert texts("<p>abcdef</p><p>a b c d</p>") == ["abcd", "a b "]


def test_lines_outside_of_regions() -> None:
    page = view(
        "<nav>a</nav><header>b<nav>c</nav>d</header><p>e</p><footer><p>f</p></footer><i>g</i>"
    )
    found = page.visible_lines
    assert found.regions == ["nav", "header", "nav", "header", "", "footer", ""]
    said, firsts = found.outside(("nav", "footer"))
    assert said == ["b", "d", "e", "g"]
    assert [holder_of(first).tag for first in firsts] == ["header", "header", "p", "body"]


def test_a_page_may_show_nothing() -> None:
    found = view("").visible_lines
    assert (found.texts, found.firsts, found.regions) == ([], [], [])
    assert found.outside(()) == ([], [])
