"""Lists met again show the same lines, in part or whole, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.content import visible_lines
from messor.content.lines import lines_of
from messor.content.lists import MAX_ITEM, RememberedLines
from messor.content.memory import MAX_ENTRIES, Memory
from messor.content.spans import SourceText
from messor.content.visible_lines import holder_of
from tests.content.rereading import LIST, assert_reads_the_same_again
from tests.content.views import view

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


def said(html: str, memory: Memory) -> list[tuple[object, ...]]:
    """All that is known of each line."""
    page = view(html, memory=memory)
    lines = lines_of(page.visible_lines)
    assert [line.text for line in lines] == page.visible_lines.texts
    return [
        (
            line.text,
            line.region,
            holder_of(first).tag,
            line.first.data,  # type: ignore[attr-defined]
            line.quote(SourceText(page.source.text)),
        )
        for line, first in zip(lines, page.visible_lines.firsts, strict=True)
    ]


@given(st.lists(PARTS, min_size=2, max_size=5))
def test_what_was_read_before_changes_nothing(parts: list[str]) -> None:
    assert_reads_the_same_again(said, parts)


def test_a_mark_among_the_items_of_a_list_within_another_moves_none_of_them() -> None:
    """There are as many pieces as elements, and other ones."""
    page = (
        "<ul><li>Plain</li><li><a href=/c>Not closed</li></ul>after"
        "<ul><li>Never <em>ended</em><a href=/y></a><li>Plain</li>"
        "<li>With a list <ul><li>of <b>one</b></li></ul></li></ul>"
    )
    assert_reads_the_same_again(said, [page, page])


def test_items_that_are_new_stand_among_known_ones_in_their_order() -> None:
    memory = Memory()
    known = memory.part(RememberedLines)
    cards = [f"<li><a href=/{n}>Thing {n}</a><span>{n}.50</span></li>" for n in range(9)]
    view(f"<ul>{''.join(cards[::2])}</ul>", memory=memory).visible_lines  # noqa: B018 - it is read for the first time
    assert len(known) == 5
    found = view(f"<p>before</p><ul>{''.join(cards)}</ul>after", memory=memory).visible_lines
    assert found.texts == ["before", *(f"Thing {n} {n}.50" for n in range(9)), "after"]
    assert [holder_of(first).tag for first in found.firsts] == ["p", *["li"] * 9, "body"]
    assert len(known) == 9


def test_an_item_of_two_lines_or_of_none_is_not_kept() -> None:
    for item in (
        "<li>one<p>two</p></li>",
        "<li>one<br>two</li>",
        "<li></li>",
        "<li><nav>x</nav></li>",
    ):
        memory = Memory()
        view(f"<ul><li>first</li>{item}</ul>after", memory=memory).visible_lines  # noqa: B018
        assert not any(item[4:8] in known for known in memory.part(RememberedLines)), item


def test_items_are_kept_up_to_a_bound() -> None:
    memory = Memory()
    known = memory.part(RememberedLines)
    for start in range(0, 2 * MAX_ENTRIES, 1_000):
        cards = "".join(f"<li><b>{start + n}</b> x</li>" for n in range(1_000))
        assert len(view(f"<ul>{cards}</ul>", memory=memory).visible_lines.texts) == 1_000
        assert 0 < len(known) <= MAX_ENTRIES
    view("<ul><li>" + "<b>word</b> " * 200 + "</li></ul>", memory=memory).visible_lines  # noqa: B018
    assert all(len(html) <= MAX_ITEM for html in known)


@pytest.mark.parametrize("most", [1, 3, 4, 5, 7])
def test_known_lists_do_not_go_beyond_the_bound_of_lines(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    html = "<p>one</p><ul><li>two</li><li>three</li><li>four</li></ul><p>five</p>"
    memory = Memory()
    view(html, memory=memory).visible_lines  # noqa: B018
    monkeypatch.setattr(visible_lines, "MAX_LINES", most)
    assert (
        view(html, memory=memory).visible_lines.texts
        == ["one", "two", "three", "four", "five"][:most]
    )


@pytest.mark.parametrize(
    "body, said",
    [
        ("<p>a  b</p>", ["a b"]),
        ("<p>a</p><p>b\tc\u00a0d\x1ce</p>", ["a", "b c d e"]),
        ("<p>" + "x" * 30_000, ["x" * visible_lines.MAX_LINE]),
        ("<p>" + "x" * 15_000 + "<p>" + "y" * 15_000, ["x" * 15_000, "y" * 15_000]),
    ],
    ids=["two spaces", "others", "a long line", "a long page"],
)
def test_white_space_is_collapsed_beside_known_lists(body: str, said: list[str]) -> None:
    list_ = "<ul><li>one  two</li><li>three\nfour</li></ul>"
    memory = Memory()
    for _ in range(2):
        found = view(f"<p>before</p>{list_}{body}{list_}", memory=memory).visible_lines
        assert found.texts == ["before", "one two", "three four", *said, "one two", "three four"]


def test_items_of_known_lists_are_found_in_the_tree() -> None:
    cards = "".join(f"<li><svg>x</svg> <b>Thing {n}</b></li>\n<!-- -->" for n in range(50))
    memory = Memory()
    for _ in range(2):
        page = view(f"<ol>\n{cards}</ol>", memory=memory)
        assert [line.first.data for line in page.lines] == page.visible_lines.texts  # type: ignore[attr-defined]
        assert [line.element.tag for line in page.lines] == ["li"] * 50
