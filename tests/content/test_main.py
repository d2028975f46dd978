"""Main content of hand-written pages: what belongs to an article, and what other pages keep."""

from __future__ import annotations

import pytest

from messor.content.main import MainContent, read_main

URL = "https://site.example/news/rain"

FIRST = (
    "The river rose by two metres overnight, and by morning the lower streets of the old town "
    "were under water, the fire brigade said on Tuesday."
)
SECOND = (
    "Residents carried boilerplate to the upper floors, while volunteers filled sandbags in the "
    "square, where the market had been taken down the evening before."
)
THIRD = (
    "Forecasters expect the rain to end by Thursday; until then the bridges stay closed, and the "
    "schools on the left bank as well."
)
BODY = f"<p>{FIRST}</p><h2>Help from outside</h2><p>{SECOND}</p><ul><li>Tents</li><li>Pumps</li></ul><p>{THIRD}</p>"
MENU = (
    "<ul class=menu>"
    + "".join(f"<li><a href=/s{n}>Section {n}</a></li>" for n in range(12))
    + "</ul>"
)
COMMENT = (
    "<div class=comment><p>I live there and can say that it is far worse than this reporter "
    "makes it sound, as nobody came to our street until noon, and nobody will.</p></div>"
)


def read(body: str, head: str = "") -> MainContent:
    return read_main(f"<html><head>{head}</head><body>{body}</body></html>", URL)


def news(inside: str = "", after: str = "", head: str = "") -> MainContent:
    return read(
        f"<div id=top>{MENU}</div><div class=story><h1>River floods the old town</h1>"
        f"<div class=byline>By Ann Writer, 3 May 2024</div><div class=text>{BODY}{inside}</div></div>{after}",
        head or "<title>River floods the old town - The Site</title>",
    )


def test_an_article_is_its_paragraphs_headings_and_lists() -> None:
    found = news()
    assert found.is_article
    assert found.headline == "River floods the old town"
    assert found.text.split("\n") == [FIRST, "Help from outside", SECOND, "Tents", "Pumps", THIRD]


@pytest.mark.parametrize(
    "inside",
    [
        "<div class=share-buttons><a href=#>Share on X</a> Share it with your friends today.</div>",
        "<aside class=related><h3>Related</h3><p>Another long story about another flood in another town, told by others.</p></aside>",
        "<div class='newsletter-signup'><p>Get all our stories every morning, straight to your inbox, free of charge.</p></div>",
        "<figure><img src=a.jpg><figcaption>The square on Tuesday morning, seen from the church.</figcaption></figure>",
        "<p><a href=/x>Ten photographs of the flood you should not miss</a></p>",
        "<p>Read more: <a href=/x>the flood of 1997</a></p>",
        "<p>Lesen Sie auch: <a href=/x>die Flut von 1997</a></p>",
        "<p>Follow The Site on Facebook and Twitter.</p>",
        "<p>Advertisement</p>",
        "<div hidden><p>This text waits for a script that shows it, which never comes to be run here.</p></div>",
        "<div style='display: none'><p>This text waits for a script that shows it, which never comes.</p></div>",
        "<script>var text = 'A sentence that is not there to be read by people at all.';</script>",
        f"<p>{FIRST}</p>",
    ],
)
def test_what_stands_between_is_left_out(inside: str) -> None:
    assert news(inside).text == news().text


def test_comments_may_outweigh_what_they_comment_on() -> None:
    assert news(after=f"<div id=comments>{COMMENT * 40}</div>").text == news().text


def test_teasers_may_outweigh_the_article() -> None:
    teaser = (
        "<div class=card><h3><a href=/o>Another story</a></h3><div class=lead>Some words that "
        "lead into another story, long enough to look like prose, and of no use here.</div></div>"
    )
    assert news(after=f"<div class=grid>{teaser * 15}</div>").text == news().text


def test_a_cookie_notice_may_outweigh_the_article() -> None:
    notice = (
        "<p>This website uses cookies to improve your experience while you navigate through it.</p>"
    )
    assert news(after=f"<div class=cookie-law>{notice * 15}</div>").text == news().text


def test_text_in_parts_is_taken_whole() -> None:
    parts = "".join(
        f"<div class=part><p>{text}</p><p>{text} Again.</p></div>"
        for text in (FIRST, SECOND, THIRD)
    )
    found = read(f"{MENU}<div class=story><h1>River floods the old town</h1>{parts}</div>")
    assert all(text in found.text for text in (FIRST, SECOND, THIRD))
    assert "Section 3" not in found.text


