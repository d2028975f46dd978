"""Equal bytes at many addresses: each has a record, and none loses its bytes when another goes."""

from __future__ import annotations

import gzip
from datetime import timedelta
from pathlib import Path

import pytest

from messor.archive import erased_bytes
from messor.archive.hashes import raw_hash
from messor.archive.segments import seal_abandoned
from messor.archive.snapshot_content import read_body
from messor.governance import decisions, erasure, purges
from messor.governance.promotion import let_go
from messor.imports.import_run import import_pages
from messor.imports.sources import Source
from messor.ops import archive_audit
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import SimResponse
from simweb.documents import HTML
from tests import replaying
from tests.crawling import TESTER, admit, at_work, crawl, idle, later, outcomes
from tests.extraction.test_shell_sites import snapshots
from tests.little_web import LittleWeb, Room, page

NEEDS_PYWB = pytest.mark.skipif(replaying.WHY_NOT is not None, reason=str(replaying.WHY_NOT))
LEGAL = "/legal"
TEXT = b"<!doctype html><title>Legal</title><h1>Legal</h1><p>" + b"Nobody is liable. " * 200
PACKED = gzip.compress(TEXT, mtime=0)
FIRST, SECOND, THIRD = (f"http://{name}.test{LEGAL}" for name in ("one", "two", "three"))


def legal(host: str, *, packed: bool) -> SimResponse:
    """The same bytes everywhere, with a header that is the host's own."""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", HTML), ("X-House", host))
    if packed:
        headers += (("Content-Encoding", "gzip"),)
    return SimResponse(200, headers, PACKED if packed else TEXT)


def web_of(folder: Path, *, packed: bool = False) -> LittleWeb:
    hosts = ("one.test", "two.test", "three.test")
    rooms: dict[str, dict[str, Room]] = {
        host: {"/": page(f"Home of {host}", LEGAL), LEGAL: legal(host, packed=packed)}
        for host in hosts
    }
    return LittleWeb(folder, rooms)


async def harvest(database: Database, web: LittleWeb) -> Settings:
    """One host after another by one worker, so that the first has the bytes."""
    settings = web.settings()
    async with at_work(settings, database):
        for host in web.houses:
            await admit(database, f"http://{host}/")
            await idle(database)
    return settings


async def audited(database: Database, settings: Settings) -> dict[str, int]:
    report = await archive_audit.audit_sample(database, settings.data_dir / "archive", 1000)
    assert report.elsewhere == 0
    return dict(report.counts)


async def forget(database: Database, settings: Settings, *names: str) -> None:
    for name in names:
        async with database.transaction() as connection:
            await decisions.blacklist(connection, name, actor=TESTER, reason="spam")
            await purges.purge(connection, name, actor=TESTER)
    await let_go(settings, database)


def archived_text(settings: Settings) -> bytes:
    """Everything in the archive, as any tool unpacks it."""
    paths = replaying.segments(settings.data_dir)
    return b"".join(gzip.decompress(path.read_bytes()) for path in paths)


async def replays(folder: Path, settings: Settings, database: Database) -> None:
    """Every address that is kept replays in pywb as it was seen."""
    async with replaying.replay(folder, settings.data_dir) as pywb:
        for url, kept in (await snapshots(database, settings)).items():
            status, body = await pywb.get(url)
            assert (status, raw_hash(body)) == (200, kept["raw_hash"]), url


@NEEDS_PYWB
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
async def test_equal_bytes_are_stored_once_and_every_address_replays(
    database: Database, tmp_path: Path, packed: bool
) -> None:
    async with web_of(tmp_path, packed=packed) as web:
        settings = await harvest(database, web)
    kept = await snapshots(database, settings)
    assert {url: kept[url]["revisits"] for url in (FIRST, SECOND, THIRD)} == {
        FIRST: False,
        SECOND: True,
        THIRD: True,
    }
    assert {kept[url]["body"] for url in (FIRST, SECOND, THIRD)} == {TEXT}
    records = replaying.targets(settings.data_dir)
    assert sorted(url for _, url in records) == sorted(kept)
    assert [url for kind, url in records if kind == "revisit"] == [THIRD, SECOND]
    assert archived_text(settings).count(PACKED if packed else TEXT) == 1
    replaying.check(settings.data_dir)
    await replays(tmp_path / "pywb", settings, database)
    assert await audited(database, settings) == {}


@NEEDS_PYWB
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
async def test_before_an_original_goes_one_that_needs_it_gets_the_bytes(
    database: Database, tmp_path: Path, packed: bool
) -> None:
    async with web_of(tmp_path, packed=packed) as web:
        settings = await harvest(database, web)
    await forget(database, settings, "one.test")
    assert await erased_bytes.waiting(database) == 0
    kept = await snapshots(database, settings)
    assert {kept[url]["body"] for url in (SECOND, THIRD)} == {TEXT}
    assert (kept[SECOND]["revisits"], kept[THIRD]["revisits"]) == (False, True)
    left = archived_text(settings)
    assert b"one.test" not in left  # neither its address nor a reference to it
    assert left.count(PACKED if packed else TEXT) == 1
    assert left.count(b"X-House: two.test") == left.count(b"X-House: three.test") == 1
    replaying.check(settings.data_dir)
    await replays(tmp_path / "pywb", settings, database)
    assert await audited(database, settings) == {}

    await forget(database, settings, "two.test", "three.test")
    assert archived_text(settings).count(b"Nobody is liable") == 0
    assert await erased_bytes.waiting(database) == 0


