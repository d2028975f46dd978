"""The registry against its database: submissions, every transition, reasons and events."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from itertools import product
from typing import Any

import asyncpg
import pytest

from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.ledger.queries import START, ListedEvent
from messor.registry import domains
from messor.registry.domains import TRANSITIONS, Domain, Submission
from messor.registry.queries import DOMAINS, DomainFilter
from messor.registry.terms import CHOICES, COLUMNS, Terms
from messor.store.database import Database
from tests.crawling import TESTER, submit
from tests.recorded import read_after

STATUSES = sorted(TRANSITIONS)
PATHS = {  # how a domain gets to each status
    "pending_review": (),
    "approved": ("approved",),
    "rejected": ("rejected",),
    "suspended": ("approved", "suspended"),
    "blacklisted": ("blacklisted",),
}


async def move(
    database: Database, domain: Domain, status: str, reason: str | None = "because"
) -> Domain:
    async with database.transaction() as connection:
        return await domains.move(connection, domain, status, actor=TESTER, reason=reason)


async def domain_at(database: Database, status: str, name: str = "example.org") -> Domain:
    domain = await submit(database, name)
    for step in PATHS[status]:
        domain = await move(database, domain, step)
    return domain


async def events(database: Database) -> list[ListedEvent]:
    return await read_after(database, START)


def test_the_steps_of_a_domain_are_these() -> None:
    assert {
        "pending_review": {"approved", "rejected", "blacklisted"},
        "approved": {"pending_review", "suspended", "blacklisted"},
        "rejected": {"pending_review", "blacklisted"},
        "suspended": {"approved", "rejected", "blacklisted"},
        "blacklisted": set(),
    } == TRANSITIONS


@pytest.mark.parametrize("before", STATUSES)
async def test_every_step_from_a_status(database: Database, before: str) -> None:
    for after in STATUSES:
        domain = await domain_at(database, before, f"to-{after}.example")
        if after in TRANSITIONS[before]:
            moved = await move(database, domain, after)
            assert (moved.status, moved.reviewed_by) == (after, TESTER)
            assert moved.policy_version == domain.policy_version + 1
        else:
            with pytest.raises(ConflictError, match=rf"is {before}.*not {after}"):
                await move(database, domain, after)
            assert (await domains.get(database, domain.domain)).status == before


@pytest.mark.parametrize(
    "status, reason", list(product(("rejected", "blacklisted"), (None, "", " \t")))
)
async def test_a_no_needs_a_reason(database: Database, status: str, reason: str | None) -> None:
    domain = await submit(database, "example.org")
    with pytest.raises(UsageError, match="Give a reason"):
        await move(database, domain, status, reason)


@pytest.mark.parametrize(
    "status, reason", list(product(("rejected", "blacklisted"), ("NULL", "''")))
)
async def test_the_table_itself_demands_the_reason(
    database: Database, status: str, reason: str
) -> None:
    await submit(database, "example.org")
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(
            f"""UPDATE messor.domains SET status = '{status}', reviewed_at = messor.clock(),
                       rejection_reason = {reason}"""
        )


@pytest.mark.parametrize(
    "change",
    [
        "status = 'approved'",  # by nobody
        "status = 'unheard_of', reviewed_at = messor.clock()",
        "domain = 'EXAMPLE.org'",
        "page_budget = 0",
        "crawl_delay_seconds = -1",
        "max_concurrent_requests = 0",
        "max_crawl_depth = -1",
    ],
)
async def test_the_table_refuses_nonsense(database: Database, change: str) -> None:
    await submit(database, "example.org")
    with pytest.raises(asyncpg.CheckViolationError):
        await database.fetch(f"UPDATE messor.domains SET {change}")


async def test_a_second_submission_finds_the_first(database: Database) -> None:
    first = await submit(database, "https://www.example.org/")
    async with database.transaction() as connection:
        again = Submission.understand("http://shop.example.org/")
        second, new = await domains.submit(connection, again, actor="someone else")
    assert (second.id, second.submitted_by, new) == (first.id, TESTER, False)


async def test_one_domain_comes_of_many_submissions_at_once(database: Database) -> None:
    async with asyncio.TaskGroup() as group:
        answers = [group.create_task(submit(database, "example.org")) for _ in range(20)]
    assert len({answer.result().id for answer in answers}) == 1
    assert [event.type for event in await events(database)] == ["domain.submitted"]


async def test_a_reviewer_who_looked_before_the_other_decided_is_told(database: Database) -> None:
    stale = await submit(database, "example.org")
    await move(database, stale, "approved")
    with pytest.raises(ConflictError):
        await move(database, stale, "rejected")  # approved -> rejected is not a legal step
    assert (await domains.get(database, "example.org")).status == "approved"


async def test_every_act_leaves_its_event(database: Database) -> None:
    domain = await submit(database, "example.org")
    async with database.transaction() as connection:
        domain = await domains.configure(connection, domain, actor=TESTER, delay=0, page_budget=7)
    for status in ("approved", "suspended", "rejected", "pending_review", "blacklisted"):
        domain = await move(database, domain, status)
    recorded = await events(database)
    assert [event.type for event in recorded] == [
        "domain.submitted",
        "domain.configured",
        "domain.approved",
        "domain.suspended",
        "domain.rejected",
        "domain.resubmitted",
        "domain.blacklisted",
    ]
    assert {event.domain_id for event in recorded} == {domain.id}
    assert {event.actor for event in recorded} == {TESTER}
    assert recorded[1].data == {"crawl_delay_seconds": 0, "page_budget": 7}
    assert recorded[-1].data == {"reason": "because", "before": "pending_review"}


async def test_what_fails_leaves_no_event(database: Database) -> None:
    domain = await submit(database, "example.org")
    with pytest.raises(MessorError):
        await move(database, domain, "suspended")
    assert len(await events(database)) == 1


async def test_configure_changes_only_what_is_given(database: Database) -> None:
    domain = await submit(database, "example.org")
    async with database.transaction() as connection:
        changed = await domains.configure(connection, domain, actor=TESTER, max_crawl_depth=9)
    assert (changed.max_crawl_depth, changed.page_budget) == (9, domain.page_budget)
    assert changed.crawl_delay_seconds is None


async def test_a_delay_and_a_rhythm_of_its_own_can_be_taken_back(database: Database) -> None:
    domain = await submit(database, "example.org")
    own = await configure(database, domain, delay=2.5, every_hours=48, page_budget=50)
    async with database.transaction() as connection:
        back = await domains.restore(connection, own, ["delay"], actor=TESTER)
        assert (back.crawl_delay_seconds, back.scrape_frequency_hours) == (None, 48)
        back = await domains.restore(connection, back, ["every_hours"], actor=TESTER)
        assert (back.scrape_frequency_hours, back.page_budget) == (None, 50)
        assert back.policy_version == own.policy_version + 2
        for strange in ([], ["page_budget"], ["delay", "x"]):
            with pytest.raises(UsageError, match="can be reset"):
                await domains.restore(connection, back, strange, actor=TESTER)


TERMS: Terms = {
    "delay": 2.5,
    "max_concurrent_requests": 3,
    "max_crawl_depth": 4,
    "page_budget": 50,
    "every_hours": 48,
    "harvest": "asked",
    "on_block": "failover",
    "render": "never",
    "directives": "ignore",
    "reservations": "respect",
    "robots_forbidden": "deny",
    "proxies": "pool",
    "verify_tls": False,
}


async def configure(database: Database, domain: Domain, **terms: Any) -> Domain:
    async with database.transaction() as connection:
        return await domains.configure(connection, domain, actor=TESTER, **terms)


async def test_every_term_can_be_set_alone(database: Database) -> None:
    before = await submit(database, "example.org")
    for name, value in TERMS.items():
        after = await configure(database, before, **{name: value})
        column = COLUMNS.get(name, name)
        expected = asdict(before) | {column: value, "policy_version": before.policy_version + 1}
        assert asdict(after) == expected
        assert (await events(database))[-1].data == {column: value}
        before = after
    assert await domains.get(database, "example.org") == before


async def test_choices_are_those_of_the_table(database: Database) -> None:
    domain = await submit(database, "example.org")
    for name, choices in CHOICES.items():
        assert getattr(domain, name) == choices[0]
        for choice in choices:
            await configure(database, domain, **{name: choice})


@pytest.mark.parametrize(
    "name, value",
    [
        ("delay", -0.1),
        ("delay", float("nan")),
        ("delay", float("inf")),
        ("max_crawl_depth", 101),
        ("page_budget", 0),
        ("max_concurrent_requests", 0),
        ("every_hours", 0),
        ("on_block", "fight"),
        ("harvest", "x" * 10_000),
    ],
)
async def test_terms_that_make_no_sense_change_nothing(
    database: Database, name: str, value: object
) -> None:
    domain = await submit(database, "example.org")
    with pytest.raises(UsageError, match=name) as refusal:
        await configure(database, domain, **{name: value})
    assert len(str(refusal.value)) < 200
    assert await domains.get(database, "example.org") == domain
    assert len(await events(database)) == 1


async def test_an_unknown_domain_says_how_to_submit_it(database: Database) -> None:
    with pytest.raises(NotFoundError, match=r"messor domains submit nowhere\.example"):
        await domains.get(database, "nowhere.example")


async def test_the_listing_filters_by_status(database: Database) -> None:
    await domain_at(database, "approved")
    await submit(database, "example.net")
    everything = await DOMAINS.read(database, DomainFilter())
    assert [d.domain for d in everything.items] == ["example.net", "example.org"]
    approved = await DOMAINS.read(database, DomainFilter(status="approved"))
    assert [d.domain for d in approved.items] == ["example.org"]
