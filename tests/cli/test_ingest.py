"""`messor crawl --mode`: progress on one stream, tiles and evidence on the other."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from messor.ingest import runs
from messor.store.database import Database
from simweb.answers import SimResponse, plain
from tests.cli.conftest import Messor, Said, run_process
from tests.little_web import LittleWeb, Room, page

ROOMS: dict[str, Room] = {
    "/": page("Home", "/about", "/contact"),
    "/about": page("About us"),
    "/contact": page("Contact"),
}


@asynccontextmanager
async def site(folder: Path, rooms: Mapping[str, Room]) -> AsyncIterator[dict[str, str]]:
    """A site, and the environment that lets a process of Messor in."""
    async with LittleWeb(folder, {"one.test": rooms}) as web:
        networks = web.settings().allowed_networks
        yield {
            "MESSOR_ALLOWED_NETWORKS": networks.model_dump_json(),
            "MESSOR_CONTACT": "https://example.invalid/tests",
            "MESSOR_DATA_DIR": str(folder / "data"),
        }


async def messor_process(folder: Path, env: Mapping[str, str], *words: str) -> Said:
    return await asyncio.to_thread(run_process, *words, folder=folder, **env)


async def test_a_light_run_shows_tiles_and_evidence(dsn: str, tmp_path: Path) -> None:
    async with site(tmp_path, ROOMS) as env:
        env["MESSOR_DATABASE_URL"] = dsn
        said = await messor_process(
            tmp_path, env, "crawl", "http://one.test/", "--mode", "light", "--orbit", "mine"
        )
        assert said.code == 0, said.err
        assert "Contact" in said.out
        assert "http://one.test/about" in said.out
        assert (
            "success: orbit mine, 3 pages planned, 3 fetched, 3 used, 0 from the cache" in said.out
        )
        assert "fetching: 3 pages planned" in said.err
        again = await messor_process(
            tmp_path, env, "crawl", "http://one.test/", "--mode", "light", "--json"
        )
        response = json.loads(again.out)
        assert set(response) == {"success", "tiles", "evidence"}
        assert response["evidence"]["nm_ingest"]["cacheHits"] == 3
        assert len(response["tiles"]) == 3


async def test_pages_may_come_from_a_file(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "pages.txt").write_text("# mine\nhttp://one.test/about\n\n")
    async with site(tmp_path, ROOMS) as env:
        env["MESSOR_DATABASE_URL"] = dsn
        words = (
            "crawl",
            "http://one.test/",
            "--mode",
            "user_assisted",
            "--pages-from",
            "pages.txt",
        )
        said = await messor_process(
            tmp_path, env, *words, "--page", "http://one.test/contact", "--json"
        )
        assert said.code == 0, said.err
        sources = [tile["sourceUrl"] for tile in said.json["tiles"]]
        assert sorted(sources) == ["http://one.test/about", "http://one.test/contact"]
        assert said.json["evidence"]["nm_ingest"]["pagesFetched"] == 2


async def test_a_blocked_site_says_what_can_be_done(dsn: str, tmp_path: Path) -> None:
    async with site(tmp_path, {"/": plain(403, "no")}) as env:
        env["MESSOR_DATABASE_URL"] = dsn
        said = await messor_process(tmp_path, env, "crawl", "http://one.test/", "--mode", "light")
        assert said.code == 7
        assert "403" in said.out
        assert "--mode user_assisted" in said.out
        assert "messor import" in said.out
        assert said.err.splitlines()[-1].startswith("messor: No content was read from one.test: ")


async def test_a_process_that_is_killed_leaves_an_unfinished_run(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    async with site(tmp_path, {"/robots.txt": SimResponse(200, silent=True)}) as env:
        words = ("-m", "messor", "crawl", "http://one.test/", "--mode", "light")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            cwd=tmp_path,
            env={**os.environ, **env, "MESSOR_DATABASE_URL": dsn},
            stderr=subprocess.DEVNULL,
        )
        try:
            await _until_a_run_is_seen(database)
        finally:
            process.kill()
            await process.wait()
        (run,) = await runs.unfinished(database)
        assert (run.stage, run.outcome) == ("discovering", None)


async def _until_a_run_is_seen(database: Database) -> None:
    async with asyncio.timeout(180):
        while True:
            if await runs.unfinished(database):
                return
            await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    "words",
    [
        ("--mode", "user_assisted"),
        ("--mode", "light", "--page", "http://one.test/a"),
        ("--mode", "light", "--depth", "2"),
        ("--mode", "light", "--orbit", "Not A Slug"),
        ("--page", "http://one.test/a"),
    ],
)
def test_words_that_do_not_fit_together_are_one_sentence(
    messor: Messor, words: tuple[str, ...]
) -> None:
    said = messor("crawl", "http://one.test/", *words)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("messor: ")
    assert len(said.err.splitlines()) == 1


def test_a_refused_domain_is_a_conflict(messor: Messor) -> None:
    messor("domains", "submit", "one.test")
    messor("domains", "reject", "one.test", "--reason", "not ours")
    said = messor("crawl", "http://one.test/", "--mode", "light")
    assert said.code == 5
    assert "not ours" in said.err
