"""`messor archive verify`: what was stored wrongly is found, put right, or read again."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from messor.archive.hashes import raw_hash
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import SimResponse, plain
from simweb.services import Crawl4AIStandIn, WorldBrowser
from tests.cli.conftest import Messor
from tests.crawling import admit, crawl
from tests.extraction.test_shell_sites import (
    HOSTS,
    PATHS,
    SHELL,
    addresses,
    all_products,
    products,
    rendered,
    shell_site,
    snapshots,
)
from tests.little_web import LittleWeb

T = TypeVar("T")

# What the path once did: every page that was rendered from the same shell was given the record of
# the first, and the shell's hash.
AS_BEFORE = """
UPDATE messor.page_snapshots s
   SET raw_hash = $1, segment_id = f.segment_id, segment_offset = f.segment_offset,
       segment_length = f.segment_length, revisit_segment_id = NULL, revisit_offset = NULL,
       revisit_length = NULL
  FROM (SELECT * FROM messor.page_snapshots ORDER BY id LIMIT 1) f
"""
FIRST = """
SELECT p.url FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id ORDER BY s.id LIMIT 1
"""


class Shop:
    """A shell site on two domains, rendered by a service, crawled as often as it is asked to."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self._dsn = dsn
        self._folder = folder
        self.settings: Settings | None = None

    async def crawl(self, *, first: bool = False) -> None:
        def respond(host: str, path: str, secure: bool) -> SimResponse:
            del secure
            return rendered(host.partition(":")[0], path) if path in PATHS else plain(404, "no")

        async with (
            Database(self._dsn) as database,
            LittleWeb(self._folder, dict.fromkeys(HOSTS, shell_site())) as web,
            Crawl4AIStandIn(WorldBrowser(respond)) as served,
        ):
            self.settings = web.settings(crawl4ai_url=served.base_url)
            for host in HOSTS if first else ():
                await admit(database, f"http://{host}/", delay=0.01)
            await crawl(self.settings, database)

    async def run(self, sql: str, *values: Any) -> Any:
        async with Database(self._dsn) as database:
            return await database.fetch(sql, *values)

    async def kept(self) -> dict[str, dict[str, Any]]:
        assert self.settings is not None
        async with Database(self._dsn) as database:
            return await snapshots(database, self.settings)

    async def products(self) -> list[str]:
        assert self.settings is not None
        async with Database(self._dsn) as database:
            return await products(database, self.settings)


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture
def shop(dsn: str, tmp_path: Path) -> Shop:
    shop = Shop(dsn, tmp_path)
    run(shop.crawl(first=True))
    return shop


def test_what_was_stored_wrongly_is_found_and_read_again(shop: Shop, messor: Messor) -> None:
    said = messor("archive", "verify", "--json")
    assert said.code == 0, said.err
    assert (said.json["clean"], said.json["examined"]) == (True, len(addresses()))

    run(shop.run(AS_BEFORE, raw_hash(SHELL.encode())))
    ((right,),) = run(shop.run(FIRST))
    assert len(run(shop.products())) < len(all_products())
    said = messor("archive", "verify", "--json")
    assert said.code == 8
    flaws = {each["url"]: each["flaw"] for each in said.json["snapshots"]}
    assert flaws == {**dict.fromkeys(addresses(), "misfiled"), right: "hash"}
    audit = messor("audit", "records", "--json")
    assert audit.code == 8
    (check,) = (each for each in audit.json["checks"] if each["id"] == "RECORDS_006")
    assert (check["state"], check["broken"]) == ("fail", len(addresses()))

    said = messor("archive", "verify", "--repair", "--json")
    assert said.code == 0, said.err
    wrong = len(addresses()) - 1
    assert said.json["repaired"] == {"hashes_corrected": 1, "marked": wrong, "pages_due": wrong}
    assert messor("archive", "verify").code == 0  # they are known, and wait to be fetched
    run(shop.crawl())
    kept = run(shop.kept())
    assert {raw_hash(each["body"]) == each["raw_hash"] for each in kept.values()} == {True}
    assert sorted(kept) == addresses()
    said = messor("archive", "verify", "--json")
    assert (said.json["clean"], said.json["known"], said.json["elsewhere"]) == (True, 0, 0)
    assert run(shop.products()) == all_products()
    assert messor("audit", "records").code == 0


