"""Requests of site owners: shown by a record or a file, they are fulfilled at once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.governance import owners, site_proofs
from messor.governance.owners import OwnerRequest
from messor.registry import domains
from messor.store.database import Database
from simweb.answers import plain
from tests.crawling import admit, crawl, later
from tests.little_web import LittleWeb, page


async def ask(database: Database, wish: str, domain: str = "one.test") -> tuple[OwnerRequest, str]:
    async with database.transaction() as connection:
        made, token = await owners.ask(
            connection, domain, wish, contact="owner@one.test", source="form"
        )
    return made, token.reveal()


def zone(**records: str) -> owners.TxtLookup:
    async def lookup(name: str) -> list[str]:
        return [records[name]] if name in records else []

    return lookup


async def status(database: Database) -> str:
    return (await domains.get(database, "one.test")).status


async def test_an_opt_out_shown_by_a_record_counts_at_once(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("Home")}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        made, token = await ask(database, "opt_out")
        with pytest.raises(ConflictError, match="does not hold"):
            await owners.check_record(database, made, zone())
        other = {made.record_name: "messor-verify=0000"}
        with pytest.raises(ConflictError, match="does not hold"):
            await owners.check_record(database, made, zone(**other))
        assert await status(database) == "approved"
        done = await owners.check_record(database, made, zone(**{made.record_name: made.line}))
        assert done.state == "proved"
        assert await status(database) == "blacklisted"
        before = len(web.requests())
        await crawl(web.settings(), database)
        assert len(web.requests()) == before
    domain = await domains.get(database, "one.test")
    assert "owner asked to stop fetching" in (domain.rejection_reason or "")
    assert (await owners.find(database, token)).outcome == "one.test is not fetched any more."
    with pytest.raises(ConflictError, match="fulfilled"):
        await owners.check_record(database, done, zone(**{made.record_name: made.line}))


async def test_an_erasure_shown_by_a_file_is_fetched_at_the_sites_pace(
    database: Database, tmp_path: Path
) -> None:
    """Also where robots.txt disallows everything: the owner asked for this one file."""
    async with LittleWeb(tmp_path, {"one.test": {"/": page("Home")}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        rooms = web.houses["one.test"].rooms
        rooms["/robots.txt"] = plain(200, "User-agent: *\nDisallow: /\n")
        made, token = await ask(database, "erase")
        async with database.transaction() as connection:
            await owners.check_file(connection, made)
        rooms[site_proofs.FILE] = plain(200, "messor-verify=other\n")
        await crawl(web.settings(), database)
        found = await owners.find(database, token)
        assert found.state == "waiting"
        assert await owners.file_standing(database, found) == (
            "refused",
            "the file does not hold the expected line",
        )
        assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == 1
        rooms[site_proofs.FILE] = plain(200, f"# ours\n{made.line}\n")
        async with database.transaction() as connection:
            await owners.check_file(connection, made)
        await crawl(web.settings(), database)
    found = await owners.find(database, token)
    assert (found.state, found.method) == ("proved", "file")
    assert await status(database) == "blacklisted"
    assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == 0
    erased = "SELECT reason FROM messor.erasures WHERE kind = 'domain' AND key = 'one.test'"
    assert "its owner asked to stop fetching" in await database.fetchval(erased)


async def test_a_domain_that_is_not_known_can_be_opted_out(database: Database) -> None:
    made, _ = await ask(database, "opt_out", "never.example")
    with pytest.raises(ConflictError, match="TXT record"):
        async with database.transaction() as connection:
            await owners.check_file(connection, made)
    await owners.check_record(database, made, zone(**{made.record_name: made.line}))
    assert (await domains.get(database, "never.example")).status == "blacklisted"


async def test_a_request_expires(database: Database, dsn: str) -> None:
    made, token = await ask(database, "opt_out")
    async with Database(later(dsn, timedelta(days=8))) as moved:
        found = await owners.find(moved, token)
        assert found.state == "expired"
        with pytest.raises(ConflictError, match="expired"):
            await owners.check_record(moved, found, zone(**{made.record_name: made.line}))


async def test_bad_input_is_one_sentence(database: Database) -> None:
    with pytest.raises(UsageError):
        await ask(database, "opt_out", "not a domain")
    with pytest.raises(UsageError, match="Choose"):
        await ask(database, "sing")
    with pytest.raises(NotFoundError):
        await owners.find(database, "x" * 43)
    for _ in range(owners.MAX_OPEN):
        await ask(database, "report")
    with pytest.raises(ConflictError, match="Too many"):
        await ask(database, "report")
