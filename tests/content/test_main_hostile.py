"""Main content of broken and hostile pages: nothing is raised, and the work stays bounded."""

from __future__ import annotations

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from messor.content.main import read_main
from messor.content.main.blocks import MAX_BLOCKS, MAX_BOXES
from messor.content.main.headline import read_declared
from messor.content.main.hints import MAX_NAME, Names
from messor.content.main.walk import read_layout
from messor.web.html import TooComplexError

URL = "https://site.example/"
TAGS = (
    "p", "div", "a", "b", "i", "code", "pre", "ul", "ol", "li", "table", "tr", "td", "th", "h1",
    "h2", "blockquote", "br", "span", "article", "main", "nav", "footer", "section", "form", "dl",
    "dt", "dd", "figure", "figcaption", "script", "title", "template", "svg", "math", "x-y",
    "button", "select", "option", "noscript", "textarea", "body", "html", "head", "meta",
)  # fmt: skip
NAMES = ("share", "comments", "article-body", "hentry", "cookieConsent", "nav", "", "é☃", "a" * 300)

tags = st.builds(
    lambda name, end, cls, href: (
        f"</{name}>"
        if end
        else f'<{name} class="{cls}" href="{href}" itemprop="articleBody" hidden>'
    ),
    st.sampled_from(TAGS),
    st.booleans(),
    st.sampled_from(NAMES),
    st.sampled_from(("/x", "#", "javascript:1", "http://[", "//", "a b(c)", "\x00")),
)
words = st.text(max_size=120)
sentences = st.sampled_from(
    (
        "A sentence that is long enough to be taken for running text, and then some more. " * 2,
        "Read more: this",
    )
)
scripts = st.builds(
    '<script type="application/ld+json">{{"articleBody": "{}"}}</script>'.format,
    st.text(max_size=60),
)
pages = st.lists(st.one_of(tags, tags, words, sentences, scripts), max_size=60).map("".join)


@settings(max_examples=300, deadline=None)
@given(pages)
def test_any_page_is_read(html: str) -> None:
    found = read_main(html, URL)
    assert "\0" not in found.text + found.markdown
    found.text.encode()
    found.markdown.encode()
    if found.text:
        assert found.markdown


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text(max_size=30))
def test_any_text_is_read(html: str, url: str) -> None:
    read_main(html, url)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=MAX_NAME))
def test_any_name_has_hints(name: str) -> None:
    assert Names()[name] >= 0


def test_a_part_of_a_page_can_be_read() -> None:
    document = turbohtml.parse("<div>one</div><section><p>two</p></section>", positions=False)
    section = document.find("section")
    assert section is not None
    assert read_main(section, URL).text == "two"
    assert read_main(document, URL).text == "one\ntwo"


def test_the_tree_stays_as_it_was() -> None:
    document = turbohtml.parse("<p>one <b>two</b></p><nav>three</nav>", positions=False)
    before = document.serialize()
    read_main(document, URL)
    assert document.serialize() == before


@pytest.mark.parametrize(
    "piece",
    [
        "<p>x",
        "<td>x",
        "<li>x",
        "x<br><br>",
        "<div></div>",
        "<b>x<p>",
        "<a href=/x>y</a> ",
        "<h1>x</h1>",
    ],
)
def test_the_number_of_blocks_is_bounded(piece: str) -> None:
    html = "<table><tr>" * (piece == "<td>x") + piece * 60_000
    layout = read_layout(turbohtml.parse(html, positions=False))
    count, boxes = len(layout.blocks.texts), layout.boxes
    assert count <= MAX_BLOCKS + 1 or "<br>" in piece
    assert len(boxes.tags) <= MAX_BOXES + 1
    for start, end in zip(boxes.starts, boxes.ends, strict=True):
        assert start <= end <= count


@pytest.mark.parametrize(
    "html",
    [
        "<pre>" + "`" * 200_000,
        "<p><code>" + "`" * 200_000,
        "<p>" + "*" * 200_000,
        "<p>" + "-" * 200_000,
        "<b><i>" * 100 + "<p>x" * 20_000,
        "<blockquote>" * 200 + "x",
        '<script type="application/ld+json">' + '"articleBody":"a' * 20_000 + "</script>",
        '<script type="application/ld+json">"articleBody":"' + "\\" * 200_000 + "</script>",
        '<div class="' + "share-" * 50_000 + '">x</div>',
        '<meta property="og:title" content="' + "t " * 100_000 + '">' + "<h1>t t</h1>" * 5_000,
    ],
)
def test_large_and_odd_pages_are_read(html: str) -> None:
    read_main(html, URL)


def test_a_page_nested_too_deeply_is_refused_as_everywhere() -> None:
    with pytest.raises(TooComplexError):
        read_main("<div>" * 5_000, URL)


def test_spaces_in_structured_data_are_walked_once() -> None:
    """As often as there are ways to divide them would take longer than anybody waits."""
    gap = " " * 400_000
    script = f'<script type="application/ld+json">{{"@type":{gap}"Thing"}}</script>'
    found = read_declared(turbohtml.parse(f"<html><head>{script}</head></html>"))
    assert not found.is_article
    assert not found.is_product
    script = f'<script type="application/ld+json">{{"@type" : [{gap}"NewsArticle"]}}</script>'
    assert read_declared(turbohtml.parse(f"<html><head>{script}</head></html>")).is_article
