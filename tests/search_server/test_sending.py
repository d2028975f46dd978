"""What is sent to the server: in order, once enough, and nothing lost however it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from messor.core import clock
from messor.errors import ConflictError, UsageError
from messor.insight.full_text import FullText
from messor.insight.search_server import drift, indexes, layout, outbox, rebuild
from messor.insight.search_server.client import (
    SearchServer,
    SearchServerDownError,
    SearchServerRefusedError,
)
from messor.insight.search_server.documents import Document, documents_of
from messor.insight.search_server.layout import index_body, key_of, parts_of
from messor.store.database import Database
from tests.insight.making import Site, make_site
from tests.search_server.matching import Stored
from tests.search_server.serving import index, server_at, standing_in
from tests.search_server.standin import RefusedError, SearchStandIn

REWRITE = (
    "UPDATE messor.search_documents SET title = $2, indexed_at = messor.clock() WHERE page_id = $1"
)


class Stage:
    """A database, a stand-in, and what the live index says."""

    def __init__(
        self, database: Database, stand_in: SearchStandIn, server: SearchServer, site: Site
    ) -> None:
        self.database, self.stand_in, self.server, self.site = database, stand_in, server, site

    @property
    def held(self) -> set[str]:
        (name,) = self.stand_in.aliases["messor"]
        return set(self.stand_in.indexes[name].written)

    async def wanted(self) -> set[str]:
        rows = await self.database.fetch("SELECT page_id, record_id FROM messor.search_documents")
        return {key_of(*row) for row in rows}

    async def send(self) -> outbox.Sent:
        name = await indexes.name_of(self.database, "live")
        assert name is not None
        return await outbox.send_waiting(self.database, self.server, name)

    async def pages(self, count: int) -> list[int]:
        made = [
            await self.site.page(f"tea {n}", title=f"t{n}", language="en") for n in range(count)
        ]
        return [page for page, _ in made]


@pytest.fixture
async def stage(database: Database, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Stage]:
    monkeypatch.setattr(outbox, "PAUSE_SECONDS", 0.001)
    site = await make_site(database, "a.test")
    async with standing_in() as (stand_in, server):
        yield Stage(database, stand_in, server, site)


def test_the_mapping_is_the_specification_s() -> None:
    properties = index_body()["mappings"]["properties"]
    assert {name: properties[name] for name in layout.PRODUCTS} == {
        "product_id": {"type": "integer"},
        "product_name": {"type": "text", "analyzer": "standard"},
        "description": {"type": "text", "analyzer": "standard"},
        "brand": {"type": "keyword"},
        "category": {"type": "keyword"},
        "domain_name": {"type": "keyword"},
        "created_at": {"type": "date"},
    }


def test_ids_are_short_and_lead_back() -> None:
    for key in ((1, None), (2**63 - 1, 2**63 - 1)):
        assert parts_of(key_of(*key)) == key
        assert len(key_of(*key).encode()) <= 512


PRODUCT = """
INSERT INTO messor.products (record_id, page_id, snapshot_id, domain_id, url, url_hash, product_name,
       description, brand, category, content_hash, parser, parser_version, created_at, updated_at)
VALUES ($1, $2, $3, $4, 'https://a.test/1', '', 'Copper kettle', 'Boils water', 'Acme', 'Kitchen', '',
        'p', '1', '2026-11-01T10:00Z', messor.clock())
