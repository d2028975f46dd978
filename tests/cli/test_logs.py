"""Logs as an operator reads them: one URL is followed from its fetch to its storage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Messor
from tests.little_web import LittleWeb, page, robots
from tests.serving import Serving, let_in

SHOP = "shop.test"
ROOMS = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
    "/": page("Shop", "/menu", "/private"),
    "/menu": page("Menu"),
}


def test_one_url_can_be_followed_through_the_logs(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Serving(LittleWeb(tmp_path, {SHOP: ROOMS})) as web:
        let_in(web, monkeypatch)
        assert " crawl: " not in messor("crawl", f"http://{SHOP}/", "--no-extract").err
        monkeypatch.setenv("MESSOR_LOG_LEVEL", "warning,crawl=debug")
        monkeypatch.setenv("MESSOR_LOG_FORMAT", "json")
        said = messor("crawl", f"http://{SHOP}/", "--depth", "1", "--no-extract")
    assert said.code == 0, said.err
    lines = [json.loads(line) for line in said.err.splitlines() if line.startswith("{")]
    home = [line for line in lines if line.get("url") == f"http://{SHOP}/"]
    assert [line["message"] for line in home] == ["fetched", "page kept"]
    assert len({(line["run"], line["visit"]) for line in home}) == 1
    assert home[0]["status"] == 200
    ended = [line for line in lines if line["message"] == "visit ended"]
    assert home[0]["visit"] in {line["visit"] for line in ended}
    assert any(line["message"] == "flushed" for line in lines)
    refused = [line for line in lines if line["message"] == "page refused"]
    assert [(line["url"], line["rule"]) for line in refused] == [
        (f"http://{SHOP}/private", "robots")
    ]


def test_a_wrong_level_is_refused_with_the_right_ones(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_LOG_LEVEL", "loud")
    said = messor("status")
    assert said.code == 2
    assert "MESSOR_LOG_LEVEL" in said.err
    assert "debug, info, warning, error" in said.err
