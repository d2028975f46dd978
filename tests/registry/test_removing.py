"""Purging and erasing after a real crawl: rows, bytes, the list, and that it stays so."""

from __future__ import annotations

import gzip
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from messor.archive import erased_bytes
from messor.archive.segments import read_record
from messor.errors import ConflictError, UsageError
from messor.extraction.trial_queries import TRIALS
from messor.governance import decisions, erasure, intake, purges
from messor.ledger.events import Event, record
from messor.parsers import trials
from messor.registry import domains, notes, submissions
from messor.registry.submissions import Submitter
from messor.settings import Settings
from messor.store.database import Database
from messor.watches import watches
from messor.watches.watches import NewWatch
from tests.crawling import TESTER, admit, crawl
from tests.listed import listed
from tests.little_web import LittleWeb, page
from tests.registry.standing import event_types, events, only

JANE = "http://one.test/jane"
CONTENT = ("page_snapshots", "snapshot_texts", "page_changes", "pages", "crawl_tasks")


async def crawled(database: Database, folder: Path) -> Settings:
    """Two domains, harvested."""
    rooms = {"/": page("Home", "/jane", "/bob"), "/jane": page("Jane Doe"), "/bob": page("Bob")}
    async with LittleWeb(folder, {"one.test": rooms, "two.test": {"/": page("Two")}}) as web:
        settings = web.settings()
        for host in ("one.test", "two.test"):
            await admit(database, f"http://{host}/")
        await crawl(settings, database)
    return settings


async def count(database: Database, table: str) -> int:
    rows: int = await database.fetchval(f"SELECT count(*) FROM messor.{table}")
    return rows


async def blacklist(database: Database, name: str = "one.test") -> decisions.Decided:
    async with database.transaction() as connection:
        return await decisions.blacklist(connection, name, actor=TESTER, reason="spam")


async def places(database: Database) -> dict[str, tuple[str, int, int]]:
    rows = await database.fetch(
        """SELECT p.url, g.name, s.segment_offset, s.segment_length FROM messor.page_snapshots s
             JOIN messor.pages p ON p.id = s.page_id JOIN messor.segments g ON g.id = s.segment_id"""
    )
    return {row["url"]: tuple(row)[1:] for row in rows}


