"""Writing to a view leaves what the service leaves: each act done both ways, and every table compared."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from messor.fetch.proxies import registry as proxies
from messor.frontier import control
from messor.frontier.control import Scope
from messor.governance import decisions, intake
from messor.registry import domains, notes, submissions
from messor.registry.domains import Submission
from messor.registry.life import TRANSITIONS
from messor.registry.submissions import Submitter
from messor.store.database import Connection, Database
from messor.web.urls import url_hash
from tests.template_server import with_database

_numbers = itertools.count()
TABLES = """
SELECT relname FROM pg_class WHERE relnamespace = 'messor'::regnamespace
   AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'alembic_version' ORDER BY 1
"""
STAND = """
UPDATE messor.domains SET status = $1, reviewed_at = messor.clock(), rejection_reason = 'r' WHERE id = $2
"""
STEP = "SELECT messor.move_domain($1, $2, 'test', 'reason')"
IDENTIFIER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")
Service = Callable[[Database, str], Awaitable[object]]


async def contents(database: Database) -> dict[str, list[str]]:
    """Every row of every table; without times, made-up identifiers and the transaction.

    Nor the link to a submission's status page: SQL makes none, as it has nobody to give it to.
    """
    found = {}
    for (table,) in await database.fetch(TABLES):
        rows = await database.fetch(f"SELECT to_jsonb(t)::text AS row FROM messor.{table} t")
        plain = [MOMENT.sub("T", IDENTIFIER.sub("ID", row["row"])) for row in rows]
        facts = [json.loads(row) for row in plain]
        for fact in facts:
            fact.pop("tx", None)
            fact.pop("token", None)
        found[table] = sorted(json.dumps(fact, sort_keys=True) for fact in facts)
    return {table: rows for table, rows in found.items() if rows}


@pytest.fixture
async def twins(filled_server: str) -> AsyncIterator[tuple[Database, Database]]:
    """Two databases with the same rows."""
    raw = await asyncpg.connect(filled_server, ssl=False)
    names = [f"twin_{os.getpid()}_{next(_numbers)}" for _ in range(2)]
    try:
        for name in names:
            await raw.execute(f"CREATE DATABASE {name} TEMPLATE specs")
        one, other = (Database(with_database(filled_server, name)) for name in names)
        async with one, other:
            yield one, other
        for name in names:
            await raw.execute(f"DROP DATABASE {name} WITH (FORCE)")
    finally:
        await raw.close()


async def actor_of(database: Database) -> str:
    actor: str = await database.fetchval("SELECT messor.sql_actor()")
    return actor


async def in_one(database: Database, act: Callable[[Connection], Awaitable[object]]) -> None:
    async with database.transaction() as connection:
        await act(connection)


async def submit(database: Database, actor: str) -> None:
    asker = Submitter(actor, "system")
    await in_one(
        database,
        lambda c: submissions.ask(
            c, Submission.understand("foodbank.org"), asker, context="Food", delay=2.0
        ),
    )


async def approve(database: Database, actor: str) -> None:
    await in_one(database, lambda c: decisions.approve(c, "waiting.org", actor=actor))


async def reject(database: Database, actor: str) -> None:
    await in_one(database, lambda c: decisions.reject(c, "waiting.org", actor=actor, reason="spam"))


async def suspend(database: Database, actor: str) -> None:
    await in_one(database, lambda c: decisions.suspend(c, "example.com", actor=actor))


async def blacklist(database: Database, actor: str) -> None:
    await in_one(
        database, lambda c: decisions.blacklist(c, "example.com", actor=actor, reason="scam")
    )


async def trust(database: Database, actor: str) -> None:
    async with database.transaction() as connection:
        domain = await domains.get(connection, "example.com")
        await notes.trust(connection, domain, actor=actor, trusted=True)


async def configure(database: Database, actor: str) -> None:
    async with database.transaction() as connection:
        domain = await domains.get(connection, "example.com")
        await domains.configure(connection, domain, actor=actor, delay=4, max_crawl_depth=7)


async def classify(database: Database, actor: str) -> None:
    async with database.transaction() as connection:
        domain = await domains.get(connection, "example.com")
        await notes.classify(connection, domain, "directory", actor=actor)


async def submit_url(database: Database, actor: str) -> None:
    asker = Submitter(actor, "system")
    await in_one(
        database, lambda c: intake.submit_url(c, "https://shop.example.com/product1", asker)
    )


async def pause_domain(database: Database, actor: str) -> None:
    await control.act(database, "pause", await Scope.domain(database, "example.com"), actor=actor)


def on_task(act: str) -> Service:
    async def do(database: Database, actor: str) -> None:
        scope = await Scope.url(database, "https://example.com/headphones")
        await control.act(database, act, scope, actor=actor)

    return do


async def disable_proxy(database: Database, actor: str) -> None:
    async with database.transaction() as connection:
        known = await proxies.get(connection, "1")
        await proxies.switch(connection, known, active=False, actor=actor)


HEADPHONES = "WHERE url = 'https://example.com/headphones'"
ACTS: dict[str, tuple[Service, str]] = {
    "submit": (submit, """INSERT INTO approval.domains (domain_url, submission_context)
                          VALUES ('foodbank.org', 'Food')"""),
    "approve": (approve, "UPDATE approval.domains SET status = 'approved' WHERE domain_url = 'waiting.org'"),
    "reject": (reject, """UPDATE approval.domains SET status = 'rejected', rejection_reason = 'spam'
                           WHERE domain_url = 'waiting.org'"""),
    "suspend": (suspend, "UPDATE approval.domains SET status = 'suspended' WHERE domain_url = 'example.com'"),
    "blacklist": (blacklist, """UPDATE funding.domain SET status = 'BLACKLISTED', blacklist_reason = 'scam'
                                 WHERE domain_name = 'example.com'"""),
    "trust": (trust, "UPDATE approval.domains SET is_trusted_domain = true WHERE domain_url = 'example.com'"),
    "configure": (configure, """UPDATE approval.domains SET crawl_rate_limit_seconds = 4, max_crawl_depth = 7
                                 WHERE domain_url = 'example.com'"""),
    "classify": (classify, "UPDATE wellness.domains SET domain_class = 'directory' WHERE domain = 'example.com'"),
    "submit a URL": (submit_url, """INSERT INTO forager.crawl_tasks (domain_id, url, status, scheduled_at)
        VALUES (1, 'https://shop.example.com/product1', 'pending', messor.clock())"""),
    "pause a domain": (pause_domain, "UPDATE forager.domains SET is_active = false WHERE id = 1"),
    "pause": (on_task("pause"), f"UPDATE forager.crawl_tasks SET status = 'paused' {HEADPHONES}"),
    "stop": (on_task("stop"), f"UPDATE forager.crawl_tasks SET status = 'cancelled' {HEADPHONES}"),
    "recrawl": (on_task("recrawl"), f"UPDATE forager.crawl_tasks SET status = 'pending' {HEADPHONES}"),
    "disable a proxy": (disable_proxy, "UPDATE forager.proxies SET is_active = false WHERE id = 1"),
}  # fmt: skip


async def test_a_write_leaves_what_its_service_leaves(twins: tuple[Database, Database]) -> None:
    """All of them in a row, on the same two databases: later acts meet what earlier ones left."""
    by_service, by_view = twins
    for name in ("submit", "approve", "trust", "configure", "classify", "submit a URL", "pause",
                 "pause a domain", "disable a proxy", "suspend"):  # fmt: skip
        service, statement = ACTS[name]
        await service(by_service, await actor_of(by_view))
        await in_one(by_view, lambda c, sql=statement: c.execute(sql))  # type: ignore[misc]
        assert await contents(by_view) == await contents(by_service), name


@pytest.mark.parametrize("name", ["reject", "blacklist", "stop", "recrawl"])
async def test_what_ends_something_does_so_alike(
    twins: tuple[Database, Database], name: str
) -> None:
    by_service, by_view = twins
    service, statement = ACTS[name]
    await service(by_service, await actor_of(by_view))
    await in_one(by_view, lambda c: c.execute(statement))
    assert await contents(by_view) == await contents(by_service)


async def test_waiting_urls_are_taken_and_a_suspended_domain_resumes(
    twins: tuple[Database, Database],
) -> None:
    by_service, by_view = twins
    actor = await actor_of(by_view)
    asker = Submitter(actor, "system")
    for database in twins:
        await in_one(
            database, lambda c: intake.submit_url(c, "https://waiting.org/help?b=1&a=2", asker)
        )
    await approve(by_service, actor)
    await in_one(by_view, lambda c: c.execute(ACTS["approve"][1]))
    assert await contents(by_view) == await contents(by_service)
    for database in twins:
        await suspend(database, actor)
    await in_one(by_service, lambda c: decisions.resume(c, "example.com", actor=actor))
    sql = "UPDATE approval.domains SET status = 'approved' WHERE domain_url = 'example.com'"
    await in_one(by_view, lambda c: c.execute(sql))
    assert await contents(by_view) == await contents(by_service)


async def is_step(database: Database, own: UUID, before: str, after: str) -> bool:
    """Whether the view's function takes a step; nothing of it is kept."""
    async with database.connection() as connection:
        await connection.execute("BEGIN")
        try:
            await connection.execute("ALTER TABLE messor.domains DISABLE TRIGGER USER")
            await connection.execute(STAND, before, own)
            await connection.fetch(STEP, own, after)
        except asyncpg.InvalidParameterValueError:
            return False
        finally:
            await connection.execute("ROLLBACK")
    return True


