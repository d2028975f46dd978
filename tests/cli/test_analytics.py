"""`messor analytics` and `messor query`, from empty tables to answers."""

from __future__ import annotations

import asyncio
import json

from messor.store.database import Database
from tests.analytics.stage import stage_everything
from tests.cli.conftest import Messor


def test_tables_are_filled_asked_and_queried(messor: Messor, dsn: str) -> None:
    empty = messor("query", "SELECT 1")
    assert (empty.code, "messor analytics sync" in empty.err) == (5, True)

    async def stage() -> None:
        async with Database(dsn) as database:
            await stage_everything(database)

    asyncio.run(stage())
    assert messor("analytics", "sync", "--json").json["was_filled"]
    assert "0 changes applied" in messor("analytics", "sync").err
    sizes = {
        one["name"]: one["rows"] for one in messor("analytics", "status", "--json").json["tables"]
    }
    assert (sizes["products"], sizes["candidates"]) == (4, 5)
    asked = messor("analytics", "ask", "price-spread")
    assert "Kitchen > Kettles" in asked.out
    assert "████" in asked.out
    steps = messor("analytics", "ask", "funnel", "--json").json
    assert {one["step"]: one["number"] for one in steps}["approved"] == 1
    found = messor(
        "query", "SELECT domain, count(*) AS n FROM products GROUP BY 1 ORDER BY 1", "--json"
    )
    assert found.json == [{"domain": "shop.example", "n": 2}, {"domain": "store.example", "n": 2}]
    cut = messor("query", "SELECT id FROM products", "--rows", "1")
    assert "There are more rows than these 1." in cut.err
    refused = messor("query", "SELECT * FROM read_csv('/etc/passwd')")
    assert (refused.code, "root:" in refused.out + refused.err) == (2, False)
    events = messor("events", "--type", "analytics.queried", "--json").out.splitlines()
    assert {json.loads(line)["data"]["rows"] for line in events} == {1, 2, None}
    unlimited = messor("analytics", "ask", "funnel", "--category", "x")
    assert (unlimited.code, "cannot be limited by category" in unlimited.err) == (2, True)
    assert messor("analytics", "rebuild", "--json").json["tables"]["products"] == 4
