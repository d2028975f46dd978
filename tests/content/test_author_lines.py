"""Authors: of bylines at the headline, of threads, and names that are none."""

from __future__ import annotations

import pytest

from messor.content.metadata import read_metadata
from tests.content.views import view

TEXT = "<p>" + "The fox jumps over the lazy dog and has been seen with it again. " * 8 + "</p>"


def authors(body: str, *, head: str = "") -> list[str]:
    return read_metadata(view(body, head=head)).authors


@pytest.mark.parametrize(
    "line, expected",
    [
        ("By Ann Fox", ["Ann Fox"]),
        ("Written by Ann van der Fox and Bo Dog | 5 May 2021", ["Ann van der Fox", "Bo Dog"]),
        ("5 May 2021 \u2022 by A. J. Neal View profile", ["A. J. Neal"]),
        ("Von: Bj\u00f6rn Jahner", ["Bj\u00f6rn Jahner"]),
        ("<span class='post-author'>Ann Fox</span>", ["Ann Fox"]),
    ],
)
def test_a_byline_at_the_headline(line: str, expected: list[str]) -> None:
    assert authors(f"<h1>Foxes jump</h1><p>{line}</p>{TEXT}") == expected


@pytest.mark.parametrize("line", ["Ann Fox", "by the river", "Standby Power Supply"])
def test_what_is_no_byline(line: str) -> None:
    assert authors(f"<h1>Foxes jump</h1><p>{line}</p>{TEXT}") == []


def test_the_author_of_a_thread_is_who_began_it() -> None:
    posts = "".join(f"<div>{TEXT}<a rel='author'>user{n}</a></div>" for n in range(6))
    assert authors(f"<h1>Foxes?</h1>{posts}") == ["user0"]


@pytest.mark.parametrize(
    "name", ["ops@zoo.example", "262588213843476", "/author/ann/", "https://zoo.example/ann"]
)
def test_addresses_and_numbers_are_no_names(name: str) -> None:
    assert authors(TEXT, head=f'<meta name="author" content="{name}">') == []


def test_names_of_citations_and_nicknames() -> None:
    cited = '<meta name="citation_author" content="Berger, Emery D.">'
    assert authors(TEXT, head=cited) == ["Emery D. Berger"]
    assert authors(TEXT, head='<meta name="author" content="raoul (raoul)">') == ["raoul"]


def test_reviewers_did_not_write_the_page_of_a_product() -> None:
    head = """<script type="application/ld+json">{"@type": "Product", "name": "Fox",
    "review": {"@type": "Review", "author": {"@type": "Person", "name": "Bo"}}}</script>"""
    assert authors(f"<h1>Fox</h1><p>By Ann Fox</p>{TEXT}", head=head) == []


@pytest.mark.parametrize(
    "lines, expected",
    [
        (["Written by:", "Ann Fox"], ["Ann Fox"]),
        (["By Ann | Published 3 May 2021"], ["Ann"]),
        (["Posted by foxy99 on 3 May 2021"], ["foxy99"]),
        (["03.05.2021 - Ann Fox"], ["Ann Fox"]),
        (["Ann Fox, 03.05.2021"], ["Ann Fox"]),
        (["Monday Morning, 03.05.2021"], []),
        (["<a href='/u/ann' class='author-name'>Ann Fox</a>"], ["Ann Fox"]),
    ],
)
def test_other_ways_to_sign_at_the_headline(lines: list[str], expected: list[str]) -> None:
    body = "".join(f"<p>{line}</p>" for line in lines)
    assert authors(f"<h1>Foxes jump</h1>{body}{TEXT}") == expected


def test_who_signed_away_from_the_headline() -> None:
    far = TEXT * 20
    assert authors(f"<h1>Foxes</h1>{far}<p>Written by Ann Fox</p>") == ["Ann Fox"]
    assert authors(f"<h1>Foxes</h1>{far}<a href='/authors/ann'>Ann Fox</a>") == ["Ann Fox"]
    assert authors(f"<h1>Foxes</h1>{far}<a class='authorise'>Sign In</a>") == []
    many = "".join(f"<a href='/author/{n}'>Ann {n}</a>" for n in ("Fox", "Dog", "Cat"))
    assert authors(f"<h1>Foxes</h1>{far}{many}") == []


def test_a_name_that_visitors_see_comes_before_one_in_the_head() -> None:
    head = '<meta name="author" content="Web Master">'
    assert authors(f"<h1>Foxes</h1><p>By Ann Fox</p>{TEXT}", head=head) == ["Ann Fox"]
    assert authors(f"<h1>Foxes</h1>{TEXT}", head=head) == ["Web Master"]


def test_an_organisation_is_no_author_of_its_own_site() -> None:
    head = """<meta property="og:site_name" content="Fox Trust"><script type="application/ld+json">
    {"@type": "Article", "author": {"@type": "Organization", "name": "%s"}}</script>"""
    assert authors(TEXT, head=head % "Fox Trust") == []
    assert authors(TEXT, head=head % "Zoo of Berlin") == ["Zoo of Berlin"]


def test_a_marked_author_of_another_thing_is_not_the_pages() -> None:
    book = '<div itemscope itemtype="https://schema.org/%s"><i itemprop="author">Bo Dog</i></div>'
    assert authors(f"<h1>Foxes</h1>{TEXT * 20}{book % 'Book'}") == []
    assert authors(f"<h1>Foxes</h1>{TEXT * 20}{book % 'Article'}") == ["Bo Dog"]


def test_reviewers_are_no_authors() -> None:
    reviews = ",".join(
        f'{{"@type": "Review", "author": {{"@type": "Person", "name": "{name}"}}}}'
        for name in ("Bo", "Cy")
    )
    head = f'<script type="application/ld+json">[{reviews}]</script>'
    assert authors(f"<h1>Foxes</h1>{TEXT}", head=head) == []


def test_the_last_of_several_names_is_one_without_its_joint() -> None:
    head = '<meta name="author" content="Ann Fox, Bo Dog, and Cy Hare">'
    assert authors(f"<h1>Foxes</h1>{TEXT}", head=head) == ["Ann Fox", "Bo Dog", "Cy Hare"]
