"""Search and scores, as a person meets them."""

from __future__ import annotations

import asyncio

from messor.insight.search_index import index_waiting
from messor.store.database import Database
from messor.verticals import files
from tests.cli.conftest import Messor
from tests.insight.making import apply_vertical, decide_candidates, make_site, own

FUNDING = files.shipped("funding").vertical.version


async def _fill(dsn: str) -> None:
    async with Database(dsn) as database:
        applied = await apply_vertical(database)
        site = await make_site(database, "clinic.test")
        await own(database, applied, "The Clinic", "clinic.test")
        page = await site.page("Our café treats *skin* gently.", title="Home", language="en")
        await site.page("Skin and more skin.", title="Skin", language="en")
        await site.record(page, "service", 0.8, name="Skin treatment")
        async with database.transaction() as connection:
            await index_waiting(connection)


def test_search_answers_with_places_and_facets(messor: Messor, dsn: str) -> None:
    asyncio.run(_fill(dsn))
    said = messor("search", "cafe", "treat")
    assert "Our *café* *treats*" in said.out
    assert "https://clinic.test/" in said.out
    found = messor("search", "skin", "--kind", "page", "--limit", "1", "--facets", "--json").json
    assert [hit["title"] for hit in found["hits"]] == ["Skin"]
    assert found["facets"]["by"]["kind"] == {"page": 2}
    begin, end = found["hits"][0]["fragments"][0]["marks"][0]
    assert found["hits"][0]["fragments"][0]["text"][begin:end] == "Skin"
    more = messor("search", "skin", "--kind", "page", "--cursor", found["next"], "--json").json
    assert [hit["title"] for hit in more["hits"]] == ["Home"]
    assert more["next"] is None
    assert "No results." in messor("search", "elephants").err
    sure = messor("search", "skin", "--kind", "page", "--min-confidence", "0.1")
    assert "No results." in sure.err, "pages have no confidence"
    for words, sentence in (
        (("search", "--", "-skin"), "The query is empty"),
        (("search", "skin", "--min-price", "cheap"), "--min-price 'cheap' is not a number"),
        (("search", "skin", "--max-price", "NaN"), "--max-price 'NaN' is not a number"),
        (("search", "skin", "--min-price", "9", "--max-price", "1"), "exceeds maximum"),
        (("search", "skin", "--min-confidence", "2"), "lies between 0 and 1; 2 was given"),
        (("search", "skin", "--cursor", "!"), "Invalid cursor"),
    ):
        refused = messor(*words)
        assert refused.code == 2
        assert sentence in refused.err


def test_scores_are_tried_applied_and_shown(messor: Messor, dsn: str) -> None:
    asyncio.run(_fill(dsn))
    assert "no reviewers' decisions" in messor("scores", "calibrate", "wellness").err
    assert "no score yet" in messor("scores", "show", "clinic.test").err
    tried = messor("scores", "simulate", "wellness", "--weight", "friction=0", "--json").json
    assert [one["domain"] for one in tried["rows"]] == ["clinic.test"]
    assert "1 domains and 1 organisations" in messor("scores", "apply", "wellness").err
    (shown,) = messor("scores", "show", "clinic.test", "--json").json
    assert sum(part["contribution"] for part in shown["parts"]) == shown["score"]
    assert "REASON" in messor("scores", "show", "the clinic").out
    assert (
        "Too few decisions to suggest a threshold: 1 of 20."
        in messor("scores", "calibrate", "wellness").out
    )
    for words, code, sentence in (
        (
            ("scores", "simulate", "wellness", "--weight", "beauty=1"),
            2,
            "Unknown score component 'beauty'",
        ),
        (("scores", "simulate", "wellness", "--weight", "cost"), 2, "PART=NUMBER"),
        (("scores", "apply", "nothing"), 4, "nothing"),
        (("scores", "show", "nobody"), 4, "neither a known domain nor a known organisation"),
    ):
        refused = messor(*words)
        assert (refused.code, sentence in refused.err) == (code, True), refused.err


def test_judge_weights_are_shown_with_figures_then_applied(messor: Messor, dsn: str) -> None:
    async def fill() -> None:
        async with Database(dsn) as database:
            await decide_candidates(database, 40)

    asyncio.run(fill())
    shown = messor("scores", "judges", "funding")
    assert "0 of 40 would be wrong instead of 10" in shown.err
    assert "domain_credibility" in shown.out
    assert messor("scores", "judges", "funding", "--json").json["is_better"] is True
    done = messor("scores", "judges", "funding", "--apply")
    assert f"Version {FUNDING + 1} of funding has these weights." in done.err
