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
