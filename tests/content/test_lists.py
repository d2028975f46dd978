"""The items of a list are those of its tree, whether that is written out or found in the source."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from turbohtml import Element

from messor.content import lists
from messor.content.lists import MAX_ITEM, Lists, PlainItems
from messor.content.memory import MAX_ENTRIES, Memory
from messor.content.page import ParsedPage
from messor.web.depth import is_too_deep

PLAIN = (
    "<li>Plain</li>",
    '<li class="c"><a href="/a">One</a> <span>3.50</span></li>',
    '<li><a href="/b"><img src="x"><b>two</b></a></li>',
    "<li><b><b><b>three</b></b></b></li>",
    "<li><i>é</i> &amp; more<br></li>",
    "<li></li>",
)
ODD = (
    "<li>Never ended<li>two</li>",
    "<li><b>Left open</li>",
    "<li><a href=/x>Spelled</a> differently</li>",
    "<li title='</li>'>Odd name</li>",
    "<li>Odd <!--</li><li>--> note</li>",
    "<li>With a list <ul><li>of one</li></ul></li>",
    "<li>A <form>form</form></li>",
    "<li>Ended oddly</li >",
    "<LI>Large</LI>",
    "text between",
)
# What may be left open before a list, and what may have moved it.
BEFORE = (
    "<a href=/>", "</a>", "<b>", "</b>", "<i>", "<p>", "</p>", "<div>", "</div>", "<font size=1>",
    "<table>", "<td>", "</table>", "<nobr>", "<button>", "<form>", "<select>", "<svg>", "<object>",
    "<template>", "</template>", "<foreignObject>", "<ul>", "<li>", "<!--", "-->", "<b><b><b>",
    "\r\n", "\0", "\ufeff", "\U0001f600", "text", "<textarea>", "</textarea>", "<script>", "</script>",
)  # fmt: skip
PARTS = st.tuples(
    st.lists(st.sampled_from(BEFORE), max_size=5).map("".join),
    st.sampled_from(("<ul>", "<ol>", "<ul title='1 > 0'>")),
    st.sampled_from(("", "\n", " ")),
    st.lists(st.sampled_from((*PLAIN, *PLAIN, *PLAIN, *ODD)), min_size=1, max_size=4),
    st.sampled_from(("</ul>", "</ol>", "</a></ul>")),
)


def long_list(start: str, space: str, items: list[str], end: str) -> str:
    return start + space + space.join(items * lists._FEW) + space + end


def assert_items_are_those_of_the_tree(html: str, memory: Memory) -> int:
    """How many items were found."""
    page = ParsedPage.read(html)
    of_source, of_tree = Lists(page.source, memory), Lists()
    found = 0
    for list_ in page.document.select("ul, ol"):
        items = of_source.items(list_)
        assert items == of_tree.items(list_)
        found += len(items)
    return found


@given(st.lists(PARTS, min_size=1, max_size=3))
def test_the_source_is_taken_only_where_the_tree_is_written_so(
    parts: list[tuple[str, str, str, list[str], str]],
) -> None:
    memory = Memory()
    for space in ("", "\n", " "):
        assert_items_are_those_of_the_tree(long_list("<ul>", space, list(PLAIN), "</ul>"), memory)
    html = "".join(before + long_list(*made) for before, *made in parts)  # type: ignore[arg-type]
    assume(not is_too_deep(html))  # what nobody can tell the depth of is read in the sandbox
    for _ in range(2):
        assert_items_are_those_of_the_tree(html, memory)


@pytest.mark.parametrize("before", ["", "<p>one</p>\n", "<b>bold ", "<table><tr><td>", "\ufeff"])
def test_a_list_met_again_is_not_written_out(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cards = [f'\n<li class="c"><a href="/{n}">Thing {n}</a></li>' for n in range(30)]
    memory = Memory()
    known: list[int] = []
    read = Lists._known

    def counted(lists: Lists, list_: Element, inside: str) -> list[str]:
        items = read(lists, list_, inside)
        known.append(len(items))
        return items

    monkeypatch.setattr(Lists, "_known", counted)
    assert assert_items_are_those_of_the_tree(f"<ul>{''.join(cards)}\n</ul>", memory) == 30
    html = f"{before}<ol>{''.join(reversed(cards))}</ol>"
    assert assert_items_are_those_of_the_tree(html, memory) == 30
    assert known == [0, 30]


@pytest.mark.parametrize(
    "before",
    ["<p><b>left open</p>", "<a href=/>around", "<p><a>one</p><i><p>", "<div><b><p></div>"],
)
@pytest.mark.parametrize("space", ["", "\n"])
def test_what_was_left_open_before_a_list_goes_on_in_it(before: str, space: str) -> None:
    items = ["<li>first</li>", '<li><a href="/x">second</a></li>', "<li><b>third</b></li>"] * 9
    memory = Memory()
    assert assert_items_are_those_of_the_tree(long_list("<ul>", space, items, "</ul>"), memory)
    for turn in range(3):
        turned = items[turn:] + items[:turn]
        html = before + long_list("<ul>", space, turned, "</ul>")
        assert_items_are_those_of_the_tree(html, memory)


def test_items_are_kept_up_to_a_bound() -> None:
    memory = Memory()
    known = memory.part(PlainItems)
    for start in range(0, 2 * MAX_ENTRIES, 2_000):
        cards = "".join(f"<li>{start + n}</li>" for n in range(2_000))
        assert_items_are_those_of_the_tree(f"<ul>{cards}</ul>", memory)
        assert 0 < len(known) <= MAX_ENTRIES
    long = "<li>" + "word " * MAX_ITEM + "</li>"
    assert_items_are_those_of_the_tree(f"<ul>{long * 30}</ul>", memory)
    assert all(len(item) <= MAX_ITEM for item in known)


def test_lists_within_lists_are_given_up_in_time() -> None:
    inner = "<ul>" + "<li>x</li>" * 3_000
    page = ParsedPage.read(inner * 100 + "</ul>" * 100, may_die=True)
    of_source = Lists(page.source)
    read = sum(bool(of_source.items(list_)) for list_ in page.document.select("ul"))
    assert read < 20
