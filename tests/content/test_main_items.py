"""Lists met again are read as they were the first time, in part or whole, however they are written."""

from __future__ import annotations

import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from messor.content.lists import MAX_ITEM, Lists
from messor.content.main import read_main
from messor.content.main.blocks import MAX_BLOCKS, Layout
from messor.content.main.headline import is_title, plain
from messor.content.main.items import RememberedItems
from messor.content.main.walk import read_layout
from messor.content.memory import MAX_ENTRIES, Memory
from tests.content.rereading import LIST, assert_reads_the_same_again


def layout(html: str, memory: Memory) -> Layout:
    return read_layout(turbohtml.parse(html, positions=False), Lists(memory=memory))


@given(st.lists(LIST, min_size=2, max_size=4))
def test_what_was_read_before_changes_nothing(lists: list[str]) -> None:
    assert_reads_the_same_again(layout, lists)


def test_items_of_a_list_that_is_new_in_part_are_read_in_their_order() -> None:
    memory = Memory()
    cards = [f"<li><a href=/{n}>Thing {n}</a> {n}.50</li>" for n in range(9)]
    layout(f"<ul>{''.join(cards[::2])}</ul>", memory)
    found = layout(f"<ul>{''.join(cards)}</ul>", memory)
    assert found.blocks.texts == [f"Thing {n} {n}.50" for n in range(9)]
    assert found.boxes.parents[-9:] == [len(found.boxes.tags) - 10] * 9
    assert len(memory.part(RememberedItems)) == len(cards)


def test_what_is_no_item_before_a_list_within_another_moves_none_of_the_items() -> None:
    """There are as many pieces as elements, and other ones."""
    odd = "<ul><div>odd</div><li>New</li><li>Known</li><li>With a list<ul><li>in it</li></ul></li></ul>"
    found = layout(f"<ul><li>Known</li><li>Also</li></ul>{odd}", Memory())
    assert found.blocks.texts[2:] == ["odd", "New", "Known", "With a list", "in it"]


def test_lists_are_kept_up_to_a_bound() -> None:
    memory = Memory()
    known = memory.part(RememberedItems)
    for start in range(0, 3 * MAX_ENTRIES, 4_000):
        cards = "".join(f"<li><b>{start + n}</b> x</li>" for n in range(4_000))
        layout(f"<ul>{cards}</ul>", memory)
        assert 0 < len(known) <= MAX_ENTRIES
    layout("<ul><li>" + "<b>word</b> " * 200 + "</li></ul>", memory)
    assert all(len(html) <= MAX_ITEM for html in known)


def test_known_items_do_not_go_beyond_the_bound_of_blocks() -> None:
    cards = "".join(f"<li><b>{n}</b> x</li>" for n in range(100))
    before = "<p>x</p>" * (MAX_BLOCKS - 50)
    memory = Memory()
    layout(f"<ul>{cards}</ul>", memory)
    assert len(layout(f"{before}<ul>{cards}</ul>", memory).blocks.texts) == MAX_BLOCKS


def test_an_id_on_the_element_that_is_read_counts() -> None:
    document = turbohtml.parse("<div id=comments>Said <span id=related>by</span> one</div>")
    element = document.select_one("div")
    assert element is not None
    inside, around = read_layout(element), read_layout(document)
    assert list(inside.boxes.hints.values()) == list(around.boxes.hints.values())
    assert inside.blocks.texts == ["Said by one"]  # an id sets no inline element apart


@given(st.text("ab1 .É_ß\u0130k", max_size=12), st.text("ab1 .É_ß\u0130k", max_size=30))
def test_a_heading_is_a_title_by_its_words(heading: str, title: str) -> None:
    words, titles = plain(heading), (plain(title), plain(heading + title))
    expected = words in titles or (len(words) >= 15 and any(words in each for each in titles))
    assert is_title(" ".join(heading.split()), titles) == expected


def test_figures_and_short_words_are_their_own_markdown() -> None:
    texts = ["1999", "12. May", "3", "7) x", "- a", "+1", "A b", "# c", "5\u00b2"]
    found = read_main("".join(f"<p>{text}</p>" for text in texts), "https://x.example/")
    assert found.markdown.split("\n\n") == [
        "1999", "12\\. May", "3", "7\\) x", "\\- a", "+1", "A b", "\\# c", "5\u00b2"
    ]  # fmt: skip
