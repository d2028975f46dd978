"""Verticals, keywords and the scout, as a person meets them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from messor.verticals import files
from simweb.engines import SearchIndex
from simweb.engines.google import SerperStandIn
from simweb.engines.plain import SearXNGStandIn
from simweb.engines.standin import KEY
from simweb.services import Failure
from simweb.world import World
from tests.cli.conftest import Messor
from tests.standing_in import serving


@pytest.fixture
def serper() -> Iterator[SerperStandIn]:
    """A stand-in on a loop of its own, since a command brings its own."""
    with serving(lambda: SerperStandIn(SearchIndex(World("demo")))) as stand_in:
        yield stand_in


def test_a_vertical_goes_round(messor: Messor, tmp_path: Path) -> None:
    listed = {one["name"]: one["applied"] for one in messor("verticals", "list", "--json").json}
    assert listed["wellness"] == "no"
    assert messor("verticals", "apply", "wellness", "funding").code == 0
    mine = tmp_path / "mine.toml"
    assert messor("verticals", "export", "wellness", "-o", str(mine)).code == 0
    assert "No changes." in messor("verticals", "diff", str(mine)).err
    version = files.shipped("wellness").vertical.version
    text = (
        mine.read_text()
        .replace(f"version = {version}", f"version = {version + 1}")
        .replace("keyword = 3.0", "keyword = 2.5")
    )
    mine.write_text(text)
    assert "~ judges.keyword: 3.0 → 2.5" in messor("verticals", "diff", str(mine)).out
    assert "2 changes" in messor("verticals", "apply", str(mine)).err
    shown = messor("verticals", "show", "wellness", "--json").json
    assert [one["version"] for one in shown["versions"]] == [version + 1, version]
    assert "sg-desktop" in messor("verticals", "show", "wellness").out


def test_a_wrong_file_is_said(messor: Messor, tmp_path: Path) -> None:
    (tmp_path / "w.toml").write_text('name = "x"\n')
    said = messor("verticals", "apply", str(tmp_path / "w.toml"))
    assert said.code == 2
    assert "key title: Field required" in said.err
    assert messor("verticals", "apply", "astrology").code == 4
    assert messor("keywords", "tiers", "funding").code == 4


def test_organisations_are_imported(messor: Messor, tmp_path: Path) -> None:
    messor("verticals", "apply", "wellness")
    file = tmp_path / "clinics.csv"
    file.write_text("name,domains\nOrchard Skin,orchard.example\n,x.example\n")
    said = messor("verticals", "import", "wellness", str(file))
    assert said.code == 3
    assert "refused" in said.out
    found = messor("verticals", "organisations", "wellness", "--json").json
    assert [one["domains"] for one in found] == [["orchard.example"]]


def test_from_keywords_to_a_decision(
    messor: Messor, serper: SerperStandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    messor("verticals", "apply", "funding")
    assert "Nothing was saved; add --write" in messor("keywords", "generate", "funding").err
    made = messor(
        "keywords", "generate", "funding", "--profile", "us-desktop", "--write", "--json"
    ).json
    assert made["written"] == made["new"] > 100
    assert messor("keywords", "add", "funding", "museum fund", "--tier", "A").code == 0
    again = messor("keywords", "add", "funding", "Museum  FUND")
    assert (again.code, again.err.strip()) == (0, "These keywords already exist.")
    assert (
        "2 keywords are tier B now" in messor("keywords", "tier", "funding", "MUSEUM fund", "B").err
    )
    unknown = messor("keywords", "tier", "funding", "museum", "A")
    assert (unknown.code, "funding has no keyword 'museum'" in unknown.err) == (4, True)
    assert messor("keywords", "tier", "funding", "museum fund", "A").code == 0
    listed = messor("keywords", "list", "--vertical", "funding", "--tier", "A", "--json").json
    assert {one["text"] for one in listed} == {"museum fund"}
    without = messor("scout", "search", "funding")
    assert (without.code, "No search engine is configured" in without.err) == (2, True)
    config = tmp_path / "messor.toml"
    config.write_text(f'[search_engines.serper]\nurl = "{serper.base_url}"\nkey = "{KEY}"\n')
    monkeypatch.setenv("MESSOR_CONFIG", str(config))
    done = messor("scout", "search", "funding", "--limit", "20", "--json").json
    assert done["searches"] == {"answered": 20}
    assert done["statistics"]["candidates_created"] >= 1
    assert messor("scout", "sessions").code == 0
    pages = messor("scout", "serps", "--outcome", "ok", "--limit", "5", "--json").json
    assert [one["engine"] for one in pages] == ["serper"] * 5
    spent = messor("scout", "spend", "--json").json
    assert [(one["engine"], one["answered"], one["cost"]) for one in spent] == [
        ("serper", 20, 0.02)
    ]
    found = messor("scout", "candidates", "--status", "PENDING_CRAWL", "--json").json
    assert found
    assert "organisation_type" in messor("scout", "why", found[0]["id"]).out
    refused = messor("scout", "approve", found[0]["id"])
    assert (refused.code, "not APPROVED" in refused.err) == (5, True)
    told = messor("scout", "crawl", "--json").json
    assert told["candidates_submitted"] == 0  # nobody approved a domain
    assert "waits for its crawl" in messor("scout", "records", found[0]["id"]).err
    assert messor("domains", "approve", found[0]["domain"]).code == 0
    assert "candidates submitted  1" in messor("scout", "crawl").out
    assert messor("keywords", "expand", "funding", "--write").code == 0
    assert messor("keywords", "tiers", "funding", "--write").code == 0


def test_a_searxng_whose_engines_are_all_dead_is_told(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, serper: SerperStandIn
) -> None:
    messor("verticals", "apply", "funding")
    for text in ("museum fund", "library grant", "theatre fund"):
        assert messor("keywords", "add", "funding", text, "--tier", "C").code == 0
    with serving(lambda: SearXNGStandIn(SearchIndex(World("demo")))) as searxng:
        searxng.failure = Failure.NOBODY_ANSWERS
        monkeypatch.setenv("MESSOR_SEARCH_ENGINES__SEARXNG__URL", searxng.base_url)
        said = messor("scout", "search", "funding", "--json")
        assert said.json["searches"].keys() == {"waiting"}
        checks = {check["name"]: check for check in messor("doctor", "--json").json}
        assert checks["search engines"]["state"] == "note"
        assert "google: Suspended: CAPTCHA" in checks["search engines"]["found"]
        assert said.code != 0
        assert "google: Suspended: CAPTCHA" in said.err
        assert "are still due. Check the engines: messor doctor" in said.err
        assert "returned no page" in messor("scout", "sessions", "--json").json[0]["message"]
        assert "searches returned no page" in messor("scout", "sessions").out
        # Nothing was spent: another engine is asked in the same window.
        monkeypatch.setenv("MESSOR_SEARCH_ENGINES__SERPER__URL", serper.base_url)
        monkeypatch.setenv("MESSOR_SEARCH_ENGINES__SERPER__KEY", KEY)
        done = messor("scout", "search", "funding", "--json").json
    assert done["searches"].keys() == {"answered"}
    assert serper.searches == done["searches"]["answered"] >= 3


def test_a_reviewer_says_what_a_domain_is(messor: Messor) -> None:
    said = messor(
        "domains",
        "class",
        "https://quiet.example/x",
        "directory",
        "--reason",
        "lists",
        "--json",
    )
    assert said.code == 0
    assert (said.json["class"], said.json["decided_reason"]) == ("directory", "lists")
    assert "the classifier had said unknown" in said.err
    assert messor("domains", "class", "quiet.example", "sorcery").code == 2


def test_engines_are_set_by_the_environment_too(
    messor: Messor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_SEARCH_ENGINES__BRAVE__KEY", "secret-key")
    monkeypatch.setenv("MESSOR_SEARCH_ENGINES__BRAVE__MONTHLY_BUDGET", "5")
    said = messor("scout", "engines", "--json")
    assert "secret-key" not in said.out
    assert (said.json[0]["name"], said.json[0]["asked"], said.json[0]["budget"]) == (
        "brave",
        1,
        5,
    )
    assert len(said.json) >= 9
    monkeypatch.setenv("MESSOR_SEARCH_ENGINES__ORACLE__KEY", "x")
    messor("verticals", "apply", "funding")
    refused = messor("scout", "search", "funding")
    assert refused.code == 2


@pytest.mark.parametrize("group", ["verticals", "keywords", "scout"])
def test_every_command_shows_an_example(messor: Messor, group: str) -> None:
    out = messor(group, "--help").out
    commands = [
        line.split()[0] for line in out.partition("Commands:")[2].splitlines() if line.strip()
    ]
    assert commands
    for command in commands:
        assert f"messor {group} {command}" in messor(group, command, "--help").out
