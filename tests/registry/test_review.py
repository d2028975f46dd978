"""The review queue, the dossier of a domain, similar names, and domains taken over by the file."""

from __future__ import annotations

import pytest

from messor.errors import NotFoundError
from messor.governance import backfill, decisions, intake
from messor.governance.backfill import BackfillLine
from messor.registry import domains, notes, review
from messor.registry.queries import DOMAINS, DomainFilter
from messor.registry.review_queries import WAITING, WaitingFilter
from messor.registry.similar import likeness_of, similar_to
from messor.registry.submissions import Submitter
from messor.store.database import Database
from tests.crawling import TESTER, admit, submit
from tests.registry.standing import at_status, only

PUBLIC = Submitter("visitor", "public_user")


async def test_the_queue_holds_what_waits_oldest_first(database: Database) -> None:
    for number in range(5):
        await submit(database, f"n{number}.example")
    await at_status(database, "rejected", "no.example")
    again = await admit(database, "https://again.example/")
    async with database.transaction() as connection:
        await notes.look_again(connection, again, "its class changed", actor="system")
    await database.fetch(
        """UPDATE messor.domains SET updated_at = messor.clock() + interval '1 hour'
            WHERE domain = 'n0.example'"""
    )
    rows = (await WAITING.read(database, WaitingFilter())).items
    names = [row.domain for row in rows]
    assert names == [*(f"n{number}.example" for number in range(5)), "again.example"]
    assert rows[-1].review_reason == "its class changed"
    assert await review.count(database) == 6
    page = await WAITING.read(database, WaitingFilter(), limit=2)
    first = page.items
    rest = (await WAITING.read(database, WaitingFilter(), cursor=page.next)).items
    assert [row.domain for row in (*first, *rest)] == names
    found = await WAITING.read(database, WaitingFilter(q="n3"))
    assert [row.domain for row in found.items] == ["n3.example"]


async def test_a_row_has_what_the_specification_asks_for(database: Database) -> None:
    async with database.transaction() as connection:
        await intake.submit_url(
            connection, "https://example.org/a", PUBLIC, submit=True, context="Food bank"
        )
    (row,) = (await WAITING.read(database, WaitingFilter(submitter_type="public_user"))).items
    assert (row.base_url, row.submitted_by) == ("https://example.org/", "visitor")
    assert (row.submission_context, row.asked, row.urls_waiting) == ("Food bank", 1, 1)
    assert row.created_at is not None
    assert (row.report, row.preflight_asked_at) == (None, None)
    assert (await WAITING.read(database, WaitingFilter(submitter_type="system"))).items == []


async def test_the_dossier_has_everything(database: Database) -> None:
    await at_status(database, "blacklisted", "foodbank.example")
    async with database.transaction() as connection:
        await intake.submit_url(
            connection, "https://foodbank.org/a", PUBLIC, submit=True, context="one"
        )
        await intake.submit_domain(connection, "foodbank.org", Submitter("b"), context="two")
        domain = await domains.get(connection, "foodbank.org")
        await notes.add(connection, domain, "seen before", actor=TESTER)
    found = await review.dossier(database, "foodbank.org")
    assert [one.context for one in found.submissions] == ["one", "two"]
    assert [url.url for url in found.urls] == ["https://foodbank.org/a"]
    assert [note.body for note in found.notes] == ["seen before"]
    assert [(one.domain, one.status) for one in found.similar] == [
        ("foodbank.example", "blacklisted")
    ]
    assert [fact.type for fact in found.history] == ["domain.noted", "domain.submitted"]
    assert found.preflight is None
    with pytest.raises(NotFoundError):
        await review.dossier(database, "nobody.example")


@pytest.mark.parametrize(
    "one, other, likeness",
    [
        ("foodbank", "foodbank", "same_name"),
        ("foodbank", "fodbank", "spelling"),
        ("foodbank", "foodbanks", "spelling"),
        ("foodbank", "foodbamk", "spelling"),
        ("foodbank", "fooodbank", "spelling"),
        ("foodbank", "foodbnak", "spelling"),
        ("paypal", "paypa1", "spelling"),
        ("foodbank", "foodbank-texas", "word"),
        ("mypaypal", "paypal", "word"),
        ("foodbank", "shelter", None),
        ("abc", "abd", None),
        ("foodbank", "foodclub", None),
        ("ab", "abcdef", None),
    ],
)
def test_what_is_alike(one: str, other: str, likeness: str | None) -> None:
    assert likeness_of(one, other) == likeness
    assert likeness_of(other, one) == likeness


