"""A domain that waits for review: the worker takes a first look at it, and nothing else."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from messor.governance import decisions, intake
from messor.registry import domains, preflights
from messor.registry.submissions import Submitter
from messor.store.database import Database
from tests.crawling import TESTER, at_work, crawl
from tests.little_web import LittleWeb, page
from tests.registry.standing import only


async def test_a_worker_takes_the_look_and_nothing_else(database: Database, tmp_path: Path) -> None:
    rooms = {"/": page("Home", "/a"), "/a": page("A")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings(default_delay=0.05)
        async with database.transaction() as connection:
            await intake.submit_domain(connection, "http://one.test/", Submitter(TESTER))
        async with at_work(settings, database):
            async with asyncio.timeout(60):
                while True:
                    domain = await domains.get(database, "one.test")
                    found = await preflights.newest(database, domain)
                    if found is not None and found.finished_at is not None:
                        break
                    await asyncio.sleep(0.02)
            await asyncio.sleep(1.0)
        assert [r.path for r in web.requests("one.test")] == ["/robots.txt", "/", "/sitemap.xml"]
        assert found.report is not None
        assert found.report.title == "Home"
        rows = await database.fetch(
            "SELECT rule, outcome FROM messor.http_fetches ORDER BY fetched_at"
        )
        assert [r["rule"] for r in rows] == ["preflight"] * 3
        assert await only(database, "SELECT count(*) FROM messor.page_snapshots") == 0
        async with database.transaction() as connection:
            await decisions.approve(connection, "one.test", actor=TESTER)
        await crawl(settings, database)
        assert "/a" in web.paths("one.test")
        urls = await database.fetch(
            "SELECT p.url, t.kind FROM messor.crawl_tasks t JOIN messor.pages p ON p.id=t.page_id JOIN messor.page_snapshots s ON s.page_id = p.id"
        )
        assert sorted((r["url"], r["kind"]) for r in urls) == [
            ("http://one.test/", "page"),
            ("http://one.test/a", "page"),
        ]


async def test_a_site_without_https_is_looked_at_over_http(
    database: Database, tmp_path: Path
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        async with LittleWeb(tmp_path, {"one.test": {"/": page("Home")}}) as web:
            settings = web.settings(default_delay=0.05)
            networks = settings.allowed_networks
            port = closed.getsockname()[1]
            networks.names["one.test:443"] = f"127.0.0.1:{port}"
            networks.ports.append(port)
            async with database.transaction() as connection:
                await intake.submit_domain(connection, "one.test", Submitter(TESTER))
            async with at_work(settings, database), asyncio.timeout(60):
                while True:
                    domain = await domains.get(database, "one.test")
                    found = await preflights.newest(database, domain)
                    if found is not None and found.finished_at is not None:
                        break
                    await asyncio.sleep(0.02)
            report = found.report
            assert report is not None
            assert (report.url, report.title, found.requests) == ("http://one.test/", "Home", 3)
            assert report.https_error == "the connection was refused"
            assert "over http as https does not connect" in report.message
            assert [r.path for r in web.requests("one.test")] == [
                "/robots.txt",
                "/",
                "/sitemap.xml",
            ]