async def test_one_that_refers_goes_alone(database: Database, tmp_path: Path) -> None:
    async with web_of(tmp_path) as web:
        settings = await harvest(database, web)
    before = await snapshots(database, settings)
    async with database.transaction() as connection:
        await erasure.erase_url(connection, THIRD, actor=TESTER, reason="asked")
    await let_go(settings, database)
    assert await erased_bytes.waiting(database) == 0
    kept = await snapshots(database, settings)
    assert kept == {url: each for url, each in before.items() if url != THIRD}
    assert b"three.test/legal" not in archived_text(settings)
    assert await audited(database, settings) == {}


async def test_a_promotion_that_is_cut_short_loses_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with web_of(tmp_path) as web:
        settings = await harvest(database, web)

    async def fails(*_: object) -> None:
        raise RuntimeError("the machine goes down")

    with monkeypatch.context() as patch:
        patch.setattr("messor.records.image_rows.move", fails)
        with pytest.raises(RuntimeError, match="goes down"):
            await forget(database, settings, "one.test")
    assert {each["body"] for each in (await snapshots(database, settings)).values()} >= {TEXT}
    assert await seal_abandoned(settings.data_dir / "archive", database) == 1
    await let_go(settings, database)
    assert await audited(database, settings) == {}
    assert b"one.test" not in archived_text(settings)


async def test_records_of_content_that_was_met_again_go_with_their_page(
    dsn: str, database: Database, tmp_path: Path
) -> None:
    """Other bytes, the same content: the second record is no snapshot's, and must not stay behind."""

    def nonce(number: int) -> SimResponse:
        body = TEXT + f"<!-- {number} -->".encode()
        return SimResponse(200, (("Content-Type", HTML),), body)

    rooms: dict[str, Room] = {"/": nonce(1)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/")
        await crawl(settings, database)
        web.houses["one.test"].rooms["/"] = nonce(2)
        async with Database(later(dsn, timedelta(days=2))) as tomorrow:
            await crawl(settings, tomorrow)
            assert (await outcomes(tomorrow))["http://one.test/"] == "unchanged"
    assert archived_text(settings).count(TEXT) == 2
    await forget(database, settings, "one.test")
    assert b"Nobody is liable" not in archived_text(settings)


async def test_a_picture_that_two_shops_share_stays_when_one_goes(
    database: Database, tmp_path: Path
) -> None:
    """Its row says where its bytes lie: that moves along."""
    async with web_of(tmp_path) as web:
        settings = await harvest(database, web)
    row = await database.fetchrow(
        """SELECT s.page_id, s.raw_hash, g.name || '@' || s.segment_offset || '+' || s.segment_length
                  AS path
             FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
             JOIN messor.segments g ON g.id = s.segment_id WHERE p.url = $1""",
        SECOND,
    )
    assert row is not None
    await database.fetch(
        """INSERT INTO messor.product_images (product_id, page_id, image_url, url_hash, position,
                  image_page_id, image_path, content_hash)
           SELECT 1, $1, $2, sha256(''), 1, $1, $3, $4""",
        row["page_id"],
        SECOND,
        row["path"],
        row["raw_hash"],
    )
    await forget(database, settings, "one.test")
    moved = await database.fetchval("SELECT image_path FROM messor.product_images")
    assert moved != row["path"]
    name, _, place = moved.partition("@")
    offset, _, length = place.partition("+")
    assert read_body(settings.data_dir / "archive", name, int(offset), int(length)) == TEXT


async def test_our_own_segments_are_imported_with_what_they_refer_to(
    database: Database, tmp_path: Path
) -> None:
    async with web_of(tmp_path) as web:
        settings = await harvest(database, web)
    segments = replaying.segments(settings.data_dir)
    await database.fetch("TRUNCATE messor.pages, messor.page_snapshots, messor.crawl_tasks CASCADE")
    elsewhere = settings.model_copy(update={"data_dir": tmp_path / "elsewhere"})
    hosts = [Submission.understand(f"{name}.test") for name in ("one", "two", "three")]
    report = await import_pages(
        database, elsewhere, [Source(path) for path in segments], actor=TESTER, approve=hosts
    )
    assert report.counts == {"ok": 6}, report
    kept = await snapshots(database, elsewhere)
    assert {kept[url]["body"] for url in (FIRST, SECOND, THIRD)} == {TEXT}
    # Without the record that it refers to, one says what is missing.
    whole = segments[0].read_bytes()
    start = whole.rindex(b"\x1f\x8b\x08")
    assert b"WARC-Type: revisit" in gzip.decompress(whole[start:])
    alone = tmp_path / "alone.warc.gz"
    alone.write_bytes(whole[start:])
    report = await import_pages(database, elsewhere, [Source(alone)], actor=TESTER)
    (result,) = report.results
    assert result.outcome == "error"
    assert result.reason == (
        f"its bytes are in another file, of {FIRST}; name that file before this one in the same import"
    )


async def test_refusals_and_blank_pages_are_what_the_archive_holds(
    database: Database, tmp_path: Path
) -> None:
    """Nothing was read of a refusal: its text is empty, and that is right."""
    denied = b"<html><head><title>Access denied</title></head><body>Access denied</body></html>"
    rooms: dict[str, Room] = {
        "/": page("home", "/denied", "/blank"),
        "/denied": SimResponse(403, (("Content-Type", HTML), ("Server", "cloudflare")), denied),
        "/blank": SimResponse(200, (("Content-Type", HTML),), b"<html><body> </body></html>"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/")
        await crawl(settings, database)
    texts = await snapshots(database, settings)
    assert {url for url, each in texts.items() if not each["markdown"]}
    assert await audited(database, settings) == {}
