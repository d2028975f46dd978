"""A page that ends its reader's process: blamed, caged, and of no harm to the others."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from messor.crawl.crash_markers import BlamedDomains, CrashMarker, bury_dead
from messor.crawl.sandboxed_reader import SandboxedReader
from messor.errors import LeaseLostError
from messor.fetch.outcome import Outcome
from messor.politeness.lanes import DESCRIBE
from messor.politeness.lease import WorkerLease
from messor.store.database import Database
from messor.web.html import PageReading, TooComplexError, read_page
from tests.crawling import admit, crawl, outcomes
from tests.held_lanes import claim, lane_row, lease, make_domain, make_lanes
from tests.little_web import LittleWeb, Room, page
from tests.web.nesting_check import KILLER

DIE_WHILE_READING = """
import os, signal, sys
from pathlib import Path
from messor.crawl.crash_markers import CrashMarker
mark = CrashMarker(Path(sys.argv[1]), int(sys.argv[2]))
call = mark.calling()
if "calling" in sys.argv:
    call.__enter__()
mark.set(int(sys.argv[3]))
os.kill(os.getpid(), signal.SIGSEGV)
"""


async def test_a_page_whose_reader_died_is_blamed_once(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home")}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
    page_id = await database.fetchval("SELECT page_id FROM messor.crawl_tasks WHERE kind = 'page'")
    holder = await lease(database, seconds=0.01)
    await die(tmp_path, holder, page_id=page_id)
    assert await bury_dead(database, tmp_path) == [page_id]
    assert await bury_dead(database, tmp_path) == []
    assert await database.fetchval("SELECT deaths FROM messor.crawl_tasks WHERE kind = 'page'") == 1
    assert await database.fetchval("SELECT caged FROM messor.hosts")


async def die(folder: Path, holder: WorkerLease, *words: str, page_id: int = 0) -> None:
    """Let a process with that worker lease die."""
    died = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DIE_WHILE_READING, folder, str(holder.id), str(page_id), *words
    )
    assert await died.wait() == -signal.SIGSEGV


NOW = "SELECT messor.clock()"
OPEN_RUN = """
INSERT INTO messor.crawl_runs (id, domain_id, url, page_id, started_by, bounded, delay)
SELECT gen_random_uuid(), $1, url, id, 'tester', false, $2 FROM messor.pages
"""


@pytest.mark.parametrize("run_delay, wait", [(None, 7), (5, 7), (20, 20)])
async def test_the_lanes_of_a_dead_worker_wait_their_delay_and_not_its_lease(
    database: Database, tmp_path: Path, run_delay: float | None, wait: float
) -> None:
    """The delay is the lane's, or that of an open run if it is longer."""
    domain_id = await make_domain(database, delay=7)
    (host_id,) = await make_lanes(database, domain_id)
    if run_delay is not None:
        await database.fetch(OPEN_RUN, domain_id, run_delay)
    holder = await lease(database, seconds=600)
    await claim(database, holder)
    await die(tmp_path, holder)
    died_at = await database.fetchval(NOW)
    await bury_dead(database, tmp_path)
    row, buried_at = await lane_row(database, host_id), await database.fetchval(NOW)
    assert (row["worker_id"], row["slots"], row["claim_at"]) == (None, 0, row["ready_at"])
    assert died_at <= row["ready_at"] - timedelta(seconds=wait) <= buried_at
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a test may wait
    with pytest.raises(LeaseLostError):
        async with database.transaction() as connection:
            await holder.renew(connection, 1)


async def test_lanes_wait_for_the_lease_while_a_service_may_contact_the_site(
    database: Database, tmp_path: Path
) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    holder = await lease(database, seconds=600)
    await claim(database, holder)
    await die(tmp_path, holder, "calling")
    await bury_dead(database, tmp_path)
    assert (await lane_row(database, host_id))["worker_id"] == holder.id


