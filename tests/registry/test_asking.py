"""Asking for a domain, whatever is known of it: new, known, rejected, refused for ever."""

from __future__ import annotations

import asyncio

import pytest

from messor.errors import ConflictError, UsageError
from messor.registry import submissions
from messor.registry.domains import Submission
from messor.registry.submissions import DEPTH_GUIDANCE, Submitted, Submitter
from messor.store.database import Database
from tests.crawling import TESTER
from tests.registry.standing import at_status, event_types, only

PUBLIC = Submitter("someone", "public_user", "someone@mail.example")


async def ask(
    database: Database,
    text: str = "example.org",
    asker: Submitter = PUBLIC,
    context: str | None = None,
    depth: int = 3,
) -> Submitted:
    async with database.transaction() as connection:
        return await submissions.ask(
            connection,
            Submission.understand(text),
            asker,
            context=context,
            max_crawl_depth=depth,
        )


async def test_a_new_domain_waits_for_review(database: Database) -> None:
    answer = await ask(database, "https://WWW.example.org/a/b?c", context="Food bank", depth=2)
    domain = answer.domain
    assert (answer.outcome, answer.taken, domain.domain) == ("new", True, "example.org")
    assert (domain.status, domain.processing) == ("pending_review", "discovered")
    assert (domain.submitted_by, domain.submitter_type) == ("someone", "public_user")
    assert (domain.submission_context, domain.max_crawl_depth) == ("Food bank", 2)
    assert await only(database, "SELECT contact FROM messor.domain_submissions") == PUBLIC.contact


@pytest.mark.parametrize(
    "status, outcome, words",
    [
        ("pending_review", "pending", "already submitted for review"),
        ("approved", "approved", "already approved, would you like to re-scrape?"),
        ("suspended", "suspended", "is suspended: because."),
        ("rejected", "rejected", "was rejected: because. Submit it again with new context"),
        ("blacklisted", "blacklisted", "is blacklisted: because."),
    ],
)
async def test_a_known_domain_says_how_it_stands(
    database: Database, status: str, outcome: str, words: str
) -> None:
    before = await at_status(database, status)
    answer = await ask(database)
    assert (answer.outcome, answer.taken) == (outcome, False)
    assert words in answer.message
    assert answer.domain == before
    assert answer.asks == {"approved": "rescrape", "rejected": "context"}.get(status)


async def test_a_rejected_domain_comes_back_with_new_words(database: Database) -> None:
    await at_status(database, "rejected")
    answer = await ask(database, context="It has a directory now", depth=1)
    domain = answer.domain
    assert (answer.outcome, domain.status) == ("resubmitted", "pending_review")
    assert (domain.submission_context, domain.max_crawl_depth) == ("It has a directory now", 1)
    assert domain.submitted_by == "someone"
    assert (await event_types(database))[-1] == "domain.resubmitted"
    async with database.connection() as connection:
        asked = await submissions.past(connection, domain)
    assert [one.submitted_by for one in asked] == [TESTER, "someone"]
    assert [one.has_contact for one in asked] == [False, True]


async def test_the_same_words_are_not_new(database: Database) -> None:
    await ask(database, context="Food bank")
    await database.fetch(
        """UPDATE messor.domains SET status = 'rejected', reviewed_at = messor.clock(),
                  rejection_reason = 'no'"""
    )
    assert (await ask(database, context="  Food bank ")).outcome == "rejected"


@pytest.mark.parametrize("status", ["blacklisted", "suspended", "approved"])
async def test_new_words_open_nothing_else(database: Database, status: str) -> None:
    await at_status(database, status)
    assert (await ask(database, context="please")).domain.status == status


async def test_whoever_asks_again_with_words_is_kept(database: Database) -> None:
    await ask(database, context="one")
    await ask(database, asker=Submitter("other", "public_user"), context="two")
    await ask(database, asker=Submitter("third", "public_user"))
    assert await only(database, "SELECT count(*) FROM messor.domain_submissions") == 2


async def test_the_public_cannot_fill_the_table(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions, "MAX_SUBMISSIONS", 3)
    for number in range(3):
        await ask(database, context=f"words {number}")
    with pytest.raises(ConflictError, match="often enough"):
        await ask(database, context="more words")
    assert (await ask(database, asker=Submitter(TESTER), context="a member's")).outcome == "pending"


@pytest.mark.parametrize("depth", [-1, 101])
async def test_a_depth_must_make_sense(database: Database, depth: int) -> None:
    with pytest.raises(UsageError, match="depth must be between 0 and 100"):
        await ask(database, depth=depth)
    await at_status(database, "rejected")
    with pytest.raises(UsageError, match="depth must be between 0 and 100"):
        await ask(database, context="new", depth=depth)


async def test_words_are_bounded_and_harmless(database: Database) -> None:
    with pytest.raises(UsageError, match="longer than"):
        await ask(database, context="x" * 4_001)
    answer = await ask(database, context="a\x00b\x1b[31mc\u202ed\ud800\n")
    assert answer.domain.submission_context == "ab[31mcd?"


@pytest.mark.parametrize("text", ["exa!mple.org", "-example.org", "a" * 64 + ".org", "a..org"])
def test_a_name_that_dns_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Submission.understand(text)


def test_who_asks_is_one_of_three() -> None:
    with pytest.raises(UsageError, match="admin or public_user or system"):
        Submitter("x", "robot")
    with pytest.raises(UsageError, match="too long"):
        Submitter("x", "public_user", "x" * 321)


def test_every_depth_has_its_guidance() -> None:
    assert [depth for depth, _ in DEPTH_GUIDANCE] == [0, 1, 2, 3, 4]
    said = [text for _, text in DEPTH_GUIDANCE]
    assert said[0].startswith("Homepage only")
    assert said[1].startswith("Homepage and direct links")
    assert [text.startswith("Recommended") for text in said] == [False, False, True, True, False]
    assert said[3].endswith("the default")
    assert said[4].startswith("Caution: large sites can be slow")


async def test_one_domain_comes_of_many_who_ask_at_once(database: Database) -> None:
    async with asyncio.TaskGroup() as group:
        answers = [group.create_task(ask(database, context=f"c{n}")) for n in range(12)]
    outcomes = sorted(answer.result().outcome for answer in answers)
    assert outcomes == ["new", *["pending"] * 11]


async def test_an_erased_contact_is_not_kept_again(database: Database) -> None:
    await database.fetch(
        """INSERT INTO messor.erasures (id, kind, key, reason, erased_by)
           VALUES (gen_random_uuid(), 'person', messor.person_key('Someone@mail.example '),
                   'asked', 'x')"""
    )
    await ask(database)
    assert await only(database, "SELECT contact FROM messor.domain_submissions") is None
