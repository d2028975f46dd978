"""The heading that names a page, found the short way or the long one."""

from __future__ import annotations

import random

import pytest

from messor.content.page import ParsedPage
from messor.content.products import headings
from messor.content.products.headings import MAX_HEADINGS, heading_of
from messor.content.products.texts import Texts

NAMES = (
    "Oak Table",
    "Oak Table | Shop",
    "Oak",
    "Table lamp",
    "",
    " ",
    "Welcome",
    "<b>Oak</b> Table",
)


def both_ways(html: str, titles: list[str], monkeypatch: pytest.MonkeyPatch) -> list[object]:
    document = ParsedPage.read(html).document
    found: list[object] = []
    for _ in range(2):
        found.append(heading_of(document, Texts(document.find("body")), titles))
        monkeypatch.setattr(headings, "_only_one", lambda *_: None)
    return found


@pytest.mark.parametrize("seed", range(300))
def test_the_same_heading_is_found_either_way(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(seed)
    tags = source.choices(("h1", "h2", "p"), (1, source.choice((1, 4)), 4), k=source.randrange(8))
    parts = [f"<{tag}>{source.choice(NAMES)}</{tag}>" for tag in tags]
    more = source.choice((0, 0, MAX_HEADINGS - 1, MAX_HEADINGS))
    parts[: source.randrange(len(parts) + 1)] += ["<h2>Other</h2>"] * more
    head = source.choice(("", "", "<template><h1>Oak Table</h1></template>"))
    html = f"<head>{head}</head>{''.join(parts)}"
    short, long = both_ways(html, source.choices(NAMES[:5], k=2), monkeypatch)
    assert short == long


def test_a_heading_outside_the_body_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    html = "<head><template><h1>Oak Table</h1></template></head><body><h2>Oak</h2>"
    short, long = both_ways(html, ["Oak Table"], monkeypatch)
    assert short == long
    assert isinstance(short, tuple)
    assert short[1] == {"oak"}


def test_a_heading_behind_too_many_others_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    html = "<body>" + "<h2>Other</h2>" * MAX_HEADINGS + "<h1>Oak Table</h1>"
    short, long = both_ways(html, ["Oak Table"], monkeypatch)
    assert short == long
    assert isinstance(short, tuple)
    assert short[1] == {"other"}
