"""The rehearsal: its own reckoning, its bars, and one vertical from keywords to cadence."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor.verticals import files
from simweb import WorldProcess
from simweb.commands import rehearsal_checks as checks
from simweb.commands import rehearse
from simweb.commands.rehearsal_checks import TruePage
from tests.cli.conftest import Messor

SCORING = files.shipped("wellness").vertical.scoring.model_copy(
    update={"rank_weights": (1.0, 0.5), "tier_weights": {"A": 3.0, "B": 2.0, "C": 1.0}}
)


def test_visibility_is_reckoned_by_hand() -> None:
    pages = [
        TruePage("k1", "A", {"a.test": 1, "b.test": 2, "c.test": 3}),
        TruePage("k1", "A", {"b.test": 1}),
        TruePage("k2", "C", {"a.test": 2}),
    ]
    # Of 3 + 1 points: a has 1.5 + 0.5, b has 0.75 + 1.5, and c stands too low.
    assert checks.visibility(pages, SCORING) == pytest.approx({"a.test": 0.5, "b.test": 0.5625})
    assert checks.visibility([], SCORING) == {}


@pytest.mark.parametrize(
    "check, passed, said",
    [
        (checks.share("recall", {"a", "b"}, {"a", "c"}, 0.5), True, "b"),
        (checks.share("recall", {"a", "b"}, {"c"}, 0.5), False, "a, b"),
        (checks.share("recall", set(), {"c"}, 0.9), True, ""),
        (checks.equal("visibility", {"a": 0.5}, {"a": 0.5 + 1e-12}), True, ""),
        (checks.equal("visibility", {"a": 0.5}, {"a": 0.5, "b": 0.1}), False, "b"),
        (checks.equal("visibility", {"a": 0.5, "b": 0.1}, {"a": 0.5}), False, "b"),
        (
            checks.accuracy("classes", {"a": "x", "b": "y"}, {"a": "x", "b": "x"}, 0.9),
            False,
            "b (y, not x)",
        ),
        (checks.accuracy("classes", {}, {"a": "x"}, 0.9), False, ""),
        (
            checks.none_of("paid twice", {"a", "b", "c", "d", "e", "f"}),
            False,
            "a, b, c, d, e and 1 more",
        ),
    ],
)
def test_a_bar_is_kept_or_broken(check: checks.Check, passed: bool, said: str) -> None:
    assert (check.passed, check.said) == (passed, said)


def test_only_what_ships_is_rehearsed(messor: Messor) -> None:
    said = messor("rehearse", "astrology")
    assert (said.code, "to rehearse; available:" in said.err) == (2, True)


def test_nothing_else_that_is_configured_takes_part(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo_world: WorldProcess
) -> None:
    monkeypatch.setenv("MESSOR_SEARCH_ENGINES__BRAVE__KEY", "paid-for")
    monkeypatch.setenv("MESSOR_FIRECRAWL_KEY", "paid-for")
    monkeypatch.setenv("MESSOR_AI_URL", "https://model.example/v1")
    monkeypatch.setenv("MESSOR_ALLOWED_NETWORKS__ADDRESSES", '["10.0.0.0/8"]')
    made = rehearse._settings(tmp_path, demo_world)
    assert "brave" not in made.search_engines
    assert (made.firecrawl_key, made.ai_url, made.crawl4ai_url) == (None, None, None)
    assert made.allowed_networks.addresses == ["127.0.0.0/8"]


def test_shares_of_small_webs_count_together() -> None:
    ten = {str(n) for n in range(10)}
    one = checks.share("recall", ten, ten - {"3"}, 0.95)
    other = checks.share("recall", {f"x{n}" for n in range(30)}, {f"x{n}" for n in range(30)}, 0.95)
    exact = checks.none_of("paid twice", [])
    assert not one.passed
    (together,) = checks.pooled([one, exact, other])
    assert (together.name, together.of, together.passed) == ("recall", 40, True)
    assert together.value == pytest.approx(39 / 40)


@pytest.mark.wide
def test_a_vertical_is_rehearsed_from_keywords_to_cadence(messor: Messor) -> None:
    said = messor("rehearse", "funding", "--seed", "3", "--json")
    (done,) = said.json["verticals"]
    fallen = {check["name"] for check in done["checks"] if not check["passed"]}
    assert fallen == set()
    assert said.code == 0
    assert said.json["passed"]
    assert {check["name"] for check in done["checks"]} >= {"visibility", "movers", "out of cadence"}
    figures = done["figures"]
    assert figures["searches"] == figures["keywords"] > 100
    assert figures["candidates_approved"] > figures["domains_approved"] > 10  # programs of funders
    assert figures["levels_changed"] == figures["domains_approved"]
    assert figures["records"] > figures["domains_approved"]
    assert done["movers"]
    assert {row["level"] for row in done["cadence"]} <= set("ABCD")
    assert len(done["cadence"]) > 1
