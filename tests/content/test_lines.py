"""The visible text as lines: where they break, what is not seen, and where they stand."""

from __future__ import annotations

import pytest

from messor.content import visible_lines
from messor.content.dates import fold
from messor.content.kinds.line_hints import times_of
from messor.content.lines import LineNumbers, read_marks
from messor.content.metadata import read_metadata
from messor.content.plain import one_space
from tests.content.views import view


def texts(body: str) -> list[str]:
    return [line.text for line in view(body).lines]


@pytest.mark.parametrize(
    "body, said",
    [
        ("<p>one <b>two</b> three</p>", ["one two three"]),
        ("<p>one</p>two", ["one", "two"]),
        ("one<p>two</p><i>three</i>", ["one", "two", "three"]),
        ("<div>one<br>two</div>", ["one", "two"]),
        ("<div><p>one</p> <b>two</b> three</div>", ["one", "two three"]),
        ("<b>one</b><b>two</b>", ["one two"]),
        ("on<b>e</b>", ["one"]),
        ("<i>one<p>two</p></i>three", ["one", "two", "three"]),
        ("a  b\n\tc\xa0 d", ["a b c d"]),
        ("<p> \n </p><p></p>", []),
    ],
)
def test_where_lines_break(body: str, said: list[str]) -> None:
    assert texts(body) == said


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>var a</script>", "<select><option>x<option>y</select>", "<template><p>x</p></template>",
        "<svg><g><path/></g><text>x</text></svg>", "<noscript><b>x</b><i>y</i></noscript>",
        "<style></style>", "<iframe src=x></iframe>", "<textarea>\n x</textarea>",
    ],
)  # fmt: skip
def test_what_is_not_seen_does_not_break_a_line(unseen: str) -> None:
    assert texts(f"<p>on{unseen}e</p><p>two</p>") == ["one", "two"]


def test_regions_end_where_their_elements_do() -> None:
    page = view(
        "<header>a<nav><p>b</p></nav></header><p>c</p><footer>d<nav>e</nav>f</footer><!-- x -->g"
        "<aside><script></script></aside>h"
    )
    assert [(line.text, line.region) for line in page.lines] == [
        ("a", "header"), ("b", "nav"), ("c", ""), ("d", "footer"), ("e", "nav"), ("f", "footer"),
        ("g", ""), ("h", ""),
    ]  # fmt: skip


def test_a_line_knows_its_element_and_its_place_in_the_source() -> None:
    page = view("<ul><li><a>One</a> &amp; <b>two</b></li></ul>\r\n<h2><i>Th&eacute;</i></h2> end")
    first, second, third = page.lines
    assert [(line.element.tag, line.level) for line in page.lines] == [
        ("li", 0),
        ("h2", 2),
        ("body", 0),
    ]
    assert page.passage(first).quote == "One</a> &amp; <b>two"
    assert page.passage(second).quote == "Th&eacute;"
    begin, end = third.span(page.source)
    assert page.source.text[begin:end] == " end"


def test_there_is_a_limit_to_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visible_lines, "MAX_LINES", 2)
    found = view("<p>a <b>b</b></p><p>c</p><p>d</p><p>e</p>").lines
    assert [line.text for line in found] == ["a b", "c"]


def test_the_line_an_element_stands_in() -> None:
    page = view(
        "<p>one</p><ul><li>two <a id=a>x</a></li></ul><div><p>three</p><b><a id=b>y</a></b> four</div>"
        "<div><a id=c></a><p>five</p></div>"
    )
    numbers = LineNumbers(page.lines)
    found = {name: page.document.find(id=name) for name in "abc"}
    assert [numbers.of(each) for each in found.values() if each is not None] == [1, 3, 0]


def test_what_marks_lines_have() -> None:
    assert read_marks([]) == []
    told = [
        "plain",
        "tel 12-3 (x)",
        "a@b.c",
        "n\u00b0 \u0664\u0662",
        "caf\u00e9 \u2013 [x",
        "\u00b2",
    ]
    assert read_marks(told) == ["", "000(", "@", "0", "[", ""]


def test_times_across_two_lines_are_counted() -> None:
    assert times_of(view("<p>9:00 - 17:00, 18:00 to 20:00</p><p>no 12</p>")) == 2
    assert times_of(view("<p>open 9</p><p>am to 5 pm</p>")) == 1
    assert times_of(view("<p>none</p>")) == 0


def test_text_is_folded_line_by_line_as_in_one_piece() -> None:
    page = view(
        "<p>PLAIN</p><p>\u00c9t\u00e9 \u0130</p><p>\u0301e\u0301\u0323x</p><p>\u0439 \u03ac\u03c3\u03c2</p>"
    )
    assert page.folded == fold("\n".join(line.text for line in page.lines))
    assert page.folded.startswith("plain\nete")


@pytest.mark.parametrize(
    "text, said",
    [
        (" a  b ", "a b"), ("a\u200bb\n c", "ab c"), ("a\u00a0\u00a0b", "a b"), ("", ""),
        ("caf\u00e9 \u2013 x", "caf\u00e9 \u2013 x"), ("a\0b", "ab"), ("\ufeff", ""),
    ],
)  # fmt: skip
def test_white_space_and_invisible_characters(text: str, said: str) -> None:
    assert one_space(text) == said


def test_headings_come_in_the_order_of_the_source() -> None:
    """A heading within a table but outside of its cells is put before the table by the parser."""
    page = view("<h1>A</h1><table><tr><td><h2>B</h2></td></tr><h3>C</h3></table><h2>D</h2>")
    assert [heading.text for heading in read_metadata(page).headings] == ["A", "B", "C", "D"]


@pytest.mark.parametrize(
    "content, said",
    [
        ("A &amp;amp; B", "A &amp; B"), ("a <b>c</b>", "a c"), ("caf&eacute;  x", "caf\u00e9 x"),
        ("x\r\ny", "x y"), ("Tom &copy=1", "Tom \u00a9=1"),
    ],
)  # fmt: skip
def test_meta_elements_say_what_their_source_does(content: str, said: str) -> None:
    page = view("", head=f'<meta name="description" content="{content}">')
    assert page.meta_text("description") == said
    assert page.has_meta("keywords", "description")
    assert not page.has_meta("keywords")
