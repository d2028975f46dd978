"""Ranks over time: gaps are no ranks, and a loss names the page that changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from messor.insight import ranks
from messor.insight.visibility import TimeSpan
from messor.store.database import Database
from tests.insight.making import apply_vertical, make_keyword, make_serp, make_site

DAY = timedelta(days=1)
UNTIL = datetime(2026, 6, 8, tzinfo=UTC)
WINDOW = TimeSpan(UNTIL - 7 * DAY, UNTIL)


async def test_history_and_losses(database: Database) -> None:
    applied = await apply_vertical(database)
    site = await make_site(database, "a.test")
    page_id, _ = await site.page("text")
    await database.fetch(
        "INSERT INTO messor.page_changes VALUES ($1, $2, 1, 'changed')", page_id, UNTIL - 6 * DAY
    )
    fell, gone, kept, gap = [
        await make_keyword(database, applied, text, "A") for text in ("fell", "gone", "kept", "gap")
    ]
    before, now = UNTIL - 8 * DAY, UNTIL - 2 * DAY
    for keyword in (fell, gone, kept, gap):
        await make_serp(database, keyword, before, [(2, "organic", "a.test")])
    other = [(1, "organic", "b.test")]
    await make_serp(database, fell, now, [*other, (5, "organic", "a.test"), (9, "ad", "a.test")])
    await make_serp(database, gone, now, other)
    await make_serp(database, kept, now, [(2, "local_pack", "a.test")])
    await make_serp(database, gap, now, [], outcome="failed")

    lost = await ranks.losses(database, applied, WINDOW, "a.test")
    assert [(one.keyword, one.before, one.after) for one in lost] == [
        ("gone", 2, None),
        ("fell", 2, 5),
    ]
    assert {(one.url, one.page_state, one.page_changed_at) for one in lost} == {
        ("https://a.test/", "changed", UNTIL - 6 * DAY)
    }
    both = TimeSpan(WINDOW.before.since, UNTIL)
    seen = await ranks.history(database, applied, both, "a.test")
    assert [(one.keyword, one.rank, one.block) for one in seen] == [
        ("fell", 2, "organic"),
        ("fell", 5, "organic"),
        ("gap", 2, "organic"),
        ("gone", 2, "organic"),
        ("gone", None, None),
        ("kept", 2, "organic"),
        ("kept", 2, "local_pack"),
    ]
    assert await ranks.history(database, applied, WINDOW, "a.test", keyword="gap") == []
