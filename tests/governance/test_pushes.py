"""IndexNow: pushed pages are due once the key was read on the site; repeated pushes are harmless."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from messor.access.errors import ThrottledError
from messor.governance import pushes
from messor.governance.pushes import MAX_URLS, PushRefusedError
from messor.store.database import Database
from simweb.answers import plain
from tests.crawling import admit, at_work, crawl, eventually, idle
from tests.little_web import LittleWeb, page

KEY = "0123456789abcdef"
PAGES = ["http://one.test/new", "http://one.test/newer"]


def body(**changed: Any) -> bytes:
    given = {"host": "one.test", "key": KEY, "urlList": PAGES, **changed}
    return json.dumps(given).encode()


def rooms(key: str = KEY) -> dict[str, Any]:
    return {
        "/": page("Home"),
        "/new": page("New"),
        "/newer": page("Newer"),
        f"/{KEY}.txt": plain(200, key),
    }


async def test_pushed_pages_are_due_once_the_key_was_read(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": rooms()}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        first = await pushes.take(database, pushes.understood(body()))
        assert first.status == 202
        again = await pushes.take(database, pushes.understood(body()))
        assert again.status == 202
        async with at_work(web.settings(), database):
            await eventually(
                lambda: database.fetchval(
                    "SELECT count(*) = 2 FROM messor.page_snapshots s JOIN messor.pages p"
                    " ON p.id = s.page_id WHERE p.url LIKE '%/new%'"
                )
            )
            await idle(database)
        paths = web.paths("one.test")
        assert [paths.count(path) for path in (f"/{KEY}.txt", "/new", "/newer")] == [1, 1, 1]
        third = await pushes.take(database, pushes.understood(body()))
        assert (third.status, third.due) == (200, 0), "they were fetched a moment ago"
        more = body(urlList=["http://one.test/", "http://one.test/other"])
        assert (await pushes.take(database, pushes.understood(more))).due == 1
        await crawl(web.settings(), database)
        assert web.paths("one.test").count("/other") == 1
        assert web.paths("one.test").count(f"/{KEY}.txt") == 1


async def test_a_wrong_key_makes_nothing_due(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": rooms("another-key")}) as web:
        await admit(database, "http://one.test/")
        assert (await pushes.take(database, pushes.understood(body()))).status == 202
        await crawl(web.settings(), database)
        assert "/new" not in web.paths("one.test")
    with pytest.raises(PushRefusedError, match="expected line") as refused:
        await pushes.take(database, pushes.understood(body()))
    assert refused.value.status == 403
    assert await database.fetchval("SELECT count(*) FROM messor.pushed_urls") == 0


@pytest.mark.parametrize(
    "sent, status",
    [
        (b"no json", 400),
        (b"[]", 400),
        (body(key="short"), 400),
        (body(key=None), 400),
        (body(urlList=[]), 400),
        (body(urlList="x"), 400),
        (body(urlList=["http://one.test/"] * (MAX_URLS + 1)), 400),
        (body(urlList=["http://other.test/"]), 422),
        (body(urlList=["javascript:1"]), 422),
        (body(urlList=[1]), 422),
        (body(host="one.test/x y"), 422),
        (body(keyLocation="http://other.test/key.txt"), 422),
        (body(keyLocation="http://one.test/shop/key.txt"), 422),
    ],
)
def test_what_the_protocol_refuses(sent: bytes, status: int) -> None:
    with pytest.raises(PushRefusedError) as refused:
        pushes.understood(sent)
    assert refused.value.status == status


async def test_only_approved_domains_are_pushed(database: Database) -> None:
    with pytest.raises(PushRefusedError, match="not approved") as refused:
        await pushes.take(database, pushes.understood(body()))
    assert refused.value.status == 403


async def test_pushes_of_a_host_are_limited(database: Database) -> None:
    await admit(database, "http://one.test/")
    urls = [f"http://one.test/{number}" for number in range(MAX_URLS)]
    sent = pushes.understood(body(urlList=urls))
    await pushes.take(database, sent)
    await pushes.take(database, sent)
    with pytest.raises(ThrottledError):
        await pushes.take(database, sent)
    assert await database.fetchval("SELECT count(*) FROM messor.pushed_urls") == MAX_URLS
