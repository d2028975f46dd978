"""Every store gives the answers that PostgreSQL gives, whatever changed, returned or was erased."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from messor.analytics.questions import QUESTIONS, AnswerScope
from messor.analytics.store import Store
from messor.analytics.sync import rebuild, sync
from messor.analytics.tables import TABLES
from messor.governance import erasure
from messor.store.database import Database
from tests.analytics.stage import stage_everything, stage_shops
from tests.analytics.stores import (
    STORES,
    answer,
    comparable,
    open_store,
    plain_answer,
    plain_whole,
    require_same,
    whole,
)
from tests.harvested import product_html

both = pytest.mark.parametrize("name", STORES)


async def scope_now(database: Database, **values: object) -> AnswerScope:
    return AnswerScope(await database.fetchval("SELECT messor.clock()"), **values)  # type: ignore[arg-type]


async def require_equal(database: Database, store: Store) -> None:
    """All tables, and all questions for a few scopes, are as in PostgreSQL."""
    for table in TABLES:
        assert whole(store, table) == await plain_whole(database, table), table
    now = await scope_now(database)
    scopes = (now, AnswerScope(now.until, days=10, domain="shop.example"))
    for scope in scopes:
        for question in QUESTIONS:
            theirs = comparable(await plain_answer(database, question, scope))
            require_same(comparable(answer(store, question, scope)), theirs, question)


@both
async def test_answers_are_postgresql_s_after_every_change(
    database: Database, tmp_path: Path, name: str
) -> None:
    shop = await stage_everything(database)
    with open_store(name, tmp_path) as store:
        assert (await sync(database, store)).was_filled
        await require_equal(database, store)
        await shop.see("/p/kettle", product_html(price="1.00"))
        await shop.see("/p/new", product_html("Vase", "70", category="Cups", sku="V"))
        await shop.see("/p/cup", None)
        await database.fetch(
            "UPDATE messor.candidates SET status = 'IN_REVIEW', assigned_to = 'ann' WHERE status = 'PENDING_REVIEW'"
        )
        done = await sync(database, store, measure=True)
        assert (done.was_filled, done.entries > 0) == (False, True)
        await require_equal(database, store)
        async with database.transaction() as connection:
            await erasure.erase_url(
                connection, "https://shop.example/p/kettle", actor="ann", reason="asked"
            )
        await shop.see("/p/cup", product_html("Cup", "8.00", sku="C", category="Cups"))
        await sync(database, store, measure=True)
        await require_equal(database, store)


@both
async def test_known_answers(database: Database, tmp_path: Path, name: str) -> None:
    """Figures worked out by hand from what was staged."""
    await stage_everything(database)
    with open_store(name, tmp_path) as store:
        await sync(database, store)
        scope = await scope_now(database, days=60)
        funnel = {step: number for _, step, number in answer(store, "funnel", scope)}
        assert funnel == {
            "keywords": 2, "result pages": 2, "results": 4, "candidates": 5, "promising": 4,
            "read": 3, "reviewed": 2, "approved": 1,
        }  # fmt: skip
        spread = {row[0]: row[2:] for row in answer(store, "price-spread", scope)}
        assert spread["Kitchen > Kettles"][:5] == (2, 2, 39.9, 44.9, 49.9)
        assert spread["Kitchen > Kettles"][5] == pytest.approx(10 / 44.9)
        trends = answer(store, "price-trends", scope)
        kettle = [row[6] for row in trends if row[1:3] == ("Kitchen > Kettles", "shop.example")]
        # 12 periods of 5 days; the first price is 40 days old.
        assert kettle == [59.9] * 3 + [54.9] * 3 + [64.9] * 2 + [49.9]
        # The pot was removed 6 days ago: its price does not hold until today.
        other = [(row[0], row[4]) for row in trends if row[2] == "store.example"]
        assert [count for _, count in sorted(other)][-3:] == [2, 1, 1]
        candidates = [row for row in answer(store, "review-time", scope) if row[0] == "candidate"]
        assert candidates[0][2] == 2
        assert candidates[0][3] == pytest.approx(72, abs=0.01)  # 4 days and 2 days
        assert candidates[0][5] == 1
        cost = {row[1]: row[2:] for row in answer(store, "cost", scope)}
        assert cost["small"][:2] == (2, pytest.approx(0.04))
        polite = {row[0]: row for row in answer(store, "politeness", scope)}
        pages = await database.fetchval(
            "SELECT count(*) FROM messor.pages WHERE url LIKE 'https://shop.example/%'"
        )
        assert polite["shop.example"][6] == pages  # one 429 each


@both
async def test_a_batch_that_comes_twice_changes_nothing(
    database: Database, tmp_path: Path, name: str
) -> None:
    shop = await stage_shops(database)
    with open_store(name, tmp_path) as store:
        await sync(database, store)
        before = store.state()
        await shop.see("/p/kettle", product_html(price="5.00"))
        await sync(database, store)
        once = {table: whole(store, table) for table in TABLES}
        # As if the process had died between the rows and the position after them.
        after = store.state()
        before.sequence = after.sequence
        store.write([], before)
        assert (await sync(database, store)).entries > 0
        assert {table: whole(store, table) for table in TABLES} == once


@both
async def test_a_position_that_is_no_longer_kept_fills_the_tables_anew(
    database: Database, tmp_path: Path, name: str
) -> None:
    shop = await stage_shops(database)
    with open_store(name, tmp_path) as store:
        await sync(database, store)
        await database.fetch("DELETE FROM messor.changes")
        await shop.see("/p/kettle", product_html(price="5.00"), -timedelta(seconds=1))
        assert (await sync(database, store, measure=True)).was_filled
        await require_equal(database, store)


@both
async def test_a_rebuild_is_the_same_as_following(
    database: Database, tmp_path: Path, name: str
) -> None:
    shop = await stage_shops(database)
    with open_store(name, tmp_path) as store:
        await sync(database, store)
        await shop.see("/p/cup", product_html("Cup", "7.77", sku="C", category="Cups"))
        await sync(database, store, measure=True)
        followed = {table: whole(store, table) for table in TABLES}
        await rebuild(database, store)
        assert {table: whole(store, table) for table in TABLES} == followed
