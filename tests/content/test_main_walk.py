"""The walk over a page's tree: boxes, blocks and marks, and items of lists that were read before."""

from __future__ import annotations

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from messor.content.lists import Lists
from messor.content.main import read_main
from messor.content.main.blocks import BREAK, Layout, collapsed
from messor.content.main.hints import NAVIGATION, Names
from messor.content.main.items import RememberedItems
from messor.content.main.keep import is_aside
from messor.content.main.walk import read_layout
from messor.content.memory import Memory

URL = "https://site.example/a/b"
CARD = '<li class="card share"><a href="one">First thing</a> <b>3</b></li>'


def layout(html: str, memory: Memory | None = None) -> Layout:
    return read_layout(turbohtml.parse(html, positions=False), Lists(memory=memory))


def rows(html: str) -> list[tuple[str, str, int]]:
    blocks = layout(html).blocks
    return list(zip(blocks.kinds, blocks.texts, blocks.linked, strict=True))


def test_blocks_are_told_by_their_kind_text_and_links() -> None:
    html = "<h1>Top</h1><div>loose <a href=/x>link</a><p>text<br>more</p>end</div><p> </p>"
    assert rows(html) == [
        ("h1", "Top", 0),
        ("", "loose link", 4),
        ("p", "text\nmore", 0),
        ("", "end", 0),
    ]


def test_an_empty_box_parts_what_is_around_it() -> None:
    assert [text for _, text, _ in rows("<div>one<hr>two<span class=share></span>three</div>")] == [
        "one",
        "two",
        "three",
    ]


def test_boxes_cover_the_blocks_within_them() -> None:
    found = layout("<main><p>one</p><ul class=menu><li>two<li>three</ul></main><p>four</p>")
    covered = {
        tag: found.blocks.texts[start:end]
        for tag, start, end in zip(
            found.boxes.tags, found.boxes.starts, found.boxes.ends, strict=True
        )
    }
    assert covered["main"] == ["one", "two", "three"]
    assert covered["ul"] == ["two", "three"]
    assert covered["body"] == ["one", "two", "three", "four"]
    place = found.boxes.tags.index("ul")
    assert found.boxes.hints[place] == NAVIGATION


def test_marks_go_on_in_the_next_block() -> None:
    markup = layout("<div><a href=/x>one <b>two</b><p>three</p></a></div>").blocks.markup
    assert [marks for _, marks in markup.values()] == [
        [(1, 2, "strong", ""), (0, 2, "a", "/x")],
        [(0, 1, "a", "/x")],
    ]


def test_an_item_met_again_is_read_as_before() -> None:
    memory = Memory()
    first = layout(f"<ul>{CARD}</ul>", memory)
    assert memory.part(RememberedItems)
    assert layout(f"<ul>{CARD}</ul>", memory) == first
    assert layout(f"<ul>{CARD}{CARD}</ul>", memory).blocks.texts == ["First thing 3"] * 2


def test_links_of_an_item_met_again_lead_to_where_its_page_says() -> None:
    memory = Memory()
    for place in ("a", "b"):
        html, url = "<ul><li>It is <a href=x>here</a></ul>", f"https://{place}.example/c/"
        found = read_main(html, url, Lists(memory=memory))
        assert found.markdown == f"- It is [here](https://{place}.example/c/x)"


def test_a_mark_around_an_item_goes_on_in_it() -> None:
    item = "<li>bold <i>item</i></li>"
    memory = Memory()
    layout(item, memory)
    inside = layout(f"<b>{item}</b>", memory).blocks
    assert inside.markup[0][1] == [(1, 2, "em", ""), (0, 2, "strong", "")]
    assert layout(f"<a href=/x>{item}</a>", memory).blocks.linked == [len("bold item")]


def test_an_item_of_a_page_that_is_read_whole_has_its_frame_in_it() -> None:
    html = "<ul><li>One <nav>two <b>three</b></nav></li></ul>"
    document = turbohtml.parse(html, positions=False)
    lists = Lists()
    for _ in range(2):
        assert read_layout(document, lists).blocks.texts == ["One"]
        assert read_layout(document, lists, whole=True).blocks.texts == ["One", "two three"]


@given(
    st.text(
        alphabet=st.sampled_from("ab \t\n\xa0\u2003\u200b\x1fé.") | st.characters(), max_size=200
    )
)
def test_white_space_is_collapsed_however_long_the_text_is(text: str) -> None:
    text = text.replace(BREAK, "")
    assert collapsed(text) == " ".join(text.split())
    assert collapsed(text * 9) == " ".join((text * 9).split())


@pytest.mark.parametrize(
    "name", ["read-more", "share box", "nav", "post content", "main", "d-none", "x1 y2", "9"]
)
def test_capitals_change_nothing_about_a_name(name: str) -> None:
    names = Names()
    assert names[name] == names[name] == Names()[name.title()]


def test_names_are_remembered_up_to_a_bound() -> None:
    names = Names()
    for number in range(2 * Names.limit):
        names[f"name-{number}"]
        assert len(names) <= Names.limit
    assert names[None] == names[""] == 0
    assert names["x" * 300] == 0
    assert "x" * 300 not in names


@pytest.mark.parametrize(
    "text",
    """
    read more|see more:|Show more: x|load more:|find out more:|discover more:|learn more:|Related: x|
    see also|also read: x|more: x|More from us|don't miss|recommended for you|you may also like|
    follow them on twitter|follow us|find us on x|join us on x|sign up for it|SUBSCRIBE|
    get our newsletter|click here|tap here|please share this|share this|like this story|
    enjoyed this post|leave a comment|post a reply|add a comment|write a reply|tell us what you think|
    lire aussi|à lire aussi|partager|abonnez-vous|lesen sie auch|mehr zum thema|auch interessant|
    jetzt abonnieren|leia mais|veja também|lea también|lee también|te puede interesar|síguenos|
    leggi anche|lees ook|baca juga|czytaj też|zobacz też|читайте также|les også|läs också|las även|
    ayr\u0131ca bak\u0131n\u0131z|advert|Ad|ads.|anzeige|werbung|publicidad|pubblicità|iklan|reklama|annonce|
    advertentie|реклама|広告|sponsored|no comments|3 comments|comments|share|print|email|close|reply|
    loading...|image: x|photo by x|picture credit: x|video: x|photograph courtesy x|credits: x|foto: x|
    fotos credits|copyright x|© 2024 x|(c) x|\u2013 © x|all rights reserved|filed under: x|tags: x|tagged: x|
    topics: x|category: x|posted in x|published on x|last updated x|updated at x|originally published x|
    first published x|updated: x|by Ann Writer|par Ann|por Ann|von Ann|\u2013 Read more
    """.replace("\n    ", "")
    .strip()
    .split("|"),
)
def test_every_phrase_is_known_by_how_it_begins(text: str) -> None:
    assert is_aside(text)


def test_letters_that_only_look_alike_are_held_against_the_phrases() -> None:
    assert is_aside("\u017fhare")  # a long s, which is an s to whoever ignores case


@pytest.mark.parametrize(
    "text",
    ["The river rose.", "Readers", "A word", "(c)lear", "A © b", "(see c)", "12 metres", "S", ""],
)
def test_other_text_is_no_phrase(text: str) -> None:
    assert not is_aside(text)
