"""Headlines: what a title says without the site's name, and which heading repeats it."""

from __future__ import annotations

import pytest

from messor.content.metadata import read_metadata
from messor.content.titles import Titled, headline, site_name, site_of
from tests.content.views import view


def read(title: str, *headings: str, name: str = "", host: str = "n.org", **given: bool) -> str:
    """The headline of a page with this title and first-level headings."""
    tops = [Titled(1, text) for text in headings]
    return headline([title], tops, site_of(name, host), is_article=given.get("article", False))


@pytest.mark.parametrize(
    "title, host, name, expected",
    [
        ("Foxes jump | The News", "thenews.com", "", "Foxes jump"),
        ("Foxes jump - The Daily Fox", "n.org", "The Daily Fox", "Foxes jump"),
        ("Foxes jump \u2013 Fox Docs", "fox.dev", "", "Foxes jump"),
        ("Foxes - and dogs | Zoo", "zoo.org", "", "Foxes - and dogs"),
        ("Foxes | Animals | Zoo", "zoo.org", "", "Foxes"),
        ("Zoo | Animals of the world", "zoo.org", "", "Zoo | Animals of the world"),
        ("Well-known foxes", "n.org", "", "Well-known foxes"),
        ("zoo.org", "zoo.org", "", "zoo.org"),
    ],
)
def test_a_title_without_the_sites_name(title: str, host: str, name: str, expected: str) -> None:
    assert read(title, host=host, name=name) == expected


def test_the_heading_that_repeats_a_part_of_the_title() -> None:
    assert read("FOXES jump | News", "Menu", "Foxes jump!") == "Foxes jump!"
    assert read("Foxes: how they live | News", "Foxes", "More") == "Foxes"
    assert read("Errors - The Book of Foxes", "The Book of Foxes") == "Errors"


def test_a_heading_unlike_the_title() -> None:
    assert read("Buy foxes | Shop", "Be happy today") == "Buy foxes"
    assert read("Buy foxes | Shop", "Be happy today", article=True) == "Be happy today"
    assert read("Zoo", "Foxes and dogs", host="zoo.org") == "Foxes and dogs"


def test_a_sites_name_is_no_headline() -> None:
    assert read("Foxes jump / Zoo", "ZOO", "Foxes jump", host="zoo.org") == "Foxes jump"
    assert (
        read("Foxes jump \u2013 Zoo - Zoo", "Foxes jump \u2013 Zoo", host="zoo.org") == "Foxes jump"
    )


def test_the_site_name_in_a_title() -> None:
    assert site_name("Foxes jump | The Zoo", site_of("", "thezoo.com")) == "The Zoo"
    assert site_name("The Zoo: foxes", site_of("", "thezoo.com")) == ""
    assert site_name("Foxes jump | Dogs run", site_of("", "thezoo.com")) == ""


def test_a_page_has_both() -> None:
    found = read_metadata(
        view(
            "<h1>Foxes jump</h1>",
            "https://www.thezoo.com/a",
            head="<title>Foxes jump | The Zoo</title>",
        )
    )
    assert (found.title, found.headline, found.site_name) == (
        "Foxes jump | The Zoo",
        "Foxes jump",
        "The Zoo",
    )
    bare = read_metadata(view("<h1>Only a heading</h1>"))
    assert bare.headline == "Only a heading"
    assert read_metadata(view("<p>Nothing</p>")).headline == ""
