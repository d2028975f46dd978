"""WARC and WACZ of a crawl with images: read by warcio, replayed by pywb in a real browser, offline."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import zlib
from hashlib import sha256
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest
from playwright.async_api import async_playwright
from warcio.archiveiterator import ArchiveIterator

from messor.archive.cdxj import key_of
from messor.errors import UsageError
from messor.exports import requests
from messor.exports.queries import Export
from messor.exports.requests import NewExport
from messor.exports.run import Folders, run
from messor.store.database import Database
from simweb import SimResponse
from simweb.documents import HTML
from tests import replaying
from tests.crawl.test_images import harvest, opened_bench, picture, product
from tests.extraction.test_extract import SHOP


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def whole_png() -> bytes:
    """A PNG of two by two pixels that a browser can draw."""
    head = struct.pack(">IIBBBBB", 2, 2, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"\x00\x7f\x7f" * 2)
    parts = (_chunk(b"IHDR", head), _chunk(b"IDAT", rows), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def with_images(page: SimResponse, *paths: str) -> SimResponse:
    shown = "".join(f'<img src="{path}">' for path in paths)
    body = page.body.replace(b"<h1>", f"{shown}<h1>".encode(), 1)
    return SimResponse(200, (("Content-Type", HTML),), body)


async def export(database: Database, folders: Folders, name: str) -> Path:
    async with database.transaction() as connection:
        made: Export = await requests.begin(connection, NewExport("pages", name, {}), actor="test")
    done = await run(database, folders, made.id)
    return requests.file_of(folders.exports, done)


async def exported(folder: Path, dsn: str) -> tuple[Path, Path]:
    """The WARC and the WACZ of a small shop, which is closed afterwards."""
    given = {path: picture(whole_png()) for path in ("/a.png", "/same.png")}
    async with opened_bench(folder, dsn, given) as b:
        rooms = b.web.houses[SHOP].rooms
        rooms["/kettle"] = with_images(product(*given), *given)
        await harvest(b)
        folders = Folders(folder / "out", b.settings.data_dir / "archive")
        folders.exports.mkdir()
        async with b.opened() as database:
            return (
                await export(database, folders, "warc"),
                await export(database, folders, "wacz"),
            )


@pytest.mark.skipif(replaying.WHY_NOT is not None, reason=str(replaying.WHY_NOT))
async def test_a_crawl_replays_alone_in_a_browser(tmp_path: Path, dsn: str) -> None:
    warc, wacz = await exported(tmp_path, dsn)
    judged = subprocess.run(  # noqa: ASYNC221 - a test
        [sys.executable, "-m", "warcio.cli", "check", str(warc)], capture_output=True, check=False
    )
    assert judged.returncode == 0, judged.stdout
    wanted = {f"http://{SHOP}{path}" for path in ("/", "/kettle", "/a.png", "/same.png")}
    with warc.open("rb") as stream:
        found = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(stream)
        ]
    # Equal bytes are archived once; in the copy every URL has its own.
    assert {url for kind, url in found if kind == "response"} == wanted
    assert {kind for kind, _ in found} == {"warcinfo", "response"}
    _check_package(wacz, wanted)
    async with (
        replaying.replay_files(tmp_path / "pywb", [wacz]) as pywb,
        async_playwright() as driver,
    ):
        browser = await driver.chromium.launch(
            executable_path="/usr/bin/chromium",
            chromium_sandbox=os.getuid() != 0,
            timeout=180_000,
            args=["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
        )
        page = await browser.new_page()
        await page.goto(f"{pywb.base}/seen/mp_/http://{SHOP}/kettle", timeout=120_000)
        shown = page.frame_locator("#replay_iframe")  # pywb frames what it replays
        assert await shown.locator("h1").inner_text() == "Kettle"
        widths = await shown.locator("img").evaluate_all(
            "all => Promise.all(all.map(x => x.decode().then(() => x.naturalWidth)))"
        )
        assert widths == [2, 2]
        await browser.close()


def _check_package(wacz: Path, wanted: set[str]) -> None:
    """What the specification asks of the package: parts, hashes, storage, index, pages."""
    with ZipFile(wacz) as package:
        described = json.loads(package.read("datapackage.json"))
        assert (described["profile"], described["wacz_version"]) == ("data-package", "1.1.1")
        for resource in described["resources"]:
            content = package.read(resource["path"])
            assert resource["bytes"] == len(content)
            assert resource["hash"] == f"sha256:{sha256(content).hexdigest()}"
        digest = json.loads(package.read("datapackage-digest.json"))
        about = package.read("datapackage.json")
        assert digest == {"path": "datapackage.json", "hash": f"sha256:{sha256(about).hexdigest()}"}
        assert package.getinfo("archive/data.warc.gz").compress_type == ZIP_STORED
        lines = package.read("indexes/index.cdx").decode().splitlines()
        assert lines == sorted(lines)
        assert {json.loads(line.split(" ", 2)[2])["url"] for line in lines} == wanted
        head, *pages = map(json.loads, package.read("pages/pages.jsonl").decode().splitlines())
        assert head["format"] == "json-pages-1.0"
        assert {page["url"] for page in pages} == {f"http://{SHOP}/", f"http://{SHOP}/kettle"}
        assert {page["title"] for page in pages} >= {"Kettle"}


@pytest.mark.parametrize(
    "url, key",
    [
        ("http://Shop.example/", "example,shop)/"),
        ("https://www.shop.example/A/B/?b=2&a=1", "example,shop)/a/b?a=1&b=2"),
        ("http://shop.example:8080/x", "example,shop:8080)/x"),
        ("https://shop.example:443", "example,shop)/"),
    ],
)
def test_keys_of_the_index_are_those_of_other_tools(url: str, key: str) -> None:
    assert key_of(url) == key


async def test_only_pages_have_records(database: Database) -> None:
    with pytest.raises(UsageError, match="warc holds pages only, not products"):
        async with database.transaction() as connection:
            await requests.begin(connection, NewExport("products", "warc", {}), actor="test")