RETURNING id
"""


async def test_products_are_found_by_their_alias_with_the_fields_of_the_specification(
    stage: Stage,
) -> None:
    page = await stage.site.page("A kettle.", title="kettle", language="en")
    record = await stage.site.record(
        page, "product", product_name="Copper kettle", brand="Acme", category="Kitchen"
    )
    product = await stage.database.fetchval(PRODUCT, record, *page, stage.site.id)
    await index(stage.database, stage.server)
    query = {
        "multi_match": {
            "query": "water",
            "type": "cross_fields",
            "operator": "and",
            "fields": ["description"],
        }
    }
    said = await stage.server.ask("POST", "products/_search", {"query": query})
    assert [hit["_id"] for hit in said["hits"]["hits"]] == [key_of(page[0], record)]
    said = await stage.server.ask("POST", "products/_search", {"query": {"match_all": {}}})
    assert len(said["hits"]["hits"]) == 1  # pages are not products
    (name,) = stage.stand_in.aliases["products"]
    source = stage.stand_in.indexes[name].written[key_of(page[0], record)].source
    assert {field: source[field] for field in layout.PRODUCTS} == {
        "product_id": product, "product_name": "Copper kettle", "description": "Boils water",
        "brand": "Acme", "category": "Kitchen", "domain_name": "a.test",
        "created_at": "2026-11-01T10:00:00Z",
    }  # fmt: skip


async def test_a_rebuild_under_writes_loses_nothing_and_leaves_no_gap(stage: Stage) -> None:
    """Writers insert, change and erase during two rebuilds; searches go on all the time."""
    database = stage.database
    first = await stage.pages(60)
    await index(database, stage.server)
    full_text = FullText(database, stage.server)
    is_over, notices = asyncio.Event(), []

    async def write() -> None:
        for n in range(30):
            await stage.site.page(f"tea new {n}", title=f"n{n}", language="en")
            await index(database)
            await database.fetch(REWRITE, first[n], f"changed {n}")
            await database.fetch(
                "SELECT messor.forget_pages(ARRAY[$1::bigint], false)", first[59 - n]
            )
            if n % 5 == 0 and not is_over.is_set():
                await stage.send()

    async def ask() -> None:
        while not is_over.is_set():
            found = await full_text.search("tea", limit=100)
            notices.append(found.notice)
            assert len(found.hits) >= 29  # what nobody touches is always found

    async def rebuild_twice() -> None:
        for _ in range(2):
            await rebuild.rebuild(database, stage.server)

    asking = asyncio.create_task(ask())
    await asyncio.gather(write(), rebuild_twice())
    is_over.set()
    await asking
    await stage.send()
    assert set(notices) == {None}
    assert stage.held == await stage.wanted()
    found = await drift.check(database, stage.server)
    assert (found.documents, found.keys) == (60, [])
    assert len(stage.stand_in.indexes) == 1
    assert await database.fetchval("SELECT count(*) FROM messor.search_outbox") == 0


async def test_a_transaction_from_before_the_rebuild_is_not_lost(stage: Stage) -> None:
    """It wrote when no index was registered, and commits while the new one is being made."""
    (page,) = await stage.pages(1)
    await index(stage.database)
    async with stage.database.transaction() as early:
        await early.execute(REWRITE, page, "early")
        building = asyncio.create_task(rebuild.rebuild(stage.database, stage.server))
        while not stage.stand_in.indexes:  # noqa: ASYNC110 - what the other side has done
            await asyncio.sleep(0.01)
        await asyncio.wait([building], timeout=1)  # it waits for this transaction
    await building
    (name,) = stage.stand_in.aliases["messor"]
    assert (
        stage.stand_in.indexes[name].written[key_of(page, None)].source["text"]["english"]["title"]
        == "early"
    )


async def test_what_is_written_while_an_index_is_filled_is_there_before_it_is_live(
    stage: Stage,
) -> None:
    """An earlier run filled it and was killed; the documents were written since."""
    name = await indexes.register(stage.database, "messor-00000000000000000001")
    await stage.pages(3)
    await index(stage.database)
    await indexes.note_filled(stage.database, name, 1000)
    assert (await rebuild.rebuild(stage.database, stage.server)).name == name
    assert stage.held == await stage.wanted()


async def test_an_interrupted_rebuild_continues(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "BATCH", 10)
    await stage.pages(35)
    await index(stage.database)
    bulks_then_down(stage.stand_in, 2)
    with pytest.raises(SearchServerDownError, match="503"):
        await rebuild.rebuild(stage.database, stage.server)
    assert "messor" not in stage.stand_in.aliases
    stage.stand_in.before = None
    sent = await rebuild.rebuild(stage.database, stage.server)
    assert sent.documents == 15  # the rest
    assert stage.held == await stage.wanted()
    stage.stand_in.indexes["messor-20200101000000000000"] = stage.stand_in.indexes[sent.name]
    stage.stand_in.indexes["messor-of-somebody"] = stage.stand_in.indexes[sent.name]
    again = await rebuild.rebuild(stage.database, stage.server)
    assert set(stage.stand_in.indexes) == {again.name, "messor-of-somebody"}


def bulks_then_down(stand_in: SearchStandIn, count: int) -> None:
    """The server breaks down after some bulk requests."""

    def admit(_: str, __: str) -> None:
        if stand_in.bulks == count:
            raise RefusedError(503, "unavailable", "shutting down")

    stand_in.before = admit


async def test_older_versions_do_not_win(stage: Stage) -> None:
    """An entry that is sent late, or twice, is refused with 409 and counts as done."""
    (page,) = await stage.pages(1)
    await index(stage.database, stage.server)
    await stage.database.fetch(REWRITE, page, "first")
    await stage.database.fetch(REWRITE, page, "second")
    rows = await stage.database.fetch("SELECT id FROM messor.search_outbox ORDER BY id")
    await stage.send()
    (name,) = stage.stand_in.aliases["messor"]
    stored = stage.stand_in.indexes[name].written[key_of(page, None)]
    assert stored.version == rows[-1]["id"] + 1
    await stage.database.fetch("UPDATE messor.search_indexes SET tx = '0', outbox_id = 0")
    await stage.database.fetch(
        "INSERT INTO messor.search_outbox (id, tx, page) OVERRIDING SYSTEM VALUE VALUES ($1, '5', $2)",
        rows[0]["id"] - 1000, page,
    )  # fmt: skip
    sent = await stage.send()
    assert (sent.documents, sent.refused) == (1, 0)
    assert stage.stand_in.indexes[name].written[key_of(page, None)].version == stored.version
    # What was deleted stays deleted, though an older write arrives later.
    gone = outbox.deleting(name, "page-9", 7)
    late = outbox.Action("page-9", outbox.indexing(name, (await document(stage, page)), 3).lines)
    late = outbox.Action(
        "page-9", (late.lines[0].replace(key_of(page, None).encode(), b"page-9"), late.lines[1])
    )
    done = await outbox.send(stage.database, stage.server, name, [gone])
    done += await outbox.send(stage.database, stage.server, name, [late])
    assert (done.refused, "page-9" in stage.held) == (0, False)


async def document(stage: Stage, page: int) -> Document:
    (found,) = await documents_of(stage.database, [(page, None)])
    return found


async def test_an_overloaded_server_is_tried_again_and_then_left_alone(stage: Stage) -> None:
    await stage.pages(5)
    await index(stage.database, stage.server)
    await stage.pages(5)
    await index(stage.database)
    stage.stand_in.put_off = 3
    await stage.send()
    assert stage.held == await stage.wanted()
    await stage.pages(2)
    await index(stage.database)
    stage.stand_in.put_off = 1000
    with pytest.raises(
        SearchServerDownError, match=r"deferred 2 documents 4 times\. They will be resent later"
    ):
        await stage.send()
    (status,) = await indexes.statuses(stage.database)
    assert status.trouble is not None
    assert (status.waiting, "overloaded" in status.trouble) == (2, True)
    stage.stand_in.put_off = 0
    stage.stand_in.failures = [429]
    with pytest.raises(SearchServerDownError, match="429"):
        await stage.send()
    await stage.send()
    (status,) = await indexes.statuses(stage.database)
    assert (status.waiting, status.trouble) == (0, None)
    assert stage.held == await stage.wanted()


async def test_a_request_that_is_too_large_is_halved(stage: Stage) -> None:
    for n in range(6):
        await stage.site.page("tea " * 500, title=f"t{n}", language="en")
    stage.stand_in.max_bulk_bytes = 6_000
    await index(stage.database, stage.server)
    assert stage.held == await stage.wanted()


async def test_what_the_server_refuses_is_counted_and_named_and_stops_nothing(stage: Stage) -> None:
    pages = await stage.pages(3)
    await index(stage.database, stage.server)
    await stage.database.fetch(
        "UPDATE messor.search_documents SET rating = 3e20, indexed_at = messor.clock() WHERE page_id = $1",
        pages[1],
    )
    await stage.pages(1)
    await index(stage.database)
    sent = await stage.send()
    assert (sent.documents, sent.refused) == (2, 1)
    (status,) = await indexes.statuses(stage.database)
    assert (status.refused, status.waiting) == (1, 0)
    assert status.last_refusal is not None
    assert "rating_floor" in status.last_refusal
    found = await drift.check(stage.database, stage.server)
    assert (found.different, found.missing) == ([(pages[1], None)], [])


async def test_drift_is_found_and_repaired(stage: Stage) -> None:
    pages = await stage.pages(4)
    await index(stage.database, stage.server)
    (name,) = stage.stand_in.aliases["messor"]
    held = stage.stand_in.indexes[name]
    del held.written[key_of(pages[0], None)]
    held.written[key_of(pages[1], None)].source["fingerprint"] = "other"
    held.written["page-999"] = Stored("page-999", 1, {}, {"key": "page-999"})
    await stage.database.fetch(REWRITE, pages[3], "waits")  # not sent yet: no drift
    found = await drift.check(stage.database, stage.server)
    assert (found.missing, found.different, found.extra) == (
        [(pages[0], None)],
        [(pages[1], None)],
        [(999, None)],
    )
    held.versions.clear()
    await drift.repair(stage.database, found)
    await stage.send()
    assert (await drift.check(stage.database, stage.server)).keys == []
    assert stage.held == await stage.wanted()


async def test_erasure_reaches_the_index(stage: Stage) -> None:
    pages = await stage.pages(3)
    await index(stage.database, stage.server)
    await stage.database.fetch("SELECT messor.forget_pages($1::bigint[], true)", pages[:2])
    await stage.send()
    assert stage.held == {key_of(pages[2], None)}


async def test_nothing_is_noted_without_an_index(stage: Stage) -> None:
    await stage.pages(2)
    await index(stage.database)
    assert await stage.database.fetchval("SELECT count(*) FROM messor.search_outbox") == 0
    await index(stage.database, stage.server)
    await stage.pages(2)
    await index(stage.database)
    assert await stage.database.fetchval("SELECT count(*) FROM messor.search_outbox") == 2
    await rebuild.drop(stage.database, stage.server)
    assert stage.stand_in.indexes == {}
    assert await stage.database.fetchval("SELECT count(*) FROM messor.search_outbox") == 0


async def test_a_name_that_is_taken_is_told(stage: Stage) -> None:
    await stage.pages(1)
    await index(stage.database)
    await stage.server.ask("PUT", "products", {})
    with pytest.raises(ConflictError, match="has an index named products: choose another name"):
        await rebuild.rebuild(stage.database, stage.server)


async def test_while_the_server_is_down_postgresql_answers_and_says_so(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(clock, "now", lambda: now)
    await stage.pages(4)
    await index(stage.database)
    full_text = FullText(stage.database, stage.server)
    found = await full_text.search("tea")
    assert len(found.hits) == 4
    assert str(found.notice).endswith("has no index yet; make it with: messor search-index rebuild")
    await index(stage.database, stage.server)
    now += 31
    begun = await full_text.search("tea", limit=2)
    assert (begun.answered_by, begun.notice) == ("search server", None)
    stage.stand_in.failures = [503]
    found = await full_text.search("tea")
    assert (len(found.hits), found.answered_by) == (4, "postgresql")
    assert "returned 503: rejected execution" in str(found.notice)
    asked = len(stage.stand_in.asked)
    assert (await full_text.facets("tea")).total == 4
    with pytest.raises(UsageError, match="Start again from the first page"):
        await full_text.search("tea", after=begun.next)
    assert len(stage.stand_in.asked) == asked  # it is left alone for a while
    other = await full_text.search("tea", limit=2)
    now += 31
    assert (await full_text.search("tea", limit=2, after=other.next)).answered_by == "postgresql"
    assert (await full_text.search("tea", limit=2, after=begun.next)).answered_by == "search server"


async def test_a_server_that_is_not_there_or_refuses_the_login_is_named(stage: Stage) -> None:
    await stage.pages(1)
    await index(stage.database)
    async with server_at("http://127.0.0.1:9") as nowhere:
        found = await FullText(stage.database, nowhere).search("tea")
        assert "The search server http://127.0.0.1:9 cannot be reached" in str(found.notice)
    stage.stand_in.authorization = "Basic YWRhOnB3"
    with pytest.raises(
        SearchServerRefusedError,
        match=r"rejected the credentials \(401\): check MESSOR_SEARCH_SERVER_KEY",
    ):
        await stage.server.ask("GET", "")
    async with server_at(
        stage.stand_in.url, search_server_user="ada", search_server_password="pw"
    ) as right:
        assert (await right.ask("GET", ""))["version"]["number"] == "0.0.0-stand-in"
    stage.stand_in.authorization = "ApiKey k"
    async with server_at(stage.stand_in.url, search_server_key="k") as right:
        await right.ask("GET", "")
    with pytest.raises(UsageError, match="is not a URL such as"):
        server_at("search.internal")
