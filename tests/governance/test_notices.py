"""What submitters are told, by mail to a real server: approval, rejection, first pages."""

from __future__ import annotations

from functools import partial

import pytest

from messor.errors import UsageError
from messor.governance import decisions, erasure, intake, live_notices
from messor.governance.decisions import Act, Decided
from messor.governance.notices import Notices
from messor.registry.submissions import Submitter
from messor.settings import Settings
from messor.store.database import Database
from tests.crawling import TESTER
from tests.insight.test_relevance_store import new_page
from tests.mail.test_mail import work
from tests.smtp_server import Postbox, receiving

ADA, BOB = "Ada@example.org", "bob@example.org"
PUBLIC = Settings(public_submission=True, public_url="https://messor.example/")


async def submit(database: Database, name: str, contact: str | None = ADA, **given: str) -> str:
    async with database.transaction() as connection:
        asker = Submitter("public", "public_user", contact)
        return (await intake.submit_domain(connection, name, asker, **given)).token or ""  # type: ignore[arg-type]


async def decide(database: Database, name: str, act: Act) -> Decided:
    async with database.transaction() as connection:
        return await act(connection, name)


async def live(database: Database, told: Notices) -> int:
    async with database.transaction() as connection:
        return await live_notices.tell_live(connection, told, 20)


def approving(box: Postbox | None = None) -> Act:
    settings = PUBLIC if box is None else box.settings(PUBLIC)
    return partial(decisions.approve, actor=TESTER, told=Notices.of(settings))


async def test_submitters_are_told_of_approval_rejection_and_first_pages(
    database: Database,
) -> None:
    with receiving() as box:
        settings = box.settings(PUBLIC)
        told = Notices.of(settings)
        token = await submit(database, "a.test")
        second = await submit(database, "a.test", BOB)
        await submit(database, "a.test", "ADA@example.org", context="I ask again")
        await submit(database, "b.test")
        done = await decide(database, "a.test", approving(box))
        assert "A mail goes to 2 submitters." in done.message
        assert done.to_send == ()
        reject = partial(
            decisions.reject, actor=TESTER, reason="A shop, $reason.", notify=True, told=told
        )
        assert "A mail goes to 1 submitter." in (await decide(database, "b.test", reject)).message
        await work(settings, database)
        mails = {(to.lower(), subject): text for to, subject, text in box.texts}
        assert set(mails) == {
            (ADA.lower(), "a.test was approved"),
            (BOB, "a.test was approved"),
            (ADA.lower(), "b.test was not accepted"),
        }
        assert (
            "for this reason:\n\nA shop, $reason.\n\n"
            in mails[ADA.lower(), "b.test was not accepted"]
        )
        link = f"Its state at any time: https://messor.example/ask/status/{second}"
        assert link in mails[BOB, "a.test was approved"]
        assert token not in mails[BOB, "a.test was approved"], "links are one's own"

        box.mails.clear()
        assert await live(database, told) == 0, "no page was read yet"
        domain_id = await database.fetchval("SELECT id FROM messor.domains WHERE domain = 'a.test'")
        for name in ("one", "two"):
            await new_page(database, domain_id, name)
        await database.fetch(
            "UPDATE messor.crawl_tasks SET due_at = messor.clock() - interval '1 s'"
        )
        assert await live(database, told) == 0, "the crawl is not over"
        await database.fetch(
            "UPDATE messor.crawl_tasks SET due_at = messor.clock() + interval '1 d'"
        )
        assert await live(database, told) == 1
        assert await live(database, told) == 0, "once"
        await work(settings, database)
        texts = [
            text for _, subject, text in box.texts if subject == "Pages of a.test are available"
        ]
        assert len(texts) == len(box.mails) == 2
        assert "The first 2 pages of a.test you suggested were read." in texts[0]


async def test_a_crawl_without_an_end_does_not_hold_the_notice_back(database: Database) -> None:
    await submit(database, "a.test")
    await decide(database, "a.test", approving())
    domain_id = await database.fetchval("SELECT id FROM messor.domains")
    await new_page(database, domain_id, "one")
    await database.fetch("UPDATE messor.crawl_tasks SET due_at = messor.clock() - interval '1 s'")
    await database.fetch(
        "UPDATE messor.domains SET reviewed_at = messor.clock() - interval '59 minutes'"
    )
    assert await live(database, Notices()) == 0
    await database.fetch(
        "UPDATE messor.domains SET reviewed_at = messor.clock() - interval '61 minutes'"
    )
    assert await live(database, Notices()) == 1


async def test_without_a_mail_server_the_text_to_send_is_shown(database: Database) -> None:
    await submit(database, "a.test")
    done = await decide(database, "a.test", approving())
    assert "1 submitter must be told by you: no mail server is configured" in done.message
    (mail,) = done.to_send
    assert (mail.recipient, mail.subject, mail.state) == (ADA, "a.test was approved", "manual")
    assert "It was approved, and its pages are being read now." in mail.body
    assert await database.fetchval("SELECT count(*) FROM messor.jobs") == 0
    await submit(database, "b.test", None)
    silent = await decide(database, "b.test", approving())
    assert "mail" not in silent.message
    await submit(database, "c.test")
    no = partial(decisions.approve, actor=TESTER, notify=False)
    assert (await decide(database, "c.test", no)).to_send == ()
    assert await database.fetchval("SELECT count(*) FROM messor.mails") == 1


async def test_members_who_submit_are_told_but_not_of_their_own_decision(
    database: Database,
) -> None:
    member = await database.fetchval(
        """INSERT INTO messor.members (id, email, name, role, created_by)
           VALUES (gen_random_uuid(), 'eve@example.org', 'Eve', 'reviewer', 'x') RETURNING id"""
    )
    asker = Submitter(f"member:{member}", member_id=member)
    for name, actor, told in (("a.test", TESTER, 1), ("b.test", f"member:{member}", 0)):
        async with database.transaction() as connection:
            await intake.submit_domain(connection, name, asker)
            done = await decisions.approve(connection, name, actor=actor)
        assert [mail.recipient for mail in done.to_send] == ["eve@example.org"] * told


async def test_an_erased_person_leaves_no_mail(database: Database) -> None:
    await submit(database, "a.test")
    await decide(database, "a.test", approving())
    async with database.transaction() as connection:
        await erasure.erase_person(connection, "ada@example.org", actor="x", reason="asked")
    assert await database.fetchval("SELECT count(*) FROM messor.mails") == 0
    await submit(database, "b.test", BOB)
    await decide(database, "b.test", approving())
    async with database.transaction() as connection:
        await erasure.erase_domain(connection, "b.test", actor="x", reason="asked")
    assert await database.fetchval("SELECT count(*) FROM messor.mails") == 0


def test_a_contact_is_bounded() -> None:
    with pytest.raises(UsageError, match="too long"):
        Submitter("public", "public_user", "x" * 321)
