"""Workflow 2: single URLs from anybody, for domains in every status."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from messor.errors import ConflictError, UsageError
from messor.governance import decisions, intake
from messor.governance.intake import SubmittedUrl
from messor.registry import domains, notes, submissions
from messor.registry.queries import DOMAINS, DomainFilter
from messor.registry.submissions import Submitter
from messor.store.database import Database
from tests.crawling import TESTER, admit, submit
from tests.registry.standing import at_status, event_types, events, only

URL = "https://example.org/services/housing"
MEMBER = Submitter(TESTER)
PUBLIC = Submitter("visitor", "public_user")


async def send(
    database: Database,
    url: str = URL,
    asker: Submitter = PUBLIC,
    *,
    submit: bool = False,
    context: str | None = None,
) -> SubmittedUrl:
    async with database.transaction() as connection:
        return await intake.submit_url(connection, url, asker, submit=submit, context=context)


async def due(database: Database) -> set[str]:
    rows = await database.fetch(
        "SELECT p.url FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id"
        " WHERE t.due_at <= messor.clock() AND t.kind = 'page'"
    )
    return {row["url"] for row in rows}


async def test_a_url_of_an_approved_domain_is_crawled(database: Database) -> None:
    await admit(database, "https://example.org/")
    answer = await send(database)
    assert (answer.outcome, answer.url) == ("crawling", URL)
    assert URL in await due(database)
    task = "SELECT status, priority, due_at <= messor.clock() AS now FROM messor.crawl_tasks WHERE page_id = $1"
    row = await database.fetchrow(task, answer.page_id)
    assert row is not None
    assert tuple(row) == ("pending", 5, True)
    assert answer.message.startswith("example.org is approved")
    fact = (await events(database))[-1]
    assert (fact.type, fact.actor, fact.page_id) == ("url.submitted", "visitor", answer.page_id)


async def test_for_an_unknown_domain_the_offer_changes_nothing(database: Database) -> None:
    answer = await send(database)
    assert (answer.outcome, answer.asks, answer.domain) == ("offered", "submit", None)
    assert answer.message == "Would you like to submit example.org for review?"
    assert await DOMAINS.count(database, DomainFilter()) == 0


async def waiting(database: Database) -> list[str]:
    """URLs that wait for their domain's approval."""
    asked = (
        "SELECT url FROM messor.submitted_urls WHERE taken_at IS NULL ORDER BY submitted_at, url"
    )
    return [row["url"] for row in await database.fetch(asked)]


async def test_a_submitted_url_is_crawled_on_approval(database: Database) -> None:
    answer = await send(database, submit=True, context="Food bank")
    assert answer.outcome == "remembered"
    assert answer.domain is not None
    assert answer.domain.status == "pending_review"
    other = f"{URL}/second"
    assert (await send(database, other)).outcome == "remembered"
    assert (await send(database, other)).outcome == "remembered"
    assert await waiting(database) == [URL, other]
    assert await due(database) == set()
    async with database.transaction() as connection:
        decided = await decisions.approve(connection, "example.org", actor=TESTER)
    assert "2 submitted URLs are crawled with it" in decided.message
    assert await due(database) == {"https://example.org/", URL, other}
    assert await waiting(database) == []


@pytest.mark.parametrize("status", ["suspended", "blacklisted"])
async def test_a_closed_domain_takes_no_urls(database: Database, status: str) -> None:
    await at_status(database, status)
    answer = await send(database, submit=True)
    assert answer.outcome == "refused"
    assert f"is {status}: because" in answer.message
    assert await due(database) == set()


async def test_a_rejected_domain_needs_new_words(database: Database) -> None:
    await at_status(database, "rejected")
    assert (await send(database)).outcome == "offered"
    assert (await send(database, submit=True)).outcome == "refused"
    assert (await send(database, submit=True, context="new")).outcome == "remembered"
    assert (await domains.get(database, "example.org")).status == "pending_review"


NEW_HOST = "https://archive.example.org/x"


async def test_a_new_subdomain_from_the_public_waits_for_a_reviewer(database: Database) -> None:
    await admit(database, "https://example.org/")
    answer = await send(database, NEW_HOST)
    assert (answer.outcome, "is a new host" in answer.message) == ("remembered", True)
    domain = await domains.get(database, "example.org")
    assert (domain.status, domain.review_reason is not None) == ("approved", True)
    async with database.transaction() as connection:
        decided = await decisions.keep(connection, "example.org", actor=TESTER)
    assert "1 submitted URL is crawled with it." in decided.message
    assert NEW_HOST in await due(database)


