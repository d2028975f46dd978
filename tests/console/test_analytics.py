"""Analytics in the console: questions with their charts, and SQL that is refused or answered."""

from __future__ import annotations

from pathlib import Path

from messor.access.roles import Role
from messor.analytics.lake import Lake
from messor.analytics.sync import sync
from messor.store.database import Database
from tests.analytics.stage import stage_everything
from tests.console.conftest import Enter, Visitor


async def test_questions_are_drawn(
    reviewer: Visitor, database: Database, tmp_path: Path, enter: Enter
) -> None:
    assert "The tables are empty" in (await reviewer.get("/analytics")).said
    early = await reviewer.get("/analytics/coverage")
    assert (early.status, "messor analytics sync" in early.said) == (200, True)
    await stage_everything(database)
    await sync(database, Lake(tmp_path / "analytics"))
    assert "Price trends" in (await reviewer.get("/analytics")).said
    trends = await reviewer.get("/analytics/price-trends?days=60")
    assert trends.text.count('class="curve ') == 3
    assert "Kitchen > Kettles · shop.example · EUR" in trends.said
    spread = await reviewer.get("/analytics/price-spread?domain=shop.example")
    assert "<rect" not in spread.text  # one product a category: nothing is spread
    assert "<rect" in (await reviewer.get("/analytics/freshness")).text
    wrong = await reviewer.get("/analytics/cost?days=soon")
    assert (wrong.status, "Days are 1 to" in wrong.said) == (422, True)
    asked = {"sql": "SELECT product_name FROM products WHERE category = 'Cups'"}
    answer = await reviewer.send("/analytics/sql", "/analytics/sql", asked)
    assert "Cup" in answer.said
    refused = await reviewer.send("/analytics/sql", "/analytics/sql", {"sql": "COPY x TO 'y'"})
    assert (refused.status, "Only one SELECT" in refused.said) == (422, True)
    assert "COPY x TO" in refused.text
    viewer = await enter(reviewer.base, Role.VIEWER)
    assert (await viewer.get("/analytics/sql")).status == 403