def test_text_parted_by_line_breaks_alone_is_an_article() -> None:
    found = read(f"<div>{MENU}</div><div>{FIRST}<br><br>{SECOND}<br><br>{THIRD}</div>")
    assert found.text.split("\n") == [FIRST, SECOND, THIRD]


def test_a_name_on_the_whole_page_gives_nothing_up() -> None:
    found = read(f"<div class='sidebar-layout comments-open'><h1>Rain</h1>{BODY}</div>")
    assert FIRST in found.text
    assert THIRD in found.text


def test_what_is_said_to_be_the_body_is_believed() -> None:
    other = (
        f"<div class=post><p>{SECOND}</p><p>{SECOND} Once more.</p><p>{SECOND} And again.</p></div>"
    )
    found = read(f"{other}<div itemprop=articleBody><p>{FIRST}</p><p>{THIRD}</p></div>")
    assert found.text.split("\n") == [FIRST, THIRD]


def test_a_body_in_structured_data_shows_where_the_article_is() -> None:
    data = f'<script type="application/ld+json">{{"@type": "NewsArticle", "articleBody": "{FIRST} {THIRD}"}}</script>'
    other = (
        f"<div class=post><p>{SECOND}</p><p>{SECOND} Once more.</p><p>{SECOND} And again.</p></div>"
    )
    found = read(f"{other}<div class=x><p>{FIRST}</p><p>{THIRD}</p></div>", data)
    assert found.text.split("\n") == [FIRST, THIRD]


def test_a_body_in_structured_data_stands_in_for_a_page_without_text() -> None:
    data = (
        '<script type="application/ld+json">{"@type": "NewsArticle", '
        f'"articleBody": "{FIRST}\\n{SECOND} &amp; more\\n{THIRD}"}}</script>'
    )
    found = read("<div id=app></div><p>Please enable scripts.</p>", data)
    assert found.text.split("\n") == [FIRST, f"{SECOND} & more", THIRD]


def test_a_list_keeps_its_items() -> None:
    items = "".join(
        f"<li class=product-card><a href=/p{n}>Garden chair {n}</a> <span>{n},99 €</span></li>"
        for n in range(20)
    )
    found = read(
        f"<nav>{MENU}</nav><h1>Chairs</h1><ul>{items}</ul><footer>Imprint of the shop</footer>"
    )
    assert not found.is_article
    assert "Garden chair 19 19,99 €" in found.text
    assert "Section 3" not in found.text
    assert "Imprint" not in found.text


def test_a_product_keeps_price_and_details() -> None:
    found = read(
        f"<nav>{MENU}</nav><main><h1>Oak table</h1><div>Price: 240 €</div><div>In stock</div>"
        "<p>A table of solid oak, oiled by hand, for six people.</p>"
        "<table><tr><th>Width<td>180 cm<tr><th>Weight<td>48 kg</table></main>",
        '<meta property="og:type" content="product">',
    )
    assert not found.is_article
    for text in (
        "Oak table",
        "Price: 240 €",
        "In stock",
        "solid oak",
        "Width\t180 cm",
        "Weight\t48 kg",
    ):
        assert text in found.text


def test_a_contact_page_keeps_its_address() -> None:
    found = read(
        f"<header>{MENU}</header><main><h1>Contact</h1><address>Mill Lane 4<br>8000 Zurich</address>"
        "<p>Phone: <a href='tel:+41440000000'>+41 44 000 00 00</a></p></main>"
    )
    assert "Mill Lane 4\n8000 Zurich" in found.text
    assert "+41 44 000 00 00" in found.text
    assert "[+41 44 000 00 00](tel:+41440000000)" in found.markdown


@pytest.mark.parametrize(
    "body",
    [
        "Hello",
        "<nav>Only links <a href=/a>here</a></nav>",
        "<footer>Only this</footer>",
        "<form><label>Name <input></label></form>",
        "<div class='cookie popup hidden'>All of it</div>",
        "<button>Start</button>",
        "<noscript>Scripts are needed.</noscript>",
        "<a href=/a>One link</a>",
        "<table><td>cell</table>",
    ],
)
def test_a_page_with_text_never_comes_out_empty(body: str) -> None:
    found = read(body)
    assert found.text
    assert found.markdown


@pytest.mark.parametrize("html", ["", " ", "<html></html>", "<script>x</script>", "<!-- x -->"])
def test_a_page_without_text_is_empty(html: str) -> None:
    assert read_main(html, URL) == MainContent("", "", "", is_article=False)
