"""What a site says about use: read with every page, shown with the line that says it, re-evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simweb.answers import SimResponse
from simweb.documents import HTML
from tests.cli.conftest import Messor
from tests.harvested import WORDS
from tests.little_web import LittleWeb
from tests.serving import Serving, let_in

SHOP = "shop.test"
HOME = f"http://{SHOP}/"
ROBOTS = "User-agent: *\nAllow: /\nContent-Usage: train-ai=y\nContent-Usage: /news/ train-ai=n\nContent-Signal: search=yes\n"


def html(head: str = "", *headers: tuple[str, str]) -> SimResponse:
    text = f"<!doctype html><html lang=en><title>News</title>{head}<h1>News</h1><p>{WORDS * 6}</p><a href='/news/a'>a</a>"
    return SimResponse(
        200, (("Content-Type", HTML), *headers), f"{text}<a href='/b'>b</a>".encode()
    )


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    rooms = {
        "/robots.txt": SimResponse(200, (("Content-Type", "text/plain"),), ROBOTS.encode()),
        "/": html(),
        "/news/a": html('<meta name=robots content="noai, noarchive">', ("TDM-Reservation", "1")),
        "/b": html('<meta name="tdm-reservation" content="0">', ("Content-Usage", "search=n, ?!"),
                   ("TDM-Reservation", "1")),
    }  # fmt: skip
    with Serving(LittleWeb(tmp_path, {SHOP: rooms})) as web:
        let_in(web, monkeypatch)
        yield web


def uses(messor: Messor, path: str) -> dict[str, tuple[str | None, str | None]]:
    found = messor("rights", f"{HOME}{path}", "--json")
    assert found.code == 0, found.err
    return {
        one["use"]: (one["answer"], one["by"] and one["by"]["place"]) for one in found.json["uses"]
    }


def test_each_use_is_told_with_the_line_that_decides(messor: Messor, web: LittleWeb) -> None:
    assert messor("crawl", HOME, "--no-extract").code == 0
    assert uses(messor, "") == {
        "search": ("yes", "robots.txt, line 5"), "ai-input": (None, None),
        "ai-train": ("yes", "robots.txt, line 3"), "tdm": (None, None), "archive": (None, None),
    }  # fmt: skip
    assert uses(messor, "news/a") == {
        "search": ("yes", "robots.txt, line 5"), "ai-input": ("no", "meta robots"),
        "ai-train": ("no", "meta robots"), "tdm": ("no", "header TDM-Reservation"),
        "archive": ("no", "meta robots"),
    }  # fmt: skip
    # The element counts before the header; a header that cannot be understood permits nothing.
    assert uses(messor, "b")["tdm"] == ("yes", "meta tdm-reservation")
    assert uses(messor, "b")["ai-train"] == ("unknown", "header Content-Usage")
    # A page that was not fetched has the rules of robots.txt.
    assert uses(messor, "news/other")["ai-train"] == ("no", "robots.txt, line 4")
    shown = messor("rights", f"{HOME}news/a").out
    assert "not stated" not in shown.splitlines()[3]
    whole = messor("rights", SHOP, "--json").json
    assert whole["pages"] == 3
    reserved = [one for one in whole["statements"] if (one["use"], one["answer"]) == ("tdm", "no")]
    assert [(one["pages"], one["example"]) for one in reserved] == [(1, f"{HOME}news/a")]
    assert "header TDM-Reservation" in messor("rights", SHOP).out


def test_what_is_not_known_is_refused_in_a_sentence(messor: Messor) -> None:
    unknown = messor("rights", "https://nobody.example/a")
    assert unknown.code == 4
    assert "Crawl it: messor https://nobody.example/a" in unknown.err
    assert messor("rights", "https://nothing/").code == 2
    assert messor("rights", "nobody.example").code == 4


def test_files_are_inspected_without_a_request(messor: Messor, tmp_path: Path) -> None:
    robots = tmp_path / "robots.txt"
    robots.write_text(ROBOTS)
    licence = tmp_path / "license.xml"
    licence.write_text(
        '<rsl><content url="/"><license><permits type="usage">search</permits>'
        '<payment type="crawl"/></license></content></rsl>'
    )
    reserved = tmp_path / "tdmrep.json"
    reserved.write_text('[{"location": "/news/", "tdm-reservation": 1}]')
    found = messor(
        "inspect", "rights", f"{HOME}news/", "--robots", str(robots), "--rsl", str(licence),
        "--tdmrep", str(reserved), "--header", "X-Robots-Tag: noarchive",
    ).json  # fmt: skip
    assert {use: one["answer"] for use, one in found["uses"].items()} == {
        "search": "paid", "ai-input": "no", "ai-train": "no", "tdm": "no", "archive": "no",
    }  # fmt: skip
    refused = messor("inspect", "rights", HOME, "--header", "noarchive")
    assert refused.code == 2
    assert "NAME:VALUE" in refused.err
