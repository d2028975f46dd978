"""Runs of `messor crawl`: their limits are their own, what is fresh stays, and Ctrl-C is not the end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from messor.cli import run_workers
from messor.core import clock
from messor.frontier import runs
from messor.frontier.runs import CrawlRun
from messor.store import space
from messor.store.database import Connection, Database
from messor.store.space import Space
from tests.cli.conftest import Messor, without_extraction
from tests.crawling import until
from tests.little_web import LittleWeb, Room, page
from tests.serving import Serving, let_in

SHOP = "shop.test"
HOME = f"http://{SHOP}/"
# A line of pages: / leads to /1, that to /2 and so on, each to its own leaf as well.
LINE = 6


def rooms() -> dict[str, Room]:
    made: dict[str, Room] = {"/": page("Home", "/1")}
    for number in range(1, LINE + 1):
        made[f"/{number}"] = page(f"Page {number}", f"/{number + 1}", f"/leaf-{number}")
        made[f"/leaf-{number}"] = page(f"Leaf {number}")
    return made


@pytest.fixture
def messor(messor: Messor) -> Messor:
    return without_extraction(messor)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    with Serving(LittleWeb(tmp_path, {SHOP: rooms()})) as web:
        let_in(web, monkeypatch)
        yield web


def pages_asked(web: LittleWeb, since: int = 0) -> list[str]:
    asked = [each.path for each in web.requests(SHOP)][since:]
    return [path for path in asked if path not in ("/robots.txt", "/sitemap.xml")]


def terms(messor: Messor) -> dict[str, object]:
    shown = messor("domains", "show", SHOP, "--json").json
    names = ("max_crawl_depth", "crawl_delay_seconds", "page_budget", "harvest", "policy_version")
    return {name: shown[name] for name in names}


def test_depth_0_is_the_named_url_alone_and_the_domain_stays_as_it_was(
    messor: Messor, web: LittleWeb
) -> None:
    known = messor("crawl", HOME, "--json").json["outcomes"]
    before, asked = terms(messor), len(web.requests(SHOP))
    said = messor(
        "crawl", f"{HOME}3", "--depth", "0", "--delay", "0.1", "--max-pages", "1", "--json"
    )
    assert said.code == 0, said.err
    assert pages_asked(web, asked) == ["/3"]  # past the cache, and nothing else
    assert (said.json["fetched"], said.json["outcomes"]) == (1, {"unchanged": 1})
    assert terms(messor) == before
    after = messor("crawl", HOME, "--json").json["outcomes"]
    assert sum(after.values()) == sum(known.values())
    assert set(after) <= {"ok", "unchanged"}  # nobody's pages were refused for that depth


def test_depth_counts_from_the_named_url(messor: Messor, web: LittleWeb) -> None:
    said = messor("crawl", f"{HOME}4", "--depth", "1", "--json")
    assert said.code == 0, said.err
    assert sorted(pages_asked(web)) == ["/4", "/5", "/leaf-4"]
    assert said.json["outcomes"] == {"ok": 3}
    assert terms(messor)["max_crawl_depth"] == 3
    assert f"done         {HOME}4  depth 1" in messor("domains", "show", SHOP).out


def test_a_run_goes_beyond_the_depth_of_its_domain(messor: Messor, web: LittleWeb) -> None:
    messor("crawl", HOME)
    assert "/5" not in pages_asked(web)  # the domain's depth of 3 ends before
    asked = len(web.requests(SHOP))
    said = messor("crawl", f"{HOME}3", "--depth", "2", "--json")
    assert said.code == 0, said.err
    # What was fresh is not asked for again, but for those whose links nobody had followed.
    assert (
        {"/3", "/5", "/leaf-4"}
        <= set(pages_asked(web, asked))
        <= {"/3", "/4", "/5", "/leaf-3", "/leaf-4"}
    )
    assert said.json["outcomes"].get("depth") is None
    assert messor("domains", "show", SHOP).out.count("depth 3")
    # Nothing beyond the domain's depth comes back by itself, or is refused for it.
    explained = messor("why", f"{HOME}5", "--json").json
    assert not any("last refused" in fact["sentence"] for fact in explained["facts"])


def test_a_deeper_run_after_a_shallow_one_goes_on_from_fresh_pages(
    messor: Messor, web: LittleWeb
) -> None:
    messor("crawl", HOME, "--depth", "1")
    assert sorted(pages_asked(web)) == ["/", "/1"]
    asked = len(web.requests(SHOP))
    said = messor("crawl", HOME, "--depth", "3", "--json")
    assert said.code == 0, said.err
    assert sorted(pages_asked(web, asked)) == ["/", "/2", "/3", "/leaf-1", "/leaf-2"]
    assert (said.json["fetched"], said.json["fresh"]) == (5, 1)


def test_a_second_crawl_fetches_what_is_due_and_refetch_fetches_all(
    messor: Messor, web: LittleWeb
) -> None:
    first = messor("crawl", HOME, "--json").json
    assert first["fetched"] == len(pages_asked(web))
    asked = len(web.requests(SHOP))
    again = messor("crawl", HOME, "--json")
    assert pages_asked(web, asked) == ["/"]
    assert "Not due and not fetched: " in again.err
    asked = len(web.requests(SHOP))
    assert messor("crawl", HOME, "--refetch").code == 0
    assert len(pages_asked(web, asked)) == first["fetched"]


@pytest.mark.parametrize(
    "words",
    [
        ("crawl", HOME),
        ("crawl", HOME, "--refetch"),
        ("domains", "submit", SHOP, "--rescrape"),
        ("tasks", "recrawl", "--domain", SHOP),
    ],
)
def test_what_a_deep_run_brought_is_never_refused_for_its_depth(
    messor: Messor, web: LittleWeb, words: tuple[str, ...]
) -> None:
    deep = messor("crawl", HOME, "--depth", "5", "--json").json["outcomes"]
    asked = len(web.requests(SHOP))
    assert messor(*words).code == 0
    after = messor("crawl", HOME, "--json").json["outcomes"]
    assert sum(after.values()) >= sum(deep.values())
    assert set(after) <= {"ok", "unchanged", "not_found", "waiting"}
    assert "/5" not in pages_asked(web, asked)  # the domain's own depth of 3 ends before


def test_a_page_beyond_the_depth_is_fetched_again_when_its_task_is_named(
    messor: Messor, web: LittleWeb
) -> None:
    messor("crawl", HOME, "--depth", "5")
    asked = len(web.requests(SHOP))
    assert messor("tasks", "recrawl", "--url", f"{HOME}5").code == 0
    assert messor("crawl", HOME).code == 0
    assert "/5" in pages_asked(web, asked)


def test_max_pages_is_the_runs(messor: Messor, web: LittleWeb) -> None:
    said = messor("crawl", HOME, "--max-pages", "3", "--json")
    assert said.code == 0, said.err
    assert len(pages_asked(web)) == 3
    assert " more links: --max-pages 3 was reached." in said.err
    assert terms(messor)["page_budget"] == 10_000


def test_the_delay_of_a_run_only_slows_down(
    messor: Messor, web: LittleWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_DEFAULT_DELAY", "0.4")
    said = messor("crawl", HOME, "--depth", "1", "--delay", "0")
    assert "a run may be slower, not faster" in said.err
    assert messor("crawl", f"{HOME}2", "--depth", "1", "--delay", "0.8").code == 0
    times = [each.arrived_ns / 1e9 for each in web.requests(SHOP)]
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= 0.39
    assert min(gaps[-2:]) >= 0.79
    assert terms(messor)["crawl_delay_seconds"] is None


def test_an_interrupted_crawl_says_so_and_the_same_command_goes_on(
    messor: Messor, web: LittleWeb, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESSOR_DEFAULT_DELAY", "0.5")
    words = ("crawl", HOME, "--depth", "5", "--json")

    async def interrupted() -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "messor", *words,
            cwd=tmp_path, env=dict(os.environ), stdout=-1, stderr=-1,
        )  # fmt: skip
        await until(lambda: len(pages_asked(web)) >= 3)
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), 60)
        return process.returncode or 0, out.decode(), err.decode()

    code, out, err = asyncio.run(interrupted())
    assert code == 130
    assert "Interrupted" in err
    assert "Run the same command again to continue" in err
    assert '"status": "interrupted"' in out
    done = pages_asked(web)
    monkeypatch.setenv("MESSOR_DEFAULT_DELAY", "0")
    said = messor(*words)
    assert said.code == 0, said.err
    assert "Resuming the crawl" in said.err
    assert said.json["status"] == "done"
    rest = pages_asked(web)[len(done) :]
    assert not set(rest) & set(done)
    assert said.json["outcomes"] == {"ok": len(done) + len(rest)}


def test_other_domains_are_none_of_a_runs_business(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Serving(LittleWeb(tmp_path, {SHOP: rooms(), "other.test": {"/": page("Other")}})) as web:
        let_in(web, monkeypatch)
        messor("domains", "submit", "http://other.test/")
        messor("domains", "approve", "other.test")
        assert messor("crawl", HOME, "--depth", "0").code == 0
        assert web.requests("other.test") == []


def test_a_disk_that_gets_low_midway_is_told_and_the_run_goes_on_after(
    messor: Messor, web: LittleWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(_: Space) -> str | None:
        asked = pages_asked(web)
        if asked and not told:
            told.append(clock.now())
        return "the disk is full" if told and clock.now() - told[0] < 2.0 else None

    told: list[float] = []
    monkeypatch.setattr(Space, "_measure", look)
    monkeypatch.setattr(space, "CACHE_SECONDS", 0.1)
    said = messor("crawl", HOME, "--delay", "0.3", "--json")
    assert said.code == 0, said.err
    assert said.err.count("Fetching and extracting are paused: the disk is full.") == 1
    assert said.err.count("There is enough disk space again: work resumes.") == 1
    assert said.json["fetched"] == len(pages_asked(web))


@pytest.mark.parametrize("error", [asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError])
def test_a_run_outlives_a_lock_that_its_command_could_not_get(
    error: type[Exception], messor: Messor, web: LittleWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[UUID] = []
    ended: list[str] = []
    see, end = runs.see, runs.end

    async def ends_beside_a_flush(connection: Connection, run: CrawlRun, status: str) -> None:
        ended.append(status)
        if len(ended) == 1:
            raise error("another transaction was in the way")
        await end(connection, run, status)

    async def meets_a_flush(database: Database, run_id: UUID) -> None:
        met.append(run_id)
        if len(met) == 1:
            raise error("another transaction was in the way")
        await see(database, run_id)

    monkeypatch.setattr(runs, "see", meets_a_flush)
    monkeypatch.setattr(runs, "end", ends_beside_a_flush)
    monkeypatch.setattr(run_workers, "HEARTBEAT_SECONDS", 0.1)
    said = messor("crawl", HOME, "--depth", "1", "--json")
    assert said.code == 0, said.err
    assert sorted(pages_asked(web)) == ["/", "/1"]
    assert len(met) > 1
    assert ended == ["done", "done"]


def depths(messor: Messor) -> dict[str, object]:
    rows = messor("pages", SHOP, "--json").json
    return {row["url"].removeprefix(HOME): row["depth"] for row in rows}


def test_a_url_known_by_name_is_no_start_of_later_crawls(messor: Messor, web: LittleWeb) -> None:
    web.houses[SHOP].rooms["/"] = page("Home")  # nothing leads to the line of pages
    assert messor("crawl", f"{HOME}4", "--depth", "0").code == 0
    assert depths(messor).get("4", "not stored") is None
    asked = len(web.requests(SHOP))
    assert messor("crawl", HOME, "--refetch").code == 0
    assert sorted(pages_asked(web, asked)) == ["/", "/4"]  # requested once, crawled from now on
    assert "no way from the homepage to it is known" in messor("why", f"{HOME}4").out


def test_a_crawl_without_limits_counts_the_domains_depth_from_the_named_url(
    messor: Messor, web: LittleWeb
) -> None:
    web.houses[SHOP].rooms["/"] = page("Home")
    assert messor("crawl", HOME).code == 0
    assert messor("domains", "configure", SHOP, "--depth", "1").code == 0
    assert messor("crawl", f"{HOME}2").code == 0
    assert sorted(pages_asked(web)) == ["/", "/2", "/3", "/leaf-2"]


def test_a_shorter_way_to_a_page_lowers_its_depth_and_its_links_are_followed(
    messor: Messor, web: LittleWeb
) -> None:
    web.houses[SHOP].rooms["/"] = page("Home")
    assert messor("crawl", f"{HOME}4", "--depth", "0").code == 0
    web.houses[SHOP].rooms["/"] = page("Home", "/4")
    assert messor("crawl", HOME, "--refetch").code == 0
    assert depths(messor)["4"] == 1
    # The page itself is as it was before; its links were of no interest then.
    assert messor("crawl", HOME, "--refetch").code == 0
    assert {"/5", "/leaf-4"} <= set(pages_asked(web))
    assert (depths(messor)["5"], depths(messor)["leaf-4"]) == (2, 2)
