"""Pages saved by hand: what becomes of them in the database and the archive, and who asked whom."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from messor.archive.segments import read_record
from messor.core.ids import new_id
from messor.crawl.sandboxed_reader import SandboxedReader
from messor.errors import UnavailableError
from messor.governance import admission
from messor.imports import batch, import_run
from messor.imports.import_run import ImportReport, import_pages
from messor.imports.sources import Source
from messor.registry import domains
from messor.registry.domains import Domain, Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.web.urls import parse
from simweb.answers import SimResponse, plain
from tests.crawling import TESTER, admit, crawl, outcomes, submit
from tests.little_web import LittleWeb, page

ONE = "https://one.test/"


def html(title: str, text: str = "Some text.", head: str = "") -> bytes:
    head = f"<title>{title}</title>{head}"
    return f"<!doctype html><html><head>{head}</head><body><h1>{title}</h1>{text}</body></html>".encode()


def saved(folder: Path, name: str, body: bytes, *, days_ago: float = 0) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(body)
    if days_ago:
        then = (datetime.now(UTC) - timedelta(days=days_ago)).timestamp()
        os.utime(file, (then, then))
    return file


def settings_in(folder: Path, **values: Any) -> Settings:
    return Settings.model_validate({"data_dir": folder / "data", "worker_lease": 5.0, **values})


async def bring(
    database: Database, folder: Path, *places: Path, url: str | None = None, **terms: Any
) -> ImportReport:
    values = terms.pop("settings", {})
    sources = [Source(place, url) for place in places]
    return await import_pages(
        database, settings_in(folder, **values), sources, actor=TESTER, **terms
    )


async def asked_only(database: Database, url: str = ONE) -> Domain:
    """A domain that is approved, of which nothing is due."""
    domain = await submit(database, url)
    async with database.transaction() as connection:
        await connection.execute("UPDATE messor.domains SET harvest = 'asked'")
        return await domains.move(connection, domain, "approved", actor=TESTER)


def said(report: ImportReport) -> list[tuple[str, str | None]]:
    return [(result.outcome, result.url) for result in report.results]


def reasons(report: ImportReport) -> str:
    return " | ".join(result.reason or "" for result in report.results)


async def rows(database: Database, sql: str, *values: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in await database.fetch(sql, *values)]


async def count(database: Database, table: str) -> int:
    found: int = await database.fetchval(f"SELECT count(*) FROM messor.{table}")
    return found


# A snapshot like any other ----------------------------------------------------------------------


async def test_a_saved_page_becomes_a_snapshot(database: Database, tmp_path: Path) -> None:
    domain = await asked_only(database)
    file = saved(
        tmp_path, "about.html", html("About us", head='<meta name="description" content="We">')
    )
    report = await bring(database, tmp_path, file, url=f"{ONE}about#team")
    assert said(report) == [("ok", f"{ONE}about")]
    (row,) = await rows(
        database,
        """SELECT s.*, g.name, g.state, x.markdown, p.found_by, p.url, t.due_at, t.outcome,
                  t.snapshot_id, t.status, t.last_status, t.raw_hash = s.raw_hash AS same
             FROM messor.page_snapshots s JOIN messor.snapshot_texts x ON x.snapshot_id = s.id
             JOIN messor.segments g ON g.id = s.segment_id JOIN messor.pages p ON p.id = s.page_id
             JOIN messor.crawl_tasks t ON t.page_id = p.id""",
    )
    assert (row["provider"], row["title"], row["description"]) == ("import", "About us", "We")
    assert "Some text." in row["markdown"]
    assert (row["found_by"], row["url"], row["due_at"]) == ("manual", f"{ONE}about", None)
    assert (row["outcome"], row["status"], row["last_status"], row["same"]) == (
        "ok", "completed", 200, True,
    )  # fmt: skip
    assert row["snapshot_id"] == row["id"] == report.results[0].snapshot_id
    assert row["state"] == "sealed"
    member = read_record(
        tmp_path / "data" / "archive", row["name"], row["segment_offset"], row["segment_length"]
    )
    record = next(iter(ArchiveIterator(io.BytesIO(member), check_digests="raise")))
    assert record.rec_headers.get_header("WARC-Target-URI") == f"{ONE}about"
    assert record.http_headers.get_header("X-Messor-Provider") == "import"
    assert record.content_stream().read() == file.read_bytes()
    assert [r["state"] for r in await rows(database, "SELECT state FROM messor.page_changes")] == [
        "new"
    ]
    assert (await domains.get(database, "one.test")).pages_known == 1
    assert await count(database, "http_fetches") == 0
    (event,) = await rows(database, "SELECT * FROM messor.events WHERE type = 'pages.imported'")
    assert (event["actor"], event["domain_id"]) == (TESTER, domain.id)
    assert json.loads(event["data"]) == {"file": "about.html", "ok": 1}


async def test_a_crawl_and_an_import_of_the_same_bytes_agree(
    database: Database, tmp_path: Path
) -> None:
    odd = "<!doctype html><title>Grüße</title><p>Straße".encode("latin-1")
    rooms = {
        "/": page("home", "/odd"),
        "/odd": SimResponse(200, (("Content-Type", "text/html; charset=iso-8859-1"),), odd),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
    fetched = await rows(database, "SELECT * FROM messor.page_snapshots ORDER BY id")
    home = saved(tmp_path, "home.html", page("home", "/odd").body)
    report = await bring(database, tmp_path, home, url="http://one.test/")
    assert said(report) == [("unchanged", "http://one.test/")]
    assert report.results[0].snapshot_id == fetched[0]["id"]
    # Other bytes of the same content: the hashes agree although nothing declares the encoding.
    report = await bring(
        database, tmp_path, saved(tmp_path, "o.html", odd + b"\n"), url="http://one.test/odd"
    )
    assert [result.outcome for result in report.results] == ["unchanged"]
    assert await count(database, "page_snapshots") == 2
    assert await count(database, "page_changes") == 2


async def test_what_is_imported_first_is_unchanged_when_fetched(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home", "/next")}}) as web:
        await admit(database, "http://one.test/")
        file = saved(tmp_path, "home.html", page("home", "/next").body)
        assert said(await bring(database, tmp_path, file, url="http://one.test/")) == [
            ("ok", "http://one.test/")
        ]
        assert web.requests() == []
        await crawl(web.settings(), database)
    assert (await outcomes(database))["http://one.test/"] == "unchanged"
    assert await count(database, "page_snapshots") == 1


async def test_the_same_again_changes_nothing(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    file = saved(tmp_path, "a.html", html("A"), days_ago=3)
    await bring(database, tmp_path, file, url=ONE)
    report = await bring(database, tmp_path, file, url=ONE)
    assert said(report) == [("unchanged", ONE)]
    assert await count(database, "page_snapshots") == await count(database, "page_changes") == 1
    assert await count(database, "segments") == 1
    assert (await domains.get(database, "one.test")).pages_known == 1


async def test_the_newest_stands_for_the_page(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    new = saved(tmp_path, "new.html", html("New"), days_ago=1)
    old = saved(tmp_path, "old.html", html("Old"), days_ago=9)
    for file in (new, old, new):
        await bring(database, tmp_path, file, url=ONE)
    (row,) = await rows(
        database,
        """SELECT s.title, t.last_fetched_at FROM messor.crawl_tasks t
             JOIN messor.page_snapshots s ON s.id = t.snapshot_id""",
    )
    assert row["title"] == "New"
    age = datetime.now(UTC) - row["last_fetched_at"]
    assert timedelta(hours=23) < age < timedelta(hours=25)
    changes = await rows(
        database,
        """SELECT s.title FROM messor.page_changes c JOIN messor.page_snapshots s
             ON s.id = c.snapshot_id ORDER BY c.seen_at""",
    )
    assert [change["title"] for change in changes] == ["Old", "New"]


async def test_a_page_that_blocked_us_stands_as_it_was_saved(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": plain(403, "no")}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
    before = await database.fetchval("SELECT due_at FROM messor.crawl_tasks WHERE kind = 'page'")
    file = saved(tmp_path, "home.html", html("Home"), days_ago=0.5)
    await bring(database, tmp_path, file, url="http://one.test/")
    (cached,) = await rows(
        database,
        "SELECT url, content, expires_at > messor.clock() AS good FROM messor.url_fetch_cache",
    )
    assert (cached["url"], cached["good"]) == ("http://one.test/", True)
    assert "Some text." in cached["content"]
    after = await database.fetchval("SELECT due_at FROM messor.crawl_tasks WHERE kind = 'page'")
    assert after == before


# What an import sets in motion: nothing ---------------------------------------------------------


async def test_nothing_is_asked_of_a_site_that_is_not_harvested(
    database: Database, tmp_path: Path
) -> None:
    rooms = {"/": page("home", "/next")}
    async with LittleWeb(tmp_path, {"one.test": rooms, "www.one.test": rooms}) as web:
        await asked_only(database, "http://one.test/")
        body = html("A", '<a href="/next">next</a>')
        for number, host in enumerate(("one.test", "www.one.test")):
            file = saved(tmp_path, f"{number}.html", body)
            await bring(database, tmp_path, file, url=f"http://{host}/a")
        await crawl(web.settings(), database)
        assert web.requests() == []
        urls = await outcomes(database)
        assert "http://one.test/next" not in urls
        # The first page somebody asks for on that host has its robots.txt read before it.
        url = parse("http://www.one.test/next")
        assert url is not None
        async with database.transaction() as connection:
            domain = await domains.get(connection, "one.test")
            await admission.plant(connection, domain, url, found_by="manual")
        await crawl(web.settings(), database)
        paths = web.paths("www.one.test")
        assert paths[0] == "/robots.txt"
        assert "/next" in paths


async def test_a_new_page_of_a_harvested_site_is_due_as_after_a_fetch(
    database: Database, tmp_path: Path
) -> None:
    await admit(database, ONE)
    fresh = saved(tmp_path, "fresh.html", html("A"), days_ago=0.5)
    await bring(database, tmp_path, fresh, url="https://www.one.test/a")
    (row,) = await rows(
        database,
        """SELECT extract(epoch FROM t.due_at - messor.clock())::float8 AS due_in,
                  l.due_at = t.due_at AS awake FROM messor.crawl_tasks t
             JOIN messor.pages p ON p.id = t.page_id JOIN messor.lanes l ON l.host_id = t.host_id
            WHERE p.url = 'https://www.one.test/a'""",
    )
    assert row["awake"]
    assert 11 * 3600 < row["due_in"] <= 12 * 3600


# Governance --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status, sentence",
    [
        (None, "one.test is not known; submit it: messor domains submit one.test"),
        ("pending_review", "awaits review"),
        ("rejected", "was rejected: because"),
        ("suspended", "is suspended"),
        ("blacklisted", "is blacklisted: because"),
    ],
)
async def test_only_approved_domains_are_imported(
    database: Database, tmp_path: Path, status: str | None, sentence: str
) -> None:
    if status is not None:
        domain = await submit(database, ONE)
        async with database.transaction() as connection:
            if status == "suspended":
                domain = await domains.move(connection, domain, "approved", actor=TESTER)
            if status != "pending_review":
                await domains.move(connection, domain, status, actor=TESTER, reason="because")
    report = await bring(database, tmp_path, saved(tmp_path, "a.html", html("A")), url=ONE)
    assert said(report) == [("refused", ONE)]
    assert sentence in reasons(report)
    assert await count(database, "pages") == await count(database, "page_snapshots") == 0
    assert await count(database, "segments") == 0
    assert not (tmp_path / "data" / "archive").exists()


async def test_approval_in_one_act_is_for_the_imported_pages_alone(
    database: Database, tmp_path: Path
) -> None:
    file = saved(tmp_path, "a.html", html("A"))
    mine = [Submission.understand(ONE)]
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home")}}) as web:
        report = await bring(database, tmp_path, file, url="http://one.test/a", approve=mine)
        assert said(report) == [("ok", "http://one.test/a")]
        await crawl(web.settings(), database)
        assert web.requests() == []
    types = await rows(database, "SELECT type, actor FROM messor.events ORDER BY id")
    assert [event["type"] for event in types] == [
        "domain.submitted", "domain.approved", "domain.configured", "pages.imported",
    ]  # fmt: skip
    assert {event["actor"] for event in types} == {TESTER}
    assert await database.fetchval("SELECT harvest FROM messor.domains") == "asked"


@pytest.mark.parametrize("status", ["rejected", "blacklisted"])
async def test_approval_in_one_act_overrules_nobody(
    database: Database, tmp_path: Path, status: str
) -> None:
    domain = await submit(database, ONE)
    async with database.transaction() as connection:
        await domains.move(connection, domain, status, actor=TESTER, reason="because")
    file = saved(tmp_path, "a.html", html("A"))
    report = await bring(database, tmp_path, file, url=ONE, approve=[Submission.understand(ONE)])
    assert said(report) == [("refused", ONE)]


@pytest.mark.parametrize("kind, key", [("domain", "one.test"), ("url", "https://one.test/a?x=1")])
async def test_what_was_erased_is_not_kept(
    database: Database, tmp_path: Path, kind: str, key: str
) -> None:
    await asked_only(database)
    await database.fetch(
        """INSERT INTO messor.erasures (id, kind, key, reason, erased_by)
           VALUES ($1, $2, $3, 'asked by its owner', 'tester')""",
        new_id(), kind, key,
    )  # fmt: skip
    file = saved(tmp_path, "a.html", html("A"))
    report = await bring(database, tmp_path, file, url=f"{ONE}a?utm_source=mail&x=1#top")
    assert [result.outcome for result in report.results] == ["refused"]
    assert "asked by its owner" in reasons(report)
    assert await count(database, "page_snapshots") == 0


async def test_the_page_budget_holds(database: Database, tmp_path: Path) -> None:
    domain = await asked_only(database)
    async with database.transaction() as connection:
        await domains.configure(connection, domain, actor=TESTER, page_budget=2)
    for name in "abc":
        saved(tmp_path, f"site/{name}.html", html(name))
    report = await bring(database, tmp_path, tmp_path / "site", url=ONE)
    assert report.counts == {"ok": 2, "refused": 1}
    assert "budget" in reasons(report)
    report = await bring(database, tmp_path, tmp_path / "site", url=ONE)
    assert report.counts == {"unchanged": 2, "refused": 1}


async def test_only_the_domains_asked_for(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    await asked_only(database, "https://two.test/")
    for name in ("one.test", "two.test"):
        saved(
            tmp_path,
            f"p/{name}.html",
            html(name, head=f'<link rel=canonical href="https://{name}/">'),
        )
    report = await bring(database, tmp_path, tmp_path / "p", only={"two.test"})
    assert said(report) == [("refused", ONE), ("ok", "https://two.test/")]


async def test_a_robots_file_is_no_page(database: Database, tmp_path: Path) -> None:
    await admit(database, ONE)
    file = saved(tmp_path, "robots.html", html("not robots"))
    report = await bring(database, tmp_path, file, url=f"{ONE}robots.txt")
    assert [result.outcome for result in report.results] == ["refused"]
    assert "robots file" in reasons(report)


# Where a page is from ----------------------------------------------------------------------------

SAVED_FROM = "<!-- saved from url=(0023)https://one.test/a?b=--c -->"


@pytest.mark.parametrize(
    "body, url",
    [
        (f"<!doctype html>\n{SAVED_FROM}\n<p>x".encode(), "https://one.test/a?b=--c"),
        (f'{SAVED_FROM}<link rel="canonical" href="{ONE}other"><p>x'.encode(), "https://one.test/a?b=--c"),
        (b"<!-- saved from url=(0017)https://one.test/--><p>x", ONE),
        (b'<!-- saved from url=(0014)about:internet --><link rel="Canonical" href="https://one.test/c"><p>x', f"{ONE}c"),
        (b'<meta property="og:url" content="https://one.test/o"><link rel=canonical href="https://one.test/c"><p>x', f"{ONE}c"),
        (b'<link rel=canonical href="/relative"><meta property="og:url" content="https://one.test/o"><p>x', f"{ONE}o"),
        (b"<html><!--\n Page saved with SingleFile \n url: https://one.test/s \n saved date: x\n--><p>x", f"{ONE}s"),
        ("\ufeff<link rel=canonical href='https://one.test/wide'><p>x".encode("utf-16"), f"{ONE}wide"),
    ],
    ids=["saved-from", "saved-from-first", "sticky", "canonical", "canonical-first", "og", "single-file", "utf-16"],
)  # fmt: skip
async def test_a_page_says_where_it_is_from(
    database: Database, tmp_path: Path, body: bytes, url: str
) -> None:
    await asked_only(database)
    assert said(await bring(database, tmp_path, saved(tmp_path, "x.html", body))) == [("ok", url)]


async def test_what_cannot_be_imported_is_told_and_stops_nothing(
    database: Database, tmp_path: Path
) -> None:
    await asked_only(database)
    folder = tmp_path / "pages"
    canonical = '<link rel=canonical href="https://one.test/{}">'
    saved(folder, "a-silent.html", html("no address"))
    saved(folder, "b-empty.html", b" \n")
    saved(folder, "c-large.html", html("large", "x" * 5000, canonical.format("large")))
    saved(folder, "d-bad.har", b'{"log": 7}')
    saved(folder, "e-bad.warc.gz", b"\x1f\x8b\x08\x00 this is no gzip")
    saved(folder, "f-address.html", html("ip", head='<link rel=canonical href="http://10.0.0.1/">'))
    saved(
        folder,
        "g-odd\x1b[31m.html",
        b"<title>odd\0</title><p>a\0b\xff\xfe" + canonical.format("odd").encode(),
    )
    saved(folder, "h-good.html", html("good", head=canonical.format("good")))
    (folder / "i-gone.html").symlink_to(folder / "nowhere.html")
    saved(folder, "style.css", b"p {}")
    os.mkfifo(folder / "j-pipe.html")
    report = await bring(database, tmp_path, folder, settings={"max_decoded_bytes": 4000})
    assert report.counts == {"ok": 2, "error": 8}
    assert report.passed_over == 1
    told = {Path(r.origin).name[0]: r.reason for r in report.results if r.reason}
    assert "--url" in (told["a"] or "")
    assert told["b"] == "the file is empty"
    assert "larger than 4000 bytes" in (told["c"] or "")
    assert "not a readable HAR file" in (told["d"] or "")
    assert "decompressed" in (told["e"] or "")
    assert "registrable" in (told["f"] or "")
    assert told["i"] == "there is no such file"
    assert told["j"] == "this is neither a file nor a folder"
    assert all("\x1b" not in result.origin for result in report.results)
    (odd,) = await rows(database, "SELECT title FROM messor.page_snapshots WHERE title LIKE 'odd%'")
    assert "\0" not in odd["title"]


async def test_a_page_too_complex_to_read_is_told(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asked_only(database)
    monkeypatch.setattr(batch, "SandboxedReader", partial(SandboxedReader, memory=100_000_000))
    bad = saved(tmp_path, "p/bad.html", b"<p>x" * 1_200_000)
    saved(tmp_path, "p/good.html", html("good"))
    report = await bring(database, tmp_path, bad.parent, url=ONE)
    assert report.counts == {"ok": 1, "error": 1}
    assert "too complex" in reasons(report)


# Folders -----------------------------------------------------------------------------------------


async def test_a_mirror_gives_its_addresses(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    for name in (
        "one.test/index.html",
        "one.test/about/index.html",
        "one.test/list.php?page=2",
        "one.test/plain",
        "www.one.test/a b#c.html",
        "deep/page.html",
    ):
        saved(tmp_path / "mirror", name, html(name))
    saved(tmp_path / "mirror", "one.test/logo.png", b"\x89PNG")
    saved(tmp_path / "mirror", "one.test/data.json", b'{"a": 1}')
    report = await bring(database, tmp_path, tmp_path / "mirror", url="https://one.test/docs/")
    assert sorted(url or "" for _, url in said(report)) == [
        "https://one.test/",
        "https://one.test/about/",
        "https://one.test/docs/deep/page.html",
        "https://one.test/list.php?page=2",
        "https://one.test/plain",
        "https://www.one.test/a%20b%23c.html",
    ]
    assert (report.counts, report.passed_over) == ({"ok": 6}, 2)


async def test_links_out_of_a_folder_are_not_followed(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    secret = saved(tmp_path, "secret/page.html", html("secret"))
    inside = saved(tmp_path, "site/inside.html", html("inside"))
    (tmp_path / "site" / "out.html").symlink_to(secret)
    (tmp_path / "site" / "folder").symlink_to(secret.parent)
    (tmp_path / "site" / "again.html").symlink_to(inside)
    (tmp_path / "site" / "loop.html").symlink_to(tmp_path / "site" / "loop.html")
    report = await bring(database, tmp_path, tmp_path / "site", url=ONE)
    told = {Path(result.origin).name: result.outcome for result in report.results}
    assert told == {
        "inside.html": "ok",
        "again.html": "ok",
        "out.html": "error",
        "loop.html": "error",
    }
    assert (
        await database.fetchval("SELECT count(*) FROM messor.page_snapshots WHERE title = 'secret'")
        == 0
    )


MHTML = """From: <Saved by Blink>
Snapshot-Content-Location: https://one.test/m
Subject: M
Date: Tue, 3 Nov 2020 10:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="--b"