async def test_the_steps_of_a_status_are_those_of_the_service(filled: Database) -> None:
    own: UUID = await filled.fetchval("SELECT id FROM domains WHERE domain = 'waiting.org'")
    for before, after in itertools.product(TRANSITIONS, TRANSITIONS):
        expected = after in TRANSITIONS[before]
        assert await is_step(filled, own, before, after) == expected, (before, after)


REFUSED: dict[str, tuple[str, str]] = {
    "a known domain": (
        "INSERT INTO approval.domains (domain_url) VALUES ('example.com')",
        "example.com was submitted before and is approved",
    ),
    "a name that may be part of a domain": (
        "INSERT INTO approval.domains (domain_url) VALUES ('a.b.co.uk')",
        "Use: messor domains submit",
    ),
    "an approval at once": (
        "INSERT INTO approval.domains (domain_url, status) VALUES ('x.org', 'approved')",
        "submit it first",
    ),
    "a rejection without a reason": (
        "UPDATE approval.domains SET status = 'rejected' WHERE domain_url = 'waiting.org'",
        "Give a reason why waiting.org becomes rejected",
    ),
    "trust before approval": (
        "UPDATE approval.domains SET is_trusted_domain = true WHERE domain_url = 'waiting.org'",
        "only an approved domain can be trusted",
    ),
    "a task of an unapproved domain": (
        """INSERT INTO forager.crawl_tasks (domain_id, url, status, scheduled_at)
           VALUES (2, 'https://waiting.org/a', 'pending', now())""",
        "waiting.org is pending_review",
    ),
    "a task of no domain": (
        """INSERT INTO forager.crawl_tasks (domain_id, url, status, scheduled_at)
           VALUES (99, 'https://waiting.org/a', 'pending', now())""",
        "There is no domain 99",
    ),
    "a URL that needs its canonical form": (
        """INSERT INTO forager.crawl_tasks (domain_id, url, status, scheduled_at)
           VALUES (1, 'https://example.com/a?utm_source=x', 'pending', now())""",
        "Use: messor tasks submit",
    ),
    "another's URL": (
        """INSERT INTO forager.crawl_tasks (domain_id, url, status, scheduled_at)
           VALUES (1, 'https://notexample.com/a', 'pending', now())""",
        "is not a URL of example.com",
    ),
    "the same URL twice": (
        """INSERT INTO forager.crawl_tasks (domain_id, url, status, scheduled_at)
           VALUES (1, 'https://example.com/headphones', 'pending', now())""",
        "has a task already",
    ),
    "a priority beyond the lowest": (
        """INSERT INTO forager.crawl_tasks (domain_id, url, status, priority, scheduled_at)
           VALUES (1, 'https://example.com/b', 'pending', 11, now())""",
        "a priority from 1",
    ),
    "a hole in the log": ("DELETE FROM wellness.http_fetches", "only Messor itself"),
    "a lease taken by hand": ("UPDATE wellness.jobs SET locked_by = 'me'", "leases are kept"),
    "a changed profile": ("UPDATE wellness.serp_profiles SET gl = 'de'", "messor verticals apply"),
    "another proxy": ("UPDATE forager.proxies SET proxy_port = 1", "only is_active"),
    "a job without its key": (
        "INSERT INTO wellness.jobs (job_type, target_kind) VALUES ('x', 'y')",
        "dedupe_key",
    ),
}


