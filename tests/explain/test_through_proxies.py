"""A pool in which some proxies are bad: pages come through the others, at the same pace."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path

from messor.explain.why import explain
from messor.fetch.proxies import registry
from messor.fetch.proxies.proxy import understand
from messor.fetch.proxies.seal import seal_for
from messor.ops import vitals
from messor.settings import Settings
from messor.store.database import Database
from tests.crawling import admit, at_work, crawl, outcomes
from tests.little_web import LittleWeb, Room, page
from tests.proxy_servers import PASSWORD, USER, ProxyServer

HOME = "http://one.test/"
PATHS = [f"/{number}" for number in range(12)]
ROOMS: dict[str, Room] = {
    "/": page("Home", *PATHS),
    **{path: page(f"Page {path}") for path in PATHS},
}
DELAY = 0.05


async def add(
    database: Database, settings: Settings, server: ProxyServer, password: str = PASSWORD
) -> int:
    endpoint, _ = understand(server.url())
    async with database.transaction() as connection:
        known = await registry.add(
            connection, seal_for(settings), endpoint, password, actor="tester", trusted=True
        )
    return known.id


async def test_with_half_of_the_proxies_bad_every_page_comes(
    database: Database, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(LittleWeb(tmp_path, {"one.test": ROOMS}))
        settings = web.settings(data_dir=tmp_path / "data")
        servers = [
            await stack.enter_async_context(ProxyServer(login=(USER, PASSWORD))) for _ in range(6)
        ]
        bad = {await add(database, settings, server, "wrong") for server in servers[:2]}
        servers[1].stranger = 401
        servers[2].refusal = 403
        bad.add(await add(database, settings, servers[2]))
        good = {await add(database, settings, server) for server in servers[3:]}
        await admit(database, HOME, delay=DELAY, proxies="pool")
        await crawl(settings, database)
        asked = web.requests("one.test")
        found = await outcomes(database)
        assert [found[f"{HOME}{path[1:]}"] for path in ["/", *PATHS]] == ["ok"] * 13
        # One request for each page: proxies never multiply a host's rate.
        assert len([one.path for one in asked]) == len({one.path for one in asked})
        gaps = [(after.arrived_ns - before.arrived_ns) / 1e9 for before, after in pairwise(asked)]
        assert min(gaps) > DELAY * 0.9
        known = {row.id: row for row in await registry.listing(database)}
        assert all(known[one].success_count == 0 and known[one].failures for one in bad)
        assert all(known[one].success_count for one in good)
        assert max(known[one].failures for one in bad) < len(asked) / 2  # they rest
        said = [fact.sentence for fact in (await explain(database, settings, HOME)).facts]
        told = next(sentence for sentence in said if "proxies are active" in sentence)
        assert "3 failed at their last use" in told
        for words in ("it refused the login (407)", "it refused the login (401)", "(403)"):
            assert words in told
        found_vitals = await vitals.vitals(database)
        assert found_vitals.proxies_failing == 3


async def test_without_a_good_proxy_the_site_is_not_blamed(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web, ProxyServer() as server:
        settings = web.settings(data_dir=tmp_path / "data")
        server.login = (USER, PASSWORD)
        server.stranger = 401
        await add(database, settings, server, "wrong")
        await admit(database, HOME, delay=DELAY, proxies="pool")
        async with at_work(settings, database), asyncio.timeout(60):
            while not (await registry.standing(database)).failing:  # noqa: ASYNC110 - in the database
                await asyncio.sleep(0.05)
        assert web.requests() == []
        row = await database.fetchrow("SELECT risk_score, robots_id FROM messor.hosts")
        assert row is not None
        assert (row["risk_score"], row["robots_id"]) == (0, None)  # no robots.txt was put in force
        why = await explain(database, settings, HOME)
        assert "it refused the login (401)" in " ".join(fact.sentence for fact in why.facts)