----b
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable
Content-Location: https://one.test/m

<html><head><meta charset=3D"utf-8"><title>Gr=C3=BC=C3=9Fe</title></head><p>ok</html>
----b
Content-Type: image/png

xx
----b--
"""


async def test_an_mhtml_file_is_one_page(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    text = MHTML.replace("\n", "\r\n")
    report = await bring(database, tmp_path, saved(tmp_path, "m.mhtml", text.encode()))
    assert said(report) == [("ok", "https://one.test/m")]
    (row,) = await rows(database, "SELECT title, crawled_at FROM messor.page_snapshots")
    assert row["title"] == "Grüße"
    assert abs(row["crawled_at"] - datetime(2020, 11, 3, 10, tzinfo=UTC)) < timedelta(minutes=1)


# Archives ----------------------------------------------------------------------------------------

Answers = Sequence[tuple[str, int, str, bytes, tuple[tuple[str, str], ...]]]


def make_warc(answers: Answers, *, packed: bool = True, version: str = "WARC/1.1") -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=packed, warc_version=version)
    writer.write_record(writer.create_warcinfo_record("x.warc.gz", {"software": "test"}))
    for url, status, content_type, body, more in answers:
        head = StatusAndHeaders(
            f"{status} X", [("Content-Type", content_type), *more], protocol="HTTP/1.1"
        )
        writer.write_record(
            writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), length=len(body), http_headers=head,
                warc_headers_dict={"WARC-Date": "2021-05-06T07:08:09Z"},
            )
        )  # fmt: skip
    return out.getvalue()


def chunked(body: bytes) -> bytes:
    half = len(body) // 2
    parts = (body[:half], body[half:], b"")
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("version", ["WARC/1.0", "WARC/1.1"])
async def test_a_warc_file(database: Database, tmp_path: Path, packed: bool, version: str) -> None:
    await asked_only(database)
    plain_page = html("plain")
    answers: Answers = [
        (f"{ONE}plain", 200, "text/html", plain_page, ()),
        (f"{ONE}gzip", 200, "text/html", gzip.compress(html("gzip")), (("Content-Encoding", "gzip"),)),
        (f"{ONE}chunked", 200, "text/html", chunked(html("chunked")), (("Transfer-Encoding", "chunked"),)),
        (f"{ONE}unpacked", 200, "text/html", html("unpacked"), (("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))),
        (f"{ONE}latin", 200, "text/html; charset=latin1", "<p>Stra\xdfe".encode("latin-1"), ()),
        (f"{ONE}odd", 200, "text/html", b"whatever", (("Content-Encoding", "rot13"),)),
        (f"{ONE}missing", 404, "text/html", html("missing"), ()),
        (f"{ONE}moved", 301, "text/html", html("moved"), (("Location", "/"),)),
        (f"{ONE}logo", 200, "image/png", b"\x89PNG", ()),
        ("https://ads.test/", 200, "text/html", html("ad"), ()),
    ]  # fmt: skip
    name = "crawl.warc.gz" if packed else "crawl.warc"
    file = saved(tmp_path, name, make_warc(answers, packed=packed, version=version))
    report = await bring(database, tmp_path, file)
    assert report.counts == {"ok": 5, "error": 1, "refused": 1}
    assert report.passed_over == 4  # warcinfo, missing, moved, logo
    assert report.warnings == []
    found = await rows(
        database,
        """SELECT p.url, s.title, s.raw_hash, s.crawled_at, x.markdown FROM messor.page_snapshots s
             JOIN messor.pages p ON p.id = s.page_id JOIN messor.snapshot_texts x ON x.snapshot_id = s.id""",
    )
    titles = {row["url"].removeprefix(ONE): row["title"] for row in found}
    assert titles == {name: name for name in ("plain", "gzip", "chunked", "unpacked")} | {
        "latin": None
    }
    assert any("Straße" in row["markdown"] for row in found)
    for row in found:
        assert abs(row["crawled_at"] - datetime(2021, 5, 6, 7, 8, 9, tzinfo=UTC)) < timedelta(
            minutes=1
        )


async def test_our_own_archive_is_a_warc_file_too(database: Database, tmp_path: Path) -> None:
    names = [f"/{n}" for n in range(30)]
    rooms = {name: page(name) for name in names}
    async with LittleWeb(tmp_path, {"one.test": {"/": page("home", *names), **rooms}}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
    hashes = (
        "SELECT page_id, content_hash, data_hash, raw_hash FROM messor.page_snapshots ORDER BY 1"
    )
    before = await rows(database, hashes)
    report = await bring(database, tmp_path, tmp_path / "data" / "archive")
    assert report.counts == {"unchanged": 31}
    assert await rows(database, hashes) == before
    await database.fetch(
        "TRUNCATE messor.page_snapshots, messor.snapshot_texts, messor.page_changes"
    )
    await database.fetch("UPDATE messor.crawl_tasks SET snapshot_id = NULL, raw_hash = NULL")
    report = await bring(database, tmp_path, tmp_path / "data" / "archive")
    assert report.counts == {"ok": 31}
    assert await rows(database, hashes) == before


@pytest.mark.parametrize("packed", [True, False])
async def test_a_cut_archive_gives_what_is_whole(
    database: Database, tmp_path: Path, packed: bool
) -> None:
    await asked_only(database)
    answers = [
        (f"{ONE}{n}", 200, "text/html", html(str(n), os.urandom(300).hex()), ()) for n in range(5)
    ]
    whole = make_warc(answers, packed=packed)
    file = saved(tmp_path, "cut.warc.gz", whole[:-200])
    report = await bring(database, tmp_path, file)
    assert report.counts == {"ok": 4}
    (warning,) = report.warnings
    assert "cut.warc.gz" in warning
    assert "breaks off" in warning


@pytest.mark.parametrize(
    "data",
    [
        b"WARC/1.1\r\n",
        b"WARC/1.1\r\nWARC-Type: response\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: -5\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: 999999999999\r\nWARC-Type: response\r\nWARC-Target-URI: https://one.test/\r\n\r\nx",
        b"WARC/1.1\r\n" + b"A: b\r\n" * 2000,
        b"WARC/1.1\r\n" + b"x" * 200_000,
        b"WARC/1.1\r\nContent-Length: 1\r\n\r\nxnonsense",
    ],
    ids=["bare", "no-length", "negative", "digits", "beyond", "lines", "line", "nonsense"],
)  # fmt: skip
async def test_a_hostile_archive_is_told(database: Database, tmp_path: Path, data: bytes) -> None:
    report = await bring(database, tmp_path, saved(tmp_path, "x.warc", data))
    assert report.counts.get("ok", 0) == 0
    assert "breaks off" in report.warnings[0]


async def test_a_bomb_stops_at_the_cap(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    bomb = gzip.compress(b"<html>" + b"\0" * 30_000_000)
    answers: Answers = [
        (f"{ONE}bomb", 200, "text/html", bomb, (("Content-Encoding", "gzip"),)),
        (f"{ONE}large", 200, "text/html", b"<p>" + b"x" * 3_000_000, ()),
        (f"{ONE}fine", 200, "text/html", html("fine"), ()),
    ]
    file = saved(tmp_path, "x.warc.gz", make_warc(answers))
    report = await bring(database, tmp_path, file, settings={"max_decoded_bytes": 1_000_000})
    assert report.counts == {"ok": 1, "error": 2}
    assert reasons(report).count("1000000") == 2
    file = saved(tmp_path, "page.html.gz", bomb)
    report = await bring(
        database, tmp_path, file, url=ONE, settings={"max_decoded_bytes": 1_000_000}
    )
    assert report.counts == {"error": 1}


def entry(url: str, content: object, status: int = 200, **more: object) -> dict[str, object]:
    return {
        "startedDateTime": "2022-01-02T03:04:05.678+01:00",
        "request": {"method": "GET", "url": url, **more},
        "response": {
            "status": status,
            "headers": [{"name": "ETag", "value": '"x"'}, {"name": "X-Bad\r\nY", "value": "z\r\nEvil: 1"}, 7],
            "content": content,
        },
    }  # fmt: skip


async def test_a_har_file(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    text = html("text", "Grüße").decode()
    wide = "<title>wide</title><p>Привет".encode("windows-1251")
    entries: list[object] = [
        entry(f"{ONE}text#x", {"mimeType": "text/html; charset=iso-8859-1", "text": text}),
        entry(f"{ONE}wide", {
            "mimeType": "text/html; charset=windows-1251", "encoding": "base64",
            "text": base64.b64encode(wide).decode(),
        }),
        entry(f"{ONE}lone", {"mimeType": "text/html", "text": "<p>\ud800 lone"}),
        entry(f"{ONE}bare", {"mimeType": "text/html", "size": 10}),
        entry(f"{ONE}bad", {"mimeType": "text/html", "encoding": "base64", "text": "a"}),
        entry(f"{ONE}logo", {"mimeType": "image/png", "text": "x"}),
        entry(f"{ONE}gone", {"mimeType": "text/html", "text": text}, 404),
        entry(f"{ONE}sent", {"mimeType": "text/html", "text": text}, method="POST"),
        entry("https://ads.test/", {"mimeType": "text/html", "text": text}),
        None,
        {"request": 1},
    ]  # fmt: skip
    data = b"\xef\xbb\xbf" + json.dumps({"log": {"version": "1.2", "entries": entries}}).encode()
    report = await bring(database, tmp_path, saved(tmp_path, "s.har", data))
    assert report.counts == {"ok": 3, "error": 2, "refused": 1}
    assert report.passed_over == 5
    found = await rows(
        database,
        """SELECT s.title, x.markdown, s.crawled_at FROM messor.page_snapshots s
             JOIN messor.snapshot_texts x ON x.snapshot_id = s.id ORDER BY s.id""",
    )
    assert "Grüße" in found[0]["markdown"]
    assert "Привет" in found[1]["markdown"]
    expected = datetime(2022, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert abs(found[0]["crawled_at"] - expected) < timedelta(minutes=1)
    (segment,) = (tmp_path / "data" / "archive").rglob("*.warc.gz")
    for record in ArchiveIterator(io.BytesIO(segment.read_bytes())):
        if record.rec_type == "response":
            assert record.http_headers.get_header("Evil") is None


# Many pages, and what can go wrong ---------------------------------------------------------------


async def test_many_pages_take_few_round_trips(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    answers = [(f"{ONE}{n}", 200, "text/html", html(str(n)), ()) for n in range(450)]
    file = saved(tmp_path, "x.warc.gz", make_warc(answers))
    before = database.round_trips
    report = await bring(database, tmp_path, file)
    assert report.counts == {"ok": 450}
    assert database.round_trips - before < 90
    assert (
        await database.fetchval(
            "SELECT sum((data->>'ok')::int) FROM messor.events WHERE type = 'pages.imported'"
        )
        == 450
    )
    assert (
        await database.fetchval("SELECT count(*) FROM messor.worker_leases WHERE ended_at IS NULL")
        == 0
    )


async def test_captures_of_one_page_become_its_history(database: Database, tmp_path: Path) -> None:
    await asked_only(database)
    bodies = [html("A"), html("B"), html("B"), html("C")]
    data = b"".join(make_warc([(ONE, 200, "text/html", body, ())]) for body in bodies)
    report = await bring(database, tmp_path, saved(tmp_path, "x.warc.gz", data))
    assert report.counts == {"ok": 3, "unchanged": 1}
    assert await count(database, "pages") == 2  # with robots.txt
    assert await count(database, "page_snapshots") == 3


async def test_results_beyond_the_limit_are_counted(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_run, "MAX_RESULTS", 3)
    for n in range(5):
        saved(tmp_path, f"p/{n}.html", html(str(n)))
    report = await bring(database, tmp_path, tmp_path / "p")
    assert (report.counts, len(report.results)) == ({"error": 5}, 3)


async def test_one_page_the_database_refuses_costs_no_other(
    database: Database, tmp_path: Path
) -> None:
    await asked_only(database)
    await database.fetch("ALTER TABLE messor.page_snapshots ADD CHECK (title <> '3')")
    for n in range(8):
        saved(tmp_path, f"p/{n}.html", html(str(n)))
    report = await bring(database, tmp_path, tmp_path / "p", url=ONE)
    assert report.counts == {"ok": 7, "error": 1}
    (bad,) = [result for result in report.results if result.outcome == "error"]
    assert bad.url == f"{ONE}3.html"
    assert "cannot be stored" in (bad.reason or "")


async def test_a_suspension_between_two_batches_is_heeded(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_run, "BATCH_PAGES", 2)
    await asked_only(database)
    await database.fetch(
        """CREATE FUNCTION messor.suspend() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN UPDATE messor.domains SET status = 'suspended'; RETURN NULL; END $$"""
    )
    await database.fetch(
        """CREATE TRIGGER suspend AFTER INSERT ON messor.events FOR EACH ROW
           WHEN (new.type = 'pages.imported') EXECUTE FUNCTION messor.suspend()"""
    )
    for n in range(4):
        saved(tmp_path, f"p/{n}.html", html(str(n)))
    report = await bring(database, tmp_path, tmp_path / "p", url=ONE)
    assert report.counts == {"ok": 2, "refused": 2}


async def test_an_archive_that_cannot_be_written_is_told(
    database: Database, tmp_path: Path
) -> None:
    await asked_only(database)
    saved(tmp_path, "data/archive", b"a file where the archive should be")
    file = saved(tmp_path, "a.html", html("A"))
    with pytest.raises(UnavailableError, match="archive cannot be written"):
        await bring(database, tmp_path, file, url=ONE)
    assert await count(database, "pages") == 0
    assert await database.fetchval(
        "SELECT bool_and(ended_at IS NOT NULL) FROM messor.worker_leases"
    )


async def test_an_import_beside_a_crawl_of_the_same_pages(
    database: Database, tmp_path: Path
) -> None:
    names = [f"/{n}" for n in range(60)]
    rooms = {name: page(name, *names) for name in names}
    home = {"/": page("home", *names)}
    answers = [
        (f"http://one.test{name}", 200, "text/html; charset=utf-8", room.body, ())
        for name, room in rooms.items()
    ]
    file = saved(tmp_path, "x.warc.gz", make_warc(answers))
    async with LittleWeb(tmp_path, {"one.test": {**home, **rooms}}) as web:
        await admit(database, "http://one.test/")
        crawling = asyncio.create_task(crawl(web.settings(), database))
        for _ in range(4):
            report = await bring(database, tmp_path, file)
            assert report.counts["ok"] + report.counts["unchanged"] == 60
        await crawling
    assert await count(database, "page_snapshots") == 61
    assert set((await outcomes(database)).values()) <= {"ok", "unchanged", "not_found"}
