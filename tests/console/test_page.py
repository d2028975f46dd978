"""One page: story, content, changes and why."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest_asyncio

from messor.archive.bodies import Arrival, Bodies
from messor.archive.segments import SegmentWriter
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Visitor
from tests.crawling import admit


@pytest_asyncio.fixture(loop_scope="session")
async def page_id(database: Database) -> int:
    domain = await admit(database, "shop.example")
    return await seeding.add_page(database, domain, "https://shop.example/lamp")


async def test_the_story(admin: Visitor, database: Database, page_id: int) -> None:
    old = await seeding.add_snapshot(database, page_id, "Lamp", "# Lamp", timedelta(days=2))
    await database.fetch(
        """INSERT INTO messor.decisions (page_id, verdict, rule, reason, policy_version)
           VALUES ($1, 'denied', 'robots', 'Disallow: /lamp', 1)""",
        page_id,
    )
    page = await admin.get(f"/pages/{page_id}")
    for words in ("https://shop.example/lamp", "harvested 200", "denied", "robots: Disallow: /lamp",
                  "changed", "Found via"):  # fmt: skip
        assert words in page.said, words
    assert f"/pages/{page_id}/snapshots/{old}" in page.text


async def test_content_is_drawn_and_nothing_of_it_runs(
    admin: Visitor, database: Database, page_id: int
) -> None:
    text = (
        "# A lamp\n\nIt is **bright**, [see](/more) or [not](javascript:alert(1)) [nor](javascript:run).\n\n"
        "- one\n  - two\n\n> said\n\n```\n<b>code</b>\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "![picture](https://elsewhere.example/x.png)\n\n<script>alert(1)</script>"
    )
    snapshot = await seeding.add_snapshot(database, page_id, "A lamp", text)
    page = await admin.get(f"/pages/{page_id}/snapshots/{snapshot}")
    assert "<strong>bright</strong>" in page.text
    assert 'href="https://shop.example/more"' in page.text
    assert 'href="javascript' not in page.text
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
    assert '<img src="https://elsewhere' not in page.text
    assert "<td>1</td>" in page.text
    raw = await admin.get(f"/pages/{page_id}/snapshots/{snapshot}?as=text")
    assert "**bright**" in raw.said


async def test_what_changed(admin: Visitor, database: Database, page_id: int) -> None:
    old = await seeding.add_snapshot(database, page_id, "A", "one\ntwo\nthree", timedelta(days=1))
    new = await seeding.add_snapshot(database, page_id, "A", "one\n<2>\nthree")
    page = await admin.get(f"/pages/{page_id}/difference?older={old}&newer={new}")
    assert "1 lines added, 1 removed" in page.said
    assert 'class="diff-gone"' in page.text
    assert "&lt;2&gt;" in page.text
    for query in (
        "",
        "?older=x&newer=1",
        f"?older={old}&newer=999999",
        "?older=99999999999999999999&newer=1",
    ):
        status = (await admin.get(f"/pages/{page_id}/difference{query}")).status
        assert status in (404, 422), query


async def test_a_snapshot_of_another_page_is_not_shown(
    admin: Visitor, database: Database, page_id: int
) -> None:
    snapshot = await seeding.add_snapshot(database, page_id, "A", "secret")
    domain = await admit(database, "other.example")
    other = await seeding.add_page(database, domain, "https://other.example/x")
    answer = await admin.get(f"/pages/{other}/snapshots/{snapshot}")
    assert answer.status in (404, 422)
    assert "secret" not in answer.text


async def test_why(admin: Visitor, database: Database, page_id: int) -> None:
    chain = await admin.get(f"/pages/{page_id}/why")
    assert "shop.example is approved by tester" in chain.said
    assert '<ol class="chain">' in chain.text
    unknown = await admin.get("/why?url=never-heard.org/x")
    assert "never-heard.org was never submitted" in unknown.said
    assert "denied" in unknown.said
    assert (await admin.get("/why")).status == 200
    assert (await admin.get("/why?url=nonsense")).status == 422


async def test_why_calls_people_by_their_names(admin: Visitor, database: Database) -> None:
    assert admin.member is not None
    await seeding.ask_for(database, "foodbank.org", actor=f"member:{admin.member.id}")
    form = {"act": "approve", "seen": "pending_review"}
    await admin.send("/review", "/domains/foodbank.org/decide", form)
    said = (await admin.get("/why?url=foodbank.org")).said
    assert "approved by The admin (submitted by The admin" in said
    assert str(admin.member.id) not in said


async def test_crawl_again(admin: Visitor, database: Database, page_id: int) -> None:
    answer = await admin.send("/domains", f"/pages/{page_id}/recrawl")
    assert "The page is due now." in (await admin.get(answer.place)).said
    due = "SELECT due_at <= messor.clock() FROM messor.crawl_tasks WHERE page_id = $1"
    assert await database.fetchval(due, page_id)


async def test_pages_that_are_not_there(admin: Visitor) -> None:
    for path in ("/pages/1", "/pages/99999999999999999999999", "/pages/0/why", "/pages/x"):
        assert (await admin.get(path)).status == 404


async def test_what_was_taken_and_left_out(
    admin: Visitor, database: Database, page_id: int, tmp_path: Path
) -> None:
    body = (
        "<nav><ul><li><a href=/>All lamps</a></li></ul></nav><article><h1>A lamp</h1>"
        + "".join(f"<p>It burns for {n} hours on one filling of oil, &lt;b&gt;and no more.</p>" for n in range(9))
        + "</article><script>alert(1)</script><footer><p>Our imprint</p></footer>"
    ).encode()  # fmt: skip
    snapshot = await seeding.add_snapshot(database, page_id, "A lamp", "A lamp")
    unread = await admin.get(f"/pages/{page_id}/snapshots/{snapshot}?as=parts")
    assert unread.status in (404, 503)  # its bytes are not in the archive
    lease = await database.fetchval(
        """INSERT INTO messor.worker_leases (name, expires_at)
           VALUES ('w', messor.clock() + interval '1 h') RETURNING id"""
    )
    writer = SegmentWriter(
        tmp_path / "archive", database, worker_id=lease, name="w", limit=10**9, software="Messor/1"
    )
    await writer.ready()
    head = ((b"Content-Type", b"text/html"),)
    url = "https://shop.example/lamp"
    place = (
        Bodies(writer).archive(Arrival(url, 200, "Any", head, body, sha256(body).digest())).place
    )
    await writer.seal()
    await database.fetch(
        """UPDATE messor.page_snapshots SET segment_id = $2, segment_offset = $3, segment_length = $4
            WHERE id = $1""",
        snapshot, place.segment_id, place.offset, place.length,
    )  # fmt: skip
    page = await admin.get(f"/pages/{page_id}/snapshots/{snapshot}?as=parts")
    assert "<del>All lamps</del>" in page.text
    assert "<del>Our imprint</del>" in page.text
    assert "It burns for 3 hours" in page.said
    assert "<del>It burns" not in page.text
    assert "&lt;b&gt;and no more" in page.text
    assert "alert(1)" not in page.text
