"""Reviewers at work: every act from every status, what it sets in motion, and two who decide at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import pytest

from messor.errors import ConflictError, MessorError, NotFoundError, UsageError
from messor.governance import decisions, intake
from messor.governance.decisions import Act, Decided
from messor.politeness.lease import WorkerLease
from messor.registry import domains, notes
from messor.registry.queries import DOMAINS, DomainFilter
from messor.registry.submissions import Submitter
from messor.store.database import Connection, Database
from tests.crawling import TESTER, submit
from tests.registry.standing import PATHS, at_status, event_types, events, only

ACTS: dict[str, tuple[Act, set[str], str]] = {  # the act, from where it is legal, where it leads
    "approve": (
        partial(decisions.approve, actor=TESTER),
        {"pending_review", "suspended"},
        "approved",
    ),
    "reject": (
        partial(decisions.reject, actor=TESTER, reason="no"),
        {"pending_review", "suspended"},
        "rejected",
    ),
    "suspend": (partial(decisions.suspend, actor=TESTER), {"approved"}, "suspended"),
    "resume": (partial(decisions.resume, actor=TESTER), {"suspended"}, "approved"),
    "blacklist": (
        partial(decisions.blacklist, actor=TESTER, reason="no"),
        {"pending_review", "approved", "rejected", "suspended"},
        "blacklisted",
    ),
    "review_again": (
        partial(decisions.review_again, actor=TESTER, reason="sold"),
        {"approved"},
        "pending_review",
    ),
    "keep": (partial(decisions.keep, actor=TESTER), set(), "approved"),
}


async def decide(database: Database, act: Act, name: str = "example.org") -> Decided:
    async with database.transaction() as connection:
        return await act(connection, name)


@pytest.mark.parametrize("before", sorted(PATHS))
async def test_every_act_from_every_status(database: Database, before: str) -> None:
    for name, (act, legal, after) in ACTS.items():
        host = f"{name.replace('_', '-')}.example"
        domain = await at_status(database, before, host)
        recorded = len(await event_types(database))
        if before in legal:
            decided = await decide(database, act, host)
            assert decided.domain.status == after
            assert host in decided.message
            assert len(await event_types(database)) > recorded
        else:
            with pytest.raises(ConflictError, match=before):
                await decide(database, act, host)
            assert await domains.get(database, host) == domain
            assert len(await event_types(database)) == recorded


async def test_approval_starts_the_crawl_and_says_so(database: Database) -> None:
    await submit(database, "example.org")
    await WorkerLease.take(database, "at-work", 60.0)
    decided = await decide(database, ACTS["approve"][0])
    assert "Crawling started. Check back in a few minutes." in decided.message
    assert (decided.domain.status, decided.domain.processing) == ("approved", "processing")
    due = await database.fetch(
        "SELECT p.url, t.kind FROM messor.crawl_tasks t JOIN messor.pages p ON p.id = t.page_id"
        " WHERE t.due_at <= messor.clock() ORDER BY t.priority"
    )
    assert [(row["url"], row["kind"]) for row in due] == [
        ("https://example.org/robots.txt", "robots"),
        ("https://example.org/", "page"),
    ]
    assert await only(database, "SELECT count(*) FROM messor.lanes WHERE claim_at IS NOT NULL") == 1


async def test_of_two_reviewers_the_second_is_told_who_decided(database: Database) -> None:
    await submit(database, "example.org")

    async def act(who: str, how: Callable[[Connection, str], Awaitable[Decided]]) -> str:
        try:
            return (await decide(database, how)).domain.status
        except MessorError as error:
            return f"{who}: {error}"

    alice = partial(decisions.approve, actor="alice", seen="pending_review")
    bob = partial(decisions.reject, actor="bob", reason="no", seen="pending_review")
    said = await asyncio.gather(act("alice", alice), act("bob", bob))
    conflicts = [answer for answer in said if ":" in answer]
    assert len(conflicts) == 1
    domain = await domains.get(database, "example.org")
    loser = "bob" if domain.reviewed_by == "alice" else "alice"
    assert conflicts[0].startswith(
        f"{loser}: example.org was pending_review when you opened it and is {domain.status} now "
        f"(decided by {domain.reviewed_by} on "
    )


async def test_the_same_decision_twice_at_once_is_made_once(database: Database) -> None:
    await submit(database, "example.org")
    act = ACTS["approve"][0]
    answers = await asyncio.gather(
        *(decide(database, act) for _ in range(8)), return_exceptions=True
    )
    refused = [str(answer) for answer in answers if isinstance(answer, ConflictError)]
    assert len(refused) == 7
    assert all("is approved (decided by tester on " in sentence for sentence in refused)
    assert (await event_types(database)).count("domain.approved") == 1


async def test_a_reviewer_who_read_before_another_wrote_is_told(database: Database) -> None:
    stale = await submit(database, "example.org")
    await decide(database, partial(decisions.reject, actor="alice", reason="spam"))
    with pytest.raises(ConflictError, match=r"is rejected now \(decided by alice on "):
        async with database.transaction() as connection:
            await domains.move(connection, stale, "approved", actor="bob")


async def test_a_notice_names_no_address(database: Database) -> None:
    async with database.transaction() as connection:
        asker = Submitter("visitor", "public_user", "jane@mail.example")
        await intake.submit_domain(connection, "example.org", asker)
    await decide(database, partial(decisions.reject, actor=TESTER, reason="a shop", notify=True))
    notice = (await events(database))[-1]
    assert notice.type == "submitter.notice"
    assert notice.data == {
        "notice": "domain_rejected",
        "submitted_by": "visitor",
        "submitter_type": "public_user",
        "reason": "a shop",
    }
    assert "jane" not in str(await events(database))


async def test_whom_nobody_can_reach_is_said(database: Database) -> None:
    await submit(database, "example.org")
    told = await decide(database, partial(decisions.reject, actor=TESTER, reason="x", notify=True))
    assert told.message == (
        "example.org is rejected. Its submitter was not notified: nobody left an address. "
        "No webhook receives the notice either."
    )


async def test_without_being_asked_nobody_is_told(database: Database) -> None:
    await submit(database, "example.org")
    await decide(database, ACTS["reject"][0])
    assert "submitter.notice" not in await event_types(database)


async def test_many_are_decided_each_for_itself(database: Database) -> None:
    await at_status(database, "pending_review", "one.example")
    await at_status(database, "blacklisted", "two.example")
    await at_status(database, "pending_review", "three.example")
    names = ["one.example", "two.example", "nobody.example", "three.example"]
    verdicts = await decisions.decide_many(database, names, ACTS["approve"][0])
    assert [verdict.code for verdict in verdicts] == ["ok", "conflict", "not_found", "ok"]
    assert "is blacklisted (decided by tester" in verdicts[1].message
    assert await DOMAINS.count(database, DomainFilter(status="approved")) == 2


async def test_an_unknown_domain_is_not_decided(database: Database) -> None:
    with pytest.raises(NotFoundError):
        await decide(database, ACTS["approve"][0])


async def test_trust_is_for_approved_domains_and_goes_with_approval(database: Database) -> None:
    async def trust(trusted: bool) -> bool:
        async with database.transaction() as connection:
            domain = await domains.get(connection, "example.org")
            told = await notes.trust(connection, domain, actor=TESTER, trusted=trusted)
            return told.is_trusted_domain

    await submit(database, "example.org")
    with pytest.raises(ConflictError, match="only an approved domain can be trusted"):
        await trust(trusted=True)
    await decide(database, ACTS["approve"][0])
    assert await trust(trusted=True)
    assert await trust(trusted=True)
    assert (await event_types(database)).count("domain.trusted") == 1
    suspended = await decide(database, ACTS["suspend"][0])
    assert suspended.domain.is_trusted_domain
    await decide(database, ACTS["resume"][0])
    again = await decide(database, ACTS["review_again"][0])
    assert not again.domain.is_trusted_domain
    assert not await trust(trusted=False)


async def test_another_class_is_looked_at_again_and_kept(database: Database) -> None:
    async def classify(name: str) -> str | None:
        async with database.transaction() as connection:
            domain = await domains.get(connection, "example.org")
            return (await notes.classify(connection, domain, name)).review_reason

    await submit(database, "example.org")
    await decide(database, ACTS["approve"][0])
    assert await classify("clinic") is None  # known for the first time
    assert await classify("clinic") is None
    assert await classify("directory") == "its class changed from clinic to directory"
    kept = await decide(database, ACTS["keep"][0])
    assert (kept.domain.review_reason, kept.domain.status) == (None, "approved")
    with pytest.raises(ConflictError, match="No repeated review of"):
        await decide(database, ACTS["keep"][0])


async def test_a_new_decision_ends_the_wish_to_look_again(database: Database) -> None:
    await submit(database, "example.org")
    await decide(database, ACTS["approve"][0])
    again = await decide(database, ACTS["review_again"][0])
    assert (again.domain.status, again.domain.review_reason) == ("pending_review", "sold")
    approved = await decide(database, ACTS["approve"][0])
    assert approved.domain.review_reason is None


async def test_notes_are_kept_in_order(database: Database) -> None:
    domain = await submit(database, "example.org")
    async with database.transaction() as connection:
        for body in ("first", "second"):
            await notes.add(connection, domain, body, actor=TESTER)
        with pytest.raises(UsageError, match="The note is empty"):
            await notes.add(connection, domain, " \n", actor=TESTER)
        with pytest.raises(UsageError, match="longer than"):
            await notes.add(connection, domain, "x" * 10_001, actor=TESTER)
    assert [note.body for note in await notes.of_domain(database, domain)] == ["first", "second"]
    assert (await event_types(database)).count("domain.noted") == 2
