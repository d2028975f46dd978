"""The name of the organisation behind a page, from its host, copyright line or address."""

from __future__ import annotations

import pytest

from messor.content.kinds.organisation import find
from tests.content.views import found, view


def names(body: str, url: str = "https://www.betterbuilders.com/about") -> list[str]:
    return [row["name"] for row in found(find, view(body, url))]


@pytest.mark.parametrize(
    "body, expected",
    [
        ("<p>At Better Builders we build.</p>", "Better Builders"),
        (
            "<p>Ask BetterBuilders</p><p>Better Builders, Inc.</p><p>Better Builders, Inc.</p>",
            "Better Builders, Inc.",
        ),
        ("<p>The Better Builders Company is here</p>", "The Better Builders Company"),
    ],
)
def test_a_name_with_the_letters_of_the_host(body: str, expected: str) -> None:
    assert names(body) == [expected]


@pytest.mark.parametrize(
    "line, expected",
    [
        ("\u00a9 2014 The Phoenix Zoo. All rights reserved.", "The Phoenix Zoo"),
        ("Copyright 2010-2014 by Temptek, Inc.", "Temptek, Inc."),
        ("Caltron Industries \u00a9 2014", "Caltron Industries"),
    ],
)
def test_a_name_in_a_copyright_line(line: str, expected: str) -> None:
    assert names(f"<p>Text</p><p>{line}</p>", "https://example.com/") == [expected]


def test_a_name_above_an_address() -> None:
    body = "<p>Mayo Clinic<br>200 First Street SW<br>Rochester, MN 55905</p>"
    assert names(body, "https://example.com/contact") == ["Mayo Clinic"]
    person = "<p>Carole Horan<br>200 First Street SW<br>Rochester, MN 55905</p>"
    assert names(person, "https://example.com/contact") == []


@pytest.mark.parametrize(
    "body",
    [
        "<p>write to info@betterbuilders.com</p>",
        "<p>betterbuilders</p>",
        "<p>\u00a9 2014 All rights reserved</p>",
    ],
)
def test_what_is_no_name(body: str) -> None:
    assert names(body) == []