def test_one_domain_and_a_sample(shop: Shop, messor: Messor) -> None:
    run(shop.run(AS_BEFORE, raw_hash(SHELL.encode())))
    said = messor("archive", "verify", "--domain", "two.test")
    assert said.code == 8
    assert f"of {len(PATHS)} snapshots do not match the archive" in said.out
    assert "To repair: messor archive verify --repair" in said.err
    said = messor("archive", "verify", "--sample", "3", "--json")
    assert (said.code, said.json["examined"]) == (8, 3)
    said = messor("archive", "verify", "--domain", "nowhere.test")
    assert said.code != 0
    assert "nowhere.test" in said.err


def test_an_address_without_a_record_gets_one_without_a_request(shop: Shop, messor: Messor) -> None:
    """Equal bytes that were stored once, as before there were revisit records."""
    run(
        shop.run("""
UPDATE messor.page_snapshots s SET raw_hash = f.raw_hash, content_hash = f.content_hash,
       segment_id = f.segment_id, segment_offset = f.segment_offset,
       segment_length = f.segment_length, revisit_segment_id = NULL, revisit_offset = NULL,
       revisit_length = NULL
  FROM (SELECT * FROM messor.page_snapshots ORDER BY id LIMIT 1) f""")
    )
    run(
        shop.run("""
UPDATE messor.snapshot_texts SET markdown =
  (SELECT x.markdown FROM messor.snapshot_texts x ORDER BY snapshot_id LIMIT 1)""")
    )
    said = messor("archive", "verify", "--repair", "--json")
    assert said.json["found"] == {"unrecorded": len(addresses()) - 1}
    assert said.json["repaired"] == {"records_written": len(addresses()) - 1}
    assert messor("archive", "verify").code == 0


# What may happen to a snapshot ($1: its number), and the flaw that is found.
HARM = [
    ("UPDATE messor.snapshot_texts SET markdown = 'something else' WHERE snapshot_id = $1", "text"),
    ("UPDATE messor.snapshot_texts SET markdown = '' WHERE snapshot_id = $1", "text"),
    ("DELETE FROM messor.snapshot_texts WHERE snapshot_id = $1", "text"),
    ("UPDATE messor.page_snapshots SET content_hash = sha256(content_hash) WHERE id = $1", "text"),
    (
        """WITH other AS (UPDATE messor.snapshot_texts SET markdown = 'another page'
                           WHERE snapshot_id = $1 RETURNING 1)
           UPDATE messor.page_snapshots SET content_hash = sha256('another page') WHERE id = $1""",
        "text",
    ),
    (
        "UPDATE messor.page_snapshots SET segment_offset = segment_offset + 1 WHERE id = $1",
        "damaged",
    ),
    (
        "UPDATE messor.page_snapshots SET segment_length = segment_length - 9 WHERE id = $1",
        "damaged",
    ),
]


def test_other_harm_is_noticed(shop: Shop, messor: Messor) -> None:
    """One snapshot is harmed in each way; the others are not blamed."""
    rows = run(shop.run("SELECT id FROM messor.page_snapshots ORDER BY id"))
    harmed = {row["id"]: flaw for row, (_, flaw) in zip(rows, HARM, strict=False)}
    assert len(harmed) == len(HARM) < len(rows)
    for snapshot_id, (harm, _) in zip(harmed, HARM, strict=True):
        run(shop.run(harm, snapshot_id))
    said = messor("archive", "verify", "--json")
    assert said.code == 8
    assert {each["snapshot_id"]: each["flaw"] for each in said.json["snapshots"]} == harmed
    assert messor("archive", "verify", "--repair").code == 0
    run(shop.crawl())
    said = messor("archive", "verify", "--json")
    assert (said.code, said.json["found"]) == (0, {})
    current = "SELECT count(*) FROM messor.page_snapshots s JOIN messor.crawl_tasks t"
    ((good,),) = run(shop.run(f"{current} ON t.snapshot_id = s.id WHERE s.misfiled_at IS NULL"))
    assert good == len(addresses())


def test_bytes_on_another_machine_are_no_fault(shop: Shop, messor: Messor) -> None:
    assert shop.settings is not None
    (shop.settings.data_dir / "archive").rename(shop.settings.data_dir / "moved")
    said = messor("archive", "verify", "--json")
    assert (said.code, said.json["elsewhere"]) == (0, len(addresses()))
    assert "are on other machines" in said.json["verdict"]