async def test_a_reviewer_may_drop_what_waits(database: Database) -> None:
    await admit(database, "https://example.org/")
    await send(database, NEW_HOST)
    async with database.transaction() as connection:
        await decisions.keep(connection, "example.org", actor=TESTER, take_urls=False)
    assert NEW_HOST not in await due(database)
    assert (await domains.get(database, "example.org")).review_reason is None


@pytest.mark.parametrize("trusted, asker", [(True, PUBLIC), (False, MEMBER)])
async def test_a_new_subdomain_is_taken_from_whom_we_trust(
    database: Database, trusted: bool, asker: Submitter
) -> None:
    domain = await admit(database, "https://example.org/")
    async with database.transaction() as connection:
        await notes.trust(connection, domain, actor=TESTER, trusted=trusted)
    assert (await send(database, NEW_HOST, asker)).outcome == "crawling"
    assert NEW_HOST in await due(database)


async def test_the_budget_holds_for_urls_too(database: Database) -> None:
    await admit(database, "https://example.org/", page_budget=1)
    with pytest.raises(ConflictError, match="reached its budget"):
        await send(database)
    assert (await send(database, "https://example.org/")).outcome == "crawling"


async def test_only_so_many_urls_wait(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "MAX_URLS", 2)
    await send(database, submit=True)
    await send(database, f"{URL}/2")
    with pytest.raises(ConflictError, match="no more are accepted"):
        await send(database, f"{URL}/3")


@pytest.mark.parametrize("kind, key", [("url", URL), ("domain", "example.org")])
async def test_what_was_erased_is_not_taken(database: Database, kind: str, key: str) -> None:
    await admit(database, "https://example.org/")
    await database.fetch(
        """INSERT INTO messor.erasures (id, kind, key, reason, erased_by)
           VALUES (gen_random_uuid(), $1, $2, 'asked by Jane', 'x')""",
        kind,
        key,
    )
    with pytest.raises(ConflictError, match="asked by Jane"):
        await send(database, f"{URL}#top")
    assert URL not in await due(database)


@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "http://127.0.0.1/", "https://com/"])
async def test_nonsense_is_refused(database: Database, url: str) -> None:
    with pytest.raises(UsageError):
        await send(database, url)


async def test_credentials_are_not_kept(database: Database) -> None:
    await send(database, "https://jane:secret@example.org/a", submit=True)
    kept = await only(database, "SELECT url FROM messor.submitted_urls")
    assert kept == "https://example.org/a"
    assert "secret" not in str(await events(database))


async def test_a_rescrape_makes_everything_due(database: Database) -> None:
    await admit(database, "https://example.org/")
    await database.fetch("UPDATE messor.crawl_tasks SET due_at = messor.clock() + interval '1 day'")
    async with database.transaction() as connection:
        assert await intake.rescrape(connection, "example.org", actor=TESTER) == 1
    assert await due(database) == {"https://example.org/"}
    assert (await event_types(database))[-1] == "domain.rescraped"


async def test_only_approved_domains_are_rescraped(database: Database) -> None:
    await at_status(database, "suspended")
    with pytest.raises(ConflictError, match="is suspended"):
        async with database.transaction() as connection:
            await intake.rescrape(connection, "example.org", actor=TESTER)


async def test_urls_that_came_during_suspension_wait_for_resumption(database: Database) -> None:
    await send(database, submit=True)
    act = partial(decisions.approve, actor=TESTER)
    await decisions.decide_many(database, ["example.org"], act)
    await decisions.decide_many(database, ["example.org"], partial(decisions.suspend, actor=TESTER))
    assert (await send(database, f"{URL}/2")).outcome == "refused"
    done = await decisions.decide_many(
        database, ["example.org"], partial(decisions.resume, actor=TESTER)
    )
    assert "approved again. Its pages are due. No worker is running." in done[0].message


async def test_a_url_that_meets_its_domains_approval_is_never_lost(database: Database) -> None:
    await submit(database, "example.org")

    async def approve() -> None:
        async with database.transaction() as connection:
            await decisions.approve(connection, "example.org", actor=TESTER)

    urls = [f"{URL}/{number}" for number in range(10)]
    async with asyncio.TaskGroup() as group:
        for url in urls[:5]:
            group.create_task(send(database, url, MEMBER))
        group.create_task(approve())
        for url in urls[5:]:
            group.create_task(send(database, url, MEMBER))
    assert set(urls) <= await due(database)