async def test_a_blacklisted_domain_can_be_purged(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    archive = settings.data_dir / "archive"
    before = await places(database)
    decided = await blacklist(database)
    assert decided.holdings is not None
    assert decided.holdings.snapshots == 3
    assert "3 snapshots of it are stored; they can be purged" in decided.message
    fetches = await count(database, "http_fetches")
    async with database.transaction() as connection:
        kept = await purges.purge(connection, "one.test", actor=TESTER)
    assert kept.snapshots == 3
    assert set(await places(database)) == {"http://two.test/"}
    assert await count(database, "snapshot_texts") == 1
    assert await count(database, "http_fetches") == fetches  # the proof of how we behaved
    assert (await domains.get(database, "one.test")).pages_known == 0
    assert (await event_types(database))[-1] == "domain.purged"

    assert await erased_bytes.blank_waiting(archive, database) == 3
    assert await erased_bytes.waiting(database) == 0
    gone = [gzip.decompress(read_record(archive, *before[url])) for url in before if "one" in url]
    assert all(b"WARC-Type: metadata" in text and b"one.test" not in text for text in gone)
    assert b"Two" in gzip.decompress(read_record(archive, *before["http://two.test/"]))
    name = before["http://two.test/"][0]
    whole = gzip.decompress((archive / name).read_bytes())  # all members, as any tool reads them
    assert whole.count(b"WARC/1.1\r\n") >= 5
    assert b"Jane" not in whole


async def test_an_approved_domain_is_not_purged(database: Database, tmp_path: Path) -> None:
    await crawled(database, tmp_path)
    with pytest.raises(ConflictError, match=r"is approved .* suspend or blacklist it before"):
        async with database.transaction() as connection:
            await purges.purge(connection, "one.test", actor=TESTER)


async def test_bytes_wait_for_a_writer_that_lives(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    await blacklist(database)
    async with database.transaction() as connection:
        await purges.purge(connection, "one.test", actor=TESTER)
    await database.fetch("UPDATE messor.worker_leases SET ended_at = NULL")
    assert await erased_bytes.blank_waiting(settings.data_dir / "archive", database) == 0
    assert await erased_bytes.waiting(database) == 3


async def test_what_a_visit_brings_after_the_purge_goes_too(
    database: Database, tmp_path: Path
) -> None:
    await crawled(database, tmp_path)
    await blacklist(database)
    late = await database.fetchrow(
        "SELECT s.* FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id"
        " WHERE p.url = $1",
        JANE,
    )
    assert late is not None
    async with database.transaction() as connection:
        await purges.purge(connection, "one.test", actor=TESTER)
    columns = [name for name in late.keys() if name != "id"]  # noqa: SIM118 - a record, no dict
    marks = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    await database.fetch(
        f"INSERT INTO messor.page_snapshots ({', '.join(columns)}) VALUES ({marks})",
        *(late[name] for name in columns),
    )
    async with database.transaction() as connection:
        await erasure.finish(connection)
    assert set(await places(database)) == {"http://two.test/"}
    assert await count(database, "page_snapshots") == 1


async def test_a_page_is_erased_and_not_fetched_again(database: Database, tmp_path: Path) -> None:
    rooms = {"/": page("Home", "/jane"), "/jane": page("Jane Doe")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        settings = web.settings()
        await admit(database, "http://one.test/")
        await crawl(settings, database)
        assert list(await erasure.mentions(database, "jane doe")) == [JANE]
        async with database.transaction() as connection:
            await erasure.erase_url(connection, JANE, actor=TESTER, reason="asked by Jane")
        assert list(await erasure.mentions(database, "jane doe")) == []
        web.houses["one.test"].rooms["/"] = page("Home anew", "/jane")
        async with database.transaction() as connection:
            await intake.rescrape(connection, "one.test", actor=TESTER)
        before = web.paths("one.test").count("/jane")
        await crawl(settings, database)
        assert web.paths("one.test").count("/jane") == before
    assert await only(database, "SELECT count(*) FROM messor.pages WHERE url LIKE '%jane%'") == 0
    assert await only(
        database,
        "SELECT count(*) FROM messor.http_fetches f WHERE NOT EXISTS"
        " (SELECT FROM messor.pages p WHERE p.id = f.page_id)",
    ) == 0  # fmt: skip
    with pytest.raises(ConflictError, match="asked by Jane"):
        async with database.transaction() as connection:
            await intake.submit_url(connection, JANE, Submitter(TESTER))


async def test_a_domain_is_erased_for_good(database: Database, tmp_path: Path) -> None:
    await crawled(database, tmp_path)
    async with database.transaction() as connection:
        domain = await domains.get(connection, "one.test")
        await notes.add(connection, domain, "about Jane", actor=TESTER)
        erased = await erasure.erase_domain(
            connection, "one.test", actor=TESTER, reason="asked by its owner"
        )
    assert (erased.kind, erased.key) == ("domain", "one.test")
    domain = await domains.get(database, "one.test")
    assert (domain.status, domain.submission_context) == ("blacklisted", None)
    for table in ("hosts", "lanes", "pages", "page_snapshots"):
        rows = str(await database.fetch(f"SELECT to_jsonb(t)::text FROM messor.{table} t"))
        assert "one.test" not in rows, table
    assert await count(database, "hosts") == 1
    assert await count(database, "domain_notes") == 0
    async with database.transaction() as connection:
        answer = await intake.submit_domain(
            connection, "one.test", Submitter(TESTER), context="please"
        )
    assert answer.outcome == "blacklisted"


async def test_an_unknown_domain_can_be_erased_beforehand(database: Database) -> None:
    async with database.transaction() as connection:
        await erasure.erase_domain(connection, "one.test", actor=TESTER, reason="asked")
    assert (await domains.get(database, "one.test")).status == "blacklisted"


async def test_a_person_is_erased_from_what_they_did(database: Database) -> None:
    jane = Submitter("jane", "public_user", "Jane@mail.example")
    async with database.transaction() as connection:
        await intake.submit_url(
            connection, "https://example.org/a", jane, submit=True, context="mine"
        )
        domain = await domains.get(connection, "example.org")
        await notes.add(connection, domain, "words", actor="jane")
        await record(connection, [Event("domain.noted", "jane", data={"submitted_by": "jane"})])
    for who in ("jane", "jane@MAIL.example "):
        async with database.transaction() as connection:
            await erasure.erase_person(connection, who, actor=TESTER, reason="asked by her")
    for table in ("domains", "domain_submissions", "submitted_urls", "domain_notes", "events",
                  "erasures"):  # fmt: skip
        rows = str(await database.fetch(f"SELECT to_jsonb(t)::text FROM messor.{table} t")).lower()
        assert "jane" not in rows, table
    domain = await domains.get(database, "example.org")
    assert domain.submitted_by.startswith("erased-")
    assert (await events(database))[0].actor == domain.submitted_by
    async with database.transaction() as connection:
        await submissions.ask(
            connection, domains.Submission.understand("two.example"),
            Submitter("other", "public_user", "jane@mail.example"),
        )  # fmt: skip
    contacts = "SELECT count(*) FROM messor.domain_submissions WHERE contact IS NOT NULL"
    assert await only(database, contacts) == 0


async def test_a_restored_backup_is_erased_again(database: Database, tmp_path: Path) -> None:
    await crawled(database, tmp_path)
    await database.fetch(
        """INSERT INTO messor.erasures (id, kind, key, reason, erased_by) VALUES
           (gen_random_uuid(), 'url', $1, 'asked', 'x'),
           (gen_random_uuid(), 'domain', 'two.test', 'asked', 'x'),
           (gen_random_uuid(), 'person', messor.person_key($2), 'asked', 'x')""",
        JANE,
        TESTER,
    )
    assert await erasure.replay(database) == 3
    assert set(await places(database)) == {"http://one.test/", "http://one.test/bob"}
    assert (await domains.get(database, "two.test")).status == "blacklisted"
    assert (await domains.get(database, "one.test")).submitted_by.startswith("erased-")
    assert await erasure.replay(database) == 3  # and nothing is left to do


@pytest.mark.parametrize("reason", ["", " "])
async def test_an_erasure_needs_a_reason(database: Database, reason: str) -> None:
    for act in (
        partial(erasure.erase_domain, name="one.test"),
        partial(erasure.erase_url, text=JANE),
        partial(erasure.erase_person, who="jane"),
    ):
        with pytest.raises(UsageError, match="Give a reason"):
            async with database.transaction() as connection:
                await act(connection, actor=TESTER, reason=reason)
    assert await count(database, "erasures") == 0


@pytest.mark.parametrize("length", [*range(1, 40), 150, 200, 250, 300, 1000, 100_000])
def test_a_blank_has_exactly_its_length(length: int) -> None:
    blank = erased_bytes.blank(length)
    assert len(blank) == length
    if length >= 300:
        assert b"WARC-Type: metadata" in gzip.decompress(blank)
    elif length >= 21:
        gzip.decompress(blank)


async def test_a_page_erased_before_it_was_known_is_never_fetched(
    database: Database, tmp_path: Path
) -> None:
    rooms = {"/": page("Home", "/jane"), "/jane": page("Jane Doe")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with database.transaction() as connection:
            await erasure.erase_url(connection, JANE, actor=TESTER, reason="asked by Jane")
            await intake.submit_domain(connection, "http://one.test/", Submitter(TESTER))
            await decisions.approve(connection, "one.test", actor=TESTER)
        await crawl(web.settings(default_delay=0.0), database)
        assert "/" in web.paths("one.test")
        assert "/jane" not in web.paths("one.test")


async def test_what_trials_quote_of_a_page_goes_with_it(database: Database) -> None:
    def example(url: str) -> dict[str, object]:
        return {"url": url, "field": "contact.name", "stored": "Jane", "candidate": None}

    report = {
        "pages": 4, "fields": {}, "domains": {"one.test": {"pages": 3}, "two.test": {"pages": 1}},
        "examples": [example(JANE), example("http://one.test/bob"), example("http://two.test/")],
    }  # fmt: skip
    async with database.transaction() as connection:
        await trials.add(connection, "generic", "2", report, domain_id=None, actor=TESTER)
        await erasure.erase_url(connection, JANE, actor=TESTER, reason="asked by Jane")
    told = (await listed(TRIALS, database))[0].report
    assert [each["url"] for each in told["examples"]] == ["http://one.test/bob", "http://two.test/"]
    assert set(told["domains"]) == {"one.test", "two.test"}
    async with database.transaction() as connection:
        await erasure.erase_domain(connection, "one.test", actor=TESTER, reason="asked")
    told = (await listed(TRIALS, database))[0].report
    assert [each["url"] for each in told["examples"]] == ["http://two.test/"]
    assert (set(told["domains"]), told["pages"]) == ({"two.test"}, 4)


# Columns that look as if they named a person, and do not.
NOBODY = {
    ("erasures", "erased_by"),  # who answers for an erasure is not erased by it
    ("idempotency_keys", "owner"),
    ("jobs", "locked_by"),
    ("jobs_history", "locked_by"),
    ("pages", "found_by"),
    ("sessions", "opened_by"),
    ("login_challenges", "opened_by"),
}
NAMING = """
SELECT c.relname::text, a.attname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
 WHERE c.relnamespace = 'messor'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'text'::regtype
   AND (a.attname ~ '_by$' OR a.attname IN ('actor', 'owner', 'author', 'assigned_to'))
"""


async def test_no_column_that_names_a_person_is_forgotten(database: Database) -> None:
    named = {(table, column) for table, column in await database.fetch(NAMING)}
    assert named - NOBODY == set(erasure.PEOPLE)


async def test_no_watch_tells_an_erased_person(database: Database) -> None:
    wanted = NewWatch(
        "Prices", "products", {"when": "new"}, channel="mail", recipient="jane@one.test"
    )
    async with database.transaction() as connection:
        await watches.add(connection, wanted, actor=TESTER)
        kept, _ = await watches.add(
            connection, replace(wanted, recipient="bob@one.test"), actor=TESTER
        )
        await erasure.erase_person(connection, "jane@one.test", actor=TESTER, reason="asked by her")
    left = await database.fetch("SELECT id FROM messor.watches")
    assert [row["id"] for row in left] == [kept.id]