async def test_the_lanes_of_a_living_worker_stay_its_own(
    database: Database, tmp_path: Path
) -> None:
    (host_id,) = await make_lanes(database, await make_domain(database))
    holder = await lease(database, seconds=600)
    await claim(database, holder)
    with CrashMarker(tmp_path, holder.id) as mark:
        with mark.calling():
            await bury_dead(database, tmp_path)
        await bury_dead(database, tmp_path)
        assert (await lane_row(database, host_id))["worker_id"] == holder.id


async def test_a_living_reader_is_not_blamed(database: Database, tmp_path: Path) -> None:
    holder = await lease(database, seconds=60)
    with CrashMarker(tmp_path, holder.id) as mark:
        mark.set(7)
        assert await bury_dead(database, tmp_path) == []
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a test may wait


async def test_a_blamed_page_is_read_in_the_cage_and_kept(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadly(*args: object, **options: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async with LittleWeb(tmp_path, {"one.test": {"/": page("home")}}) as web:
        await admit(database, "http://one.test/")
        await database.fetch("UPDATE messor.hosts SET caged = true")
        monkeypatch.setattr("messor.crawl.read.read_page", deadly)  # here, not in the cage
        await crawl(web.settings(), database)
    assert (await outcomes(database))["http://one.test/"] == Outcome.OK
    assert await database.fetchval("SELECT title FROM messor.page_snapshots") == "home"


async def test_what_breaks_the_cage_is_too_complex() -> None:
    attributes = " ".join(f"a{n}=1" for n in range(500_000))
    cage = SandboxedReader(agent="MessorBot", memory=100_000_000)
    with pytest.raises(TooComplexError):
        await cage.read(f"<p {attributes}>", "http://one.test/")
    assert (await cage.read("<title>next</title>", "http://one.test/")).title == "next"
    await cage.close()


async def test_the_cage_reads_what_is_only_large() -> None:
    text = "<p>" + "word " * 2_000_000 + '</p><a href="/next">next</a>'
    cage = SandboxedReader(agent="MessorBot")
    reading = await cage.read(text, "http://one.test/")
    await cage.close()
    assert [link.href for link in reading.links] == ["http://one.test/next"]
    assert reading.text_length > 9_000_000


async def test_a_page_that_crashes_the_parser_ends_nothing_but_its_process() -> None:
    cage = SandboxedReader(agent="MessorBot")
    for _ in range(3):
        with pytest.raises(TooComplexError, match="or crashed"):
            await cage.read(KILLER, "http://one.test/")
    assert (await cage.read("<title>next</title>", "http://one.test/")).title == "next"
    await cage.close()


async def test_every_host_of_a_blamed_domain_is_caged_at_once(
    database: Database, tmp_path: Path
) -> None:
    """Without waiting for the lease of the dead, and for hosts that come later."""
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home")}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
    page_id = await database.fetchval("SELECT page_id FROM messor.crawl_tasks WHERE kind = 'page'")
    holder = await lease(database, seconds=600)
    await die(tmp_path, holder, page_id=page_id)
    blamed = BlamedDomains(tmp_path)
    assert await bury_dead(database, tmp_path) == [page_id]
    await blamed.refresh(database)
    assert blamed.domains == {await database.fetchval("SELECT id FROM messor.domains")}
    ids = "INSERT INTO messor.hosts (domain_id, host) SELECT id, 'new.one.test' FROM messor.domains"
    host_id = await database.fetchval(f"{ids} RETURNING id")
    await database.fetch(
        "INSERT INTO messor.lanes (host_id, domain_id) SELECT $1, id FROM messor.domains", host_id
    )
    (row,) = await database.fetch(DESCRIBE, [host_id])
    assert row["caged"]


async def test_the_first_pages_of_a_domain_are_looked_at_closely(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[object] = []

    def looking(html: str, url: str, **options: Any) -> PageReading:
        known.append(options["is_site_known"])
        return read_page(html, url, **options)

    monkeypatch.setattr("messor.crawl.read.read_page", looking)
    monkeypatch.setattr("messor.crawl.read.WARY_PAGES", 2)
    rooms: dict[str, Room] = {"/": page("home", "/1", "/2"), "/1": page("1"), "/2": page("2")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", delay=0.01)
        await crawl(web.settings(), database)
    assert known == [False, False, True]