async def test_what_cannot_be_written_says_what_to_do(filled: Database) -> None:
    before = await contents(filled)
    for name, (statement, sentence) in REFUSED.items():
        with pytest.raises(asyncpg.PostgresError, match=re.escape(sentence)):
            async with filled.transaction() as connection:
                await connection.execute(statement)
        assert name
    assert await contents(filled) == before


async def test_a_job_is_enqueued_once_and_cancelled(filled: Database) -> None:
    insert = """INSERT INTO wellness.jobs (job_type, target_kind, dedupe_key)
                VALUES ('score', 'domain', 'score:2') ON CONFLICT (dedupe_key) DO NOTHING"""
    row = None
    async with filled.transaction() as connection:
        assert await connection.execute(insert) == "INSERT 0 1"
        assert await connection.execute(insert) == "INSERT 0 0"
        row = await connection.fetchrow("SELECT * FROM wellness.jobs WHERE dedupe_key = 'score:2'")
        assert row is not None
        assert (row["state"], row["priority"], row["attempts"], row["max_attempts"]) == (
            "queued", 5, 0, 3,
        )  # fmt: skip
        await connection.execute(
            "UPDATE wellness.jobs SET state = 'cancelled' WHERE id = $1", row["id"]
        )
    assert await filled.fetchval("SELECT state FROM jobs WHERE id = $1", row["id"]) == "cancelled"


