"""Metadata: what pages say of themselves, in all the places where they do."""

# ruff: noqa: RUF001 - dashes and letters as pages have them

from __future__ import annotations

import json

import pytest
import turbohtml

from messor.content.dates import read_date
from messor.content.metadata import Crumb, Feed, Heading, normal_language, read_metadata
from messor.content.page import ParsedPage
from messor.content.view import PageView
from tests.content.views import view

HEAD = """<title> Fox &amp; Dog
 | News</title>
<meta name="description" content="A fox. &quot;Jumps&quot;.">
<meta property="og:site_name" content="The News"><meta property="og:image" content="/i.jpg">
<meta property="article:modified_time" content="2026-01-03T10:00:00Z">
<meta name="keywords" content="fox, dog,,fox">
<link rel="canonical" href="/2026/fox"><link rel="shortcut icon" href="/f.ico">
<link rel="alternate" hreflang="DE_at" href="/de"><link rel="alternate" hreflang="x-default" href="/">
<link rel="alternate" type="application/rss+xml" title="All" href="/feed">
<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2026-01-02T08:00+01:00",
"author":[{"@type":"Person","name":"Ann Fox"},{"@type":"Person","name":"Bo Dog"}]}</script>
<script type="application/ld+json">{"@type":"BreadcrumbList","itemListElement":[
{"@type":"ListItem","position":1,"item":{"@id":"https://n.org/w","name":"World"}},
{"@type":"ListItem","position":2,"name":"Foxes"}]}</script>"""


def test_everything_a_head_says() -> None:
    body = "<h1>Fox <i>jumps</i></h1><h2></h2><h2>Again</h2>"
    found = read_metadata(view(body, "https://n.org/2026/fox?x=1", head=HEAD, lang="EN_us"))
    assert found.title == "Fox & Dog | News"
    assert found.description == 'A fox. "Jumps".'
    assert found.language == "en-US"
    assert found.canonical == "https://n.org/2026/fox"
    assert (found.published, found.modified) == (
        "2026-01-02T08:00:00+01:00",
        "2026-01-03T10:00:00+00:00",
    )
    assert found.authors == ["Ann Fox", "Bo Dog"]
    assert found.site_name == "The News"
    assert found.image == "https://n.org/i.jpg"
    assert found.keywords == ["fox", "dog"]
    assert found.opengraph == {"site_name": "The News", "image": "/i.jpg"}
    assert found.headings == [Heading(1, "Fox jumps"), Heading(2, "Again")]
    assert found.breadcrumbs == [Crumb("World", "https://n.org/w"), Crumb("Foxes", None)]
    assert found.feeds == [Feed("https://n.org/feed", "rss", "All")]
    assert found.hreflang == {"de-AT": "https://n.org/de", "x-default": "https://n.org/"}
    assert found.favicon == "https://n.org/f.ico"
    assert json.loads(json.dumps(found.as_json()))["headings"][0] == {
        "level": 1,
        "text": "Fox jumps",
    }


def test_an_empty_page_says_nothing() -> None:
    found = read_metadata(view("", lang=""))
    assert found.as_json() == {}


def test_visible_crumbs_byline_and_time() -> None:
    body = """<nav aria-label="Breadcrumb"><a href="/">Start</a> <a href="/a">A</a></nav>
    <article><time datetime="2026-02-01">x</time><a rel="author" href="/m">von Max Meier</a></article>"""
    found = read_metadata(view(body, "https://n.org/a/b"))
    assert found.breadcrumbs == [Crumb("Start", "https://n.org/"), Crumb("A", "https://n.org/a")]
    assert found.published == "2026-02-01"
    assert found.authors == ["Max Meier"]


def test_the_language_of_the_text_is_measured() -> None:
    german = (
        "Die Praxis liegt mitten in der Stadt, und wir freuen uns auf Ihren Besuch zu jeder Zeit. "
    )
    assert read_metadata(view(f"<p>{german * 2}</p>", lang="en")).text_language == "de"
    assert read_metadata(view("<p>OK</p>")).text_language == ""


@pytest.mark.parametrize(
    "text, tag",
    [("de", "de"), ("de_DE", "de-DE"), ("zh-hans-cn", "zh-Hans-CN"), ("english", ""), ("", "")],
)
def test_languages(text: str, tag: str) -> None:
    assert normal_language(text) == tag


@pytest.mark.parametrize(
    "text, iso",
    [
        ("2024-03-12T09:30:00+0100", "2024-03-12T09:30:00+01:00"),
        ("Tue, 12 Mar 2024 09:00:00 GMT", "2024-03-12T09:00:00+00:00"),
        ("12. März 2024", "2024-03-12"),
        ("le 1er août 2023", "2023-08-01"),
        ("12 de marzo de 2024", "2024-03-12"),
        ("March 12th, 2024", "2024-03-12"),
        ("5 stycznia 2025", "2025-01-05"),
        ("12 мая 2024 г.", "2024-05-12"),
        ("12 lokakuuta 2024", "2024-10-12"),
        ("2024年3月12日", "2024-03-12"),
        ("12.3.2024", "2024-03-12"),
        ("23/04/2024", "2024-04-23"),
        ("03/04/2024", None),
        ("30.02.2024", None),
        ("0000-00-00", None),
        ("version 1.2.3", None),
        ("soon", None),
    ],
)
def test_dates(text: str, iso: str | None) -> None:
    assert read_date(text) == iso


def test_headings_come_in_the_order_of_the_source() -> None:
    body = "<h2>One</h2><h1>Two</h1><table><h3>Three</h3><tr><td><h2>Four</h2></table><h1>Five</h1>"
    found = read_metadata(view(body)).headings
    assert [heading.text for heading in found] == ["One", "Two", "Three", "Four", "Five"]
    body = "<h2>One</h2><table><tr><td><h1>Two</h1></td></tr><h3>Three</h3></table>"
    found = read_metadata(view(body)).headings
    assert [heading.text for heading in found] == ["One", "Two", "Three"]


def test_headings_of_a_tree_without_places_come_in_its_order() -> None:
    html = "<h2>One</h2><h1>Two</h1><h2>Three</h2>"
    page = PageView(ParsedPage(html, "https://n.org/", turbohtml.parse(html, positions=False)))
    assert [heading.text for heading in read_metadata(page).headings] == ["One", "Two", "Three"]


@pytest.mark.parametrize("base", ["", "<base href='https://m.org/deep/er/'>"])
@pytest.mark.parametrize(
    "href, expected",
    [
        ("https://n.org/a?b=c", "https://n.org/a?b=c"),  # the page's own
        ("/a?b=c", "{host}/a?b=c"),
        ("/../x y", "{host}/x%20y"),
        ("//k.org/", "https://k.org/"),
        (" /a#b ", "{host}/a"),
        ("javascript:void(0)", None),
    ],
)
def test_addresses_are_absolute(base: str, href: str, expected: str | None) -> None:
    head = f'{base}<link rel=canonical href="{href}"><link rel=icon href="{href}">'
    host = "https://m.org" if base else "https://n.org"
    for _ in range(2):  # the second time from memory
        found = read_metadata(view("x", "https://n.org/a?b=c", head=head))
        assert found.canonical == found.favicon == (expected and expected.format(host=host))