async def test_similar_domains_are_found_in_the_registry(database: Database) -> None:
    for name in ("foodbank.example", "foodbanks.org", "shelter.org", "foodbank-texas.org"):
        await submit(database, name)
    found = await similar_to(database, "foodbank.org")
    assert [(one.domain, one.likeness) for one in found] == [
        ("foodbank.example", "same_name"),
        ("foodbanks.org", "spelling"),
        ("foodbank-texas.org", "word"),
    ]


async def take_over(database: Database, *lines: str, start: bool = True) -> list[BackfillLine]:
    taken = backfill.approve_existing(database, lines, Submitter(TESTER), start=start)
    return [line async for line in taken]


async def test_existing_domains_are_taken_over_line_by_line(database: Database) -> None:
    await at_status(database, "rejected", "no.example")
    await at_status(database, "blacklisted", "bad.example")
    await at_status(database, "suspended", "waits.example")
    await at_status(database, "approved", "yes.example")
    await submit(database, "pending.example")
    lines = await take_over(
        database,
        "# our domains",
        "https://www.Foodbank.org/x, 2, State food bank, the best",
        "",
        "pending.example",
        "yes.example",
        "no.example",
        "bad.example",
        "waits.example",
        "foodbank.org",
        "localhost",
        "other.example, deep",
        "nul\x00.example\x00",
        '"quoted.example","1","a, b"',
    )
    assert [(line.number, line.outcome) for line in lines] == [
        (2, "approved"),
        (4, "approved"),
        (5, "already_approved"),
        (6, "refused"),
        (7, "refused"),
        (8, "refused"),
        (9, "left"),
        (10, "refused"),
        (11, "refused"),
        (12, "approved"),
        (13, "approved"),
    ]
    food = await domains.get(database, "foodbank.org")
    assert (food.status, food.max_crawl_depth) == ("approved", 2)
    assert food.submission_context == "State food bank, the best"
    assert (await domains.get(database, "no.example")).status == "rejected"
    assert (await domains.get(database, "waits.example")).status == "suspended"
    assert backfill.summary(lines) == {
        "approved": 4,
        "already_approved": 1,
        "refused": 5,
        "left": 1,
    }


async def test_they_may_be_approved_without_a_crawl(database: Database) -> None:
    lines = await take_over(database, "foodbank.org", start=False)
    assert lines[0].outcome == "approved"
    domain = await domains.get(database, "foodbank.org")
    assert (domain.status, domain.harvest) == ("approved", "asked")
    assert await only(database, "SELECT count(*) FROM messor.crawl_tasks") == 0


async def test_approval_without_context_is_shown_in_the_history(database: Database) -> None:
    await submit(database, "example.org")
    async with database.transaction() as connection:
        await decisions.approve(connection, "example.org", actor="alice")
    domain = await domains.get(database, "example.org")
    facts = await review.history(database, domain)
    assert [(fact.type, fact.actor) for fact in facts] == [
        ("domain.processing", "alice"),
        ("domain.approved", "alice"),
        ("domain.submitted", TESTER),
    ]


async def test_lists_are_sieved_and_paged(database: Database) -> None:
    for number in range(4):
        await at_status(database, "approved", f"n{number}.example")
    await at_status(database, "rejected", "no.example")
    wanted, order = DomainFilter(status="approved"), "-created_at"
    first = await DOMAINS.read(database, wanted, order=order, limit=3)
    rest = await DOMAINS.read(database, wanted, order=order, cursor=first.next)
    names = [domain.domain for domain in (*first.items, *rest.items)]
    assert names == ["n3.example", "n2.example", "n1.example", "n0.example"]
    assert rest.next is None
    found = await DOMAINS.read(database, DomainFilter(q="n2", trusted=False))
    assert [domain.domain for domain in found.items] == ["n2.example"]
    assert (await DOMAINS.read(database, DomainFilter(processing="processing"))).items == []