async def test_a_keyword_is_added_in_its_normal_form(filled: Database) -> None:
    insert = """INSERT INTO wellness.keywords (keyword_text, serp_profile_id, vertical_id)
                SELECT $1, id, vertical_id FROM wellness.serp_profiles ORDER BY name LIMIT 1"""
    async with filled.transaction() as connection:
        await connection.execute(insert, "  Laser \t Clinic ")
    row = await filled.fetchrow(
        "SELECT * FROM wellness.keywords WHERE keyword_text = 'laser clinic'"
    )
    assert row is not None
    assert (row["tier"], row["source"], row["active"]) == ("C", "manual", True)
    with pytest.raises(asyncpg.UniqueViolationError):
        async with filled.transaction() as connection:
            await connection.execute(insert, "LASER clinic")


async def test_a_plain_url_has_the_hash_that_the_program_gives_it(filled: Database) -> None:
    urls = [
        "https://example.com/a/B_c~d-1.html",
        "http://www.example.com/x/",
        "https://example.com/",
    ]
    for url in urls[:2]:
        async with filled.transaction() as connection:
            given: Any = await connection.fetchval(
                """INSERT INTO forager.crawl_tasks (domain_id, url, status, scheduled_at)
                   VALUES (1, $1, 'pending', now()) RETURNING url_hash""", url,
            )  # fmt: skip
        assert given == url_hash(url).hex()
