"""Result pages in the console: as seen, who is visible, who moved; gaps; discovery sessions."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from messor.console import visibility_overview
from messor.insight import trends, visibility
from messor.store.database import Database
from tests.console.conftest import Visitor
from tests.console.found import add_serp, result, seed


async def test_a_page_is_shown_as_it_was_seen(reviewer: Visitor, database: Database) -> None:
    found = await seed(database, weeks=1)
    page = await reviewer.get(f"/serps/{found.serp}")
    blocks = re.findall(r'<h2 class="card-title">([^<]+)</h2>', page.text)
    assert blocks == ["Advertisements", "Local results", "Results", "People also ask", "Related searches", "Details"]  # fmt: skip
    for words in ("KneeCare Physiotherapy", "Consultation with our doctors", "pending review",
                  "Novena Skin", "approved", "searxng", "sg-desktop"):  # fmt: skip
        assert words in page.said, words
    assert 'rel="noopener noreferrer nofollow"' in page.text


async def test_a_gap_has_a_reason_and_no_ranks(reviewer: Visitor, database: Database) -> None:
    found = await seed(database)
    page = await reviewer.get(f"/serps/{found.gap}")
    assert "Gap: no result page was captured in this window" in page.said
    assert "no engine could be asked" in page.said
    assert 'class="seen-rank"' not in page.text
    listed = await reviewer.get("/serps/pages?vertical=wellness&outcome=failed")
    assert listed.text.count("tag-orange") == 2
    assert "botox singapore" in listed.said


async def test_visibility_movers_and_losses(reviewer: Visitor, database: Database) -> None:
    found = await seed(database)
    page = await reviewer.get("/serps?vertical=wellness")
    lost = page.said.partition("Lost")[2]
    assert "orchard-dental.test" in lost, "it is on no page of the last week"
    assert "novena-skin.test" in page.said.partition("Most visible")[2]
    window = await visibility.last_window(database)
    seen = await visibility.of_domains(database, found.applied, window)
    assert f"{seen[0].visibility * 100:.1f} %" in page.said
    domain = await reviewer.get("/serps/domains/orchard-dental.test?vertical=wellness&days=7")
    assert "not found" in domain.said.partition("Lost ranks")[2]
    assert "botox singapore" in domain.said.partition("Lost ranks")[2]
    assert "/watches/new?noun=ranks&amp;domain=orchard-dental.test" in domain.text
    other = await reviewer.get("/serps/domains/glow-clinic.test?vertical=wellness")
    assert "novena-skin.test" in other.said.partition("Competitors")[2]


async def test_figures_over_many_pages_are_kept_for_a_while(
    reviewer: Visitor, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed(database, weeks=1)

    async def searches() -> str:
        page = await reviewer.get("/serps?vertical=wellness")
        return page.said.partition("Searches ")[2].split()[0]

    before = await searches()
    await database.fetch("DELETE FROM messor.serp_snapshots WHERE outcome <> 'failed'")
    assert await searches() == "0" != before, "few pages are summed anew"
    await seed_more(database)
    monkeypatch.setattr(visibility_overview, "MANY", 0)
    assert await searches() == "1"
    await database.fetch("DELETE FROM messor.serp_snapshots")
    assert await searches() == "1", "the known figures, while they are refreshed"
    monkeypatch.setattr(visibility_overview, "KEPT_SECONDS", 0.0)
    assert await searches() == "0"


async def seed_more(database: Database) -> None:
    key = await database.fetchval("SELECT id FROM messor.keywords LIMIT 1")
    await add_serp(database, key, timedelta(hours=1), [result(1, "late.test", "Late")])


async def test_nothing_but_gaps_is_told_from_nobody(reviewer: Visitor, database: Database) -> None:
    found = await seed(database, weeks=1)
    await database.fetch("DELETE FROM messor.serp_snapshots")
    await add_serp(database, found.keywords[0], timedelta(hours=1), [], outcome="failed")
    page = await reviewer.get("/serps?vertical=wellness")
    assert "All searches in this window are gaps" in page.said
    assert "0.0 %" not in page.said


async def test_curves_agree_with_the_reckoning_of_visibility(database: Database) -> None:
    """What is drawn for a window is what `visibility` says of it, and gaps are None."""
    found = await seed(database)
    until = (await visibility.last_window(database)).until
    windows = trends.spans(until, 10)
    names = ["glow-clinic.test", "novena-skin.test", "nobody.test"]
    drawn = await trends.visibility(database, found.applied, windows, names)
    for place, window in enumerate(windows):
        seen = await visibility.of_domains(database, found.applied, window)
        for name in names:
            value = next(
                (one.visibility for one in seen if one.name == name), 0.0 if seen else None
            )
            if value is None:
                assert drawn[name][place] is None
            else:
                assert drawn[name][place] == pytest.approx(value)
    assert drawn["glow-clinic.test"][:2] == [None, None]
    stood = await trends.places(database, found.applied, windows, "glow-clinic.test")
    assert [one and pytest.approx(one.visibility) for one in stood] == drawn["glow-clinic.test"]
    assert stood[-1] is not None
    assert stood[-1].first_three + stood[-1].first_ten + stood[-1].below + stood[-1].absent == 4


async def test_a_second_page_of_results_is_no_look(database: Database) -> None:
    found = await seed(database, weeks=1)
    await add_serp(
        database, found.keywords[0], timedelta(hours=1), [result(1, "late.test", "Late")]
    )
    await database.fetch(
        """UPDATE messor.search_requests SET page = 2 WHERE id =
             (SELECT request_id FROM messor.serp_snapshots ORDER BY captured_at DESC LIMIT 1)"""
    )
    seen = await trends.looks(database, found.keywords[0])
    assert len(seen.ids) == 1
    assert "late.test" not in seen.ranks


async def test_sessions_with_their_figures(reviewer: Visitor, database: Database) -> None:
    found = await seed(database, weeks=1)
    page = await reviewer.get("/discovery?vertical=wellness")
    assert "1 session judged 8 results" in page.said
    assert "No search engine is configured" in page.said
    one = await reviewer.get(f"/discovery/{found.session}")
    for words in ("became candidates", "low confidence", "Average confidence", "Botox: a film"):
        assert words in one.said, words


async def test_nothing_is_searched_for_without_an_engine(
    reviewer: Visitor, database: Database
) -> None:
    await seed(database, weeks=1)
    answer = await reviewer.send("/discovery", "/discovery", {"vertical": "wellness"})
    assert "No search engine is configured" in (await reviewer.get(answer.place)).said
    assert await database.fetchval("SELECT count(*) FROM messor.jobs") == 0
