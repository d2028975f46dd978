"""Lists met again show the same lines, in part or whole, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.extract import shown, shown_items
from messor.extract.lines import lines_of
from messor.extract.lists import MAX_ITEM
from messor.extract.shown import holder_of
from messor.extract.spans import Source
from tests.extract.rereading import LIST, assert_reads_the_same_again
from tests.extract.views import view

PARTS = st.one_of(
    LIST,
    st.sampled_from(
        (
            "<nav><ul><li>Home</li><li>News</li></ul></nav>",
            "<ul><li><nav>Home</nav></li><li>News</li></ul>",
            "<ul><li>Home</li><li>News<header> </header></li></ul>",
            "<ul><li><svg><title>An icon</title></svg> Home</li><li><div>News</div></li></ul>",
            "<ul><li><svg>x</svg></li><li>Home</li></ul>",
            "<ul><li>Home<br>sweet</li><li>News</li></ul>",
            "<ul><li>Home</li><li><script>1</script></li></ul>",
            "<aside>before<ul><li>Home</li><li>News</li></ul>after</aside>",
        )
    ),
)


def said(html: str) -> list[tuple[object, ...]]:
    """All that is known of each line."""
    page = view(html)
    lines = lines_of(page.shown)
    assert [line.text for line in lines] == page.shown.texts
    return [
        (
            line.text,
            line.region,
            holder_of(first).tag,
            line.first.data,  # type: ignore[attr-defined]
            line.quote(Source(page.source.text)),
        )
        for line, first in zip(lines, page.shown.firsts, strict=True)
    ]


@given(st.lists(PARTS, min_size=2, max_size=5))
def test_what_was_read_before_changes_nothing(parts: list[str]) -> None:
    assert_reads_the_same_again(said, shown_items._KNOWN, parts)


def test_items_that_are_new_stand_among_known_ones_in_their_order() -> None:
    shown_items._KNOWN.clear()
    cards = [f"<li><a href=/{n}>Thing {n}</a><span>{n}.50</span></li>" for n in range(9)]
    view(f"<ul>{''.join(cards[::2])}</ul>").shown  # noqa: B018 - it is read for the first time
    assert len(shown_items._KNOWN) == 5
    found = view(f"<p>before</p><ul>{''.join(cards)}</ul>after").shown
    assert found.texts == ["before", *(f"Thing {n} {n}.50" for n in range(9)), "after"]
    assert [holder_of(first).tag for first in found.firsts] == ["p", *["li"] * 9, "body"]
    assert len(shown_items._KNOWN) == 9


def test_an_item_of_two_lines_or_of_none_is_not_kept() -> None:
    for item in (
        "<li>one<p>two</p></li>",
        "<li>one<br>two</li>",
        "<li></li>",
        "<li><nav>x</nav></li>",
    ):
        shown_items._KNOWN.clear()
        view(f"<ul><li>first</li>{item}</ul>after").shown  # noqa: B018
        assert not any(item[4:8] in known for known in shown_items._KNOWN), item


def test_items_are_kept_up_to_a_bound() -> None:
    shown_items._KNOWN.clear()
    for start in range(0, 2 * shown_items._REMEMBERED, 1_000):
        cards = "".join(f"<li><b>{start + n}</b> x</li>" for n in range(1_000))
        assert len(view(f"<ul>{cards}</ul>").shown.texts) == 1_000
        assert 0 < len(shown_items._KNOWN) <= shown_items._REMEMBERED
    view("<ul><li>" + "<b>word</b> " * 200 + "</li></ul>").shown  # noqa: B018
    assert all(len(html) <= MAX_ITEM for html in shown_items._KNOWN)


@pytest.mark.parametrize("most", [1, 3, 4, 5, 7])
def test_known_lists_do_not_go_beyond_the_bound_of_lines(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    html = "<p>one</p><ul><li>two</li><li>three</li><li>four</li></ul><p>five</p>"
    view(html).shown  # noqa: B018
    monkeypatch.setattr(shown, "MAX_LINES", most)
    assert view(html).shown.texts == ["one", "two", "three", "four", "five"][:most]
