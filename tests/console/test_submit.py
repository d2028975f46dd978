"""Submitting a domain or a page, as a member and as the public."""

from __future__ import annotations

import re

from messor.access.roles import Role
from messor.store.database import Database
from tests.console.conftest import Enter, Serve, Visitor
from tests.crawling import admit


async def submit(visitor: Visitor, path: str = "/submit", **form: str) -> str:
    return (await visitor.send(path, path, form)).said


async def test_a_domain(admin: Visitor, database: Database) -> None:
    said = await submit(
        admin, address="https://WWW.FoodBank.org/", context="State directory", depth="2"
    )
    assert "foodbank.org was submitted for review." in said
    row = await database.fetchrow(
        "SELECT domain, max_crawl_depth, submitted_by FROM messor.domains"
    )
    assert row is not None
    assert admin.member is not None
    assert tuple(row) == ("foodbank.org", 2, f"member:{admin.member.id}")
    again = await submit(admin, address="foodbank.org")
    assert "was already submitted for review." in again


async def test_the_form_has_its_fields(admin: Visitor, database: Database) -> None:
    """An address, words that may be left out, and a depth that is 3 unless somebody chooses."""
    text = (await admin.get("/submit")).text
    assert 'name="address" value="" required' in text
    assert re.search(r'<textarea[^>]* name="context"[^>]*></textarea>', text)
    assert not re.search(r'<textarea[^>]* name="context"[^>]* required', text)
    depths = re.findall(r'name="depth" value="(\d+)"( checked)?', text)
    assert [value for value, _ in depths] == ["0", "1", "2", "3", "4"]
    assert [value for value, checked in depths if checked] == ["3"]
    assert re.search(r'name="delay" value="2" type="number"', text)
    await submit(admin, address="foodbank.org")
    row = await database.fetchrow(
        "SELECT max_crawl_depth, submission_context FROM messor.domains WHERE domain = 'foodbank.org'"
    )
    assert row is not None
    assert tuple(row) == (3, None)


async def test_the_delay_of_the_form_is_the_domains(admin: Visitor, database: Database) -> None:
    """As typed, empty for the default; a shorter one than a second is for reviewers to set."""
    for name, given, kept in (
        ("two.org", "2", 2.0),
        ("slow.org", "7.5", 7.5),
        ("any.org", "", None),
    ):
        await submit(admin, address=name, delay=given)
        row = await database.fetchrow(
            """SELECT d.crawl_delay_seconds, s.crawl_delay_seconds FROM messor.domains d
                 JOIN messor.domain_submissions s ON s.domain_id = d.id WHERE d.domain = $1""",
            name,
        )
        assert row is not None
        assert tuple(row) == (kept, kept), name
    assert "7.5 s between requests" in (await admin.get("/review?at=slow.org")).said
    for bad in ("0", "0.5", "86401", "soon"):
        answer = await admin.send("/submit", "/submit", {"address": "bad.org", "delay": bad})
        assert answer.status == 422, bad
        assert f'name="delay" value="{bad}"' in answer.text, "what was typed is still there"
    count = await database.fetchval("SELECT count(*) FROM messor.domains WHERE domain = 'bad.org'")
    assert count == 0


async def test_an_approved_domain_may_be_scraped_again(
    admin: Visitor, database: Database, enter: Enter
) -> None:
    await admit(database, "foodbank.org")
    answer = await admin.send("/submit", "/submit", {"address": "foodbank.org"})
    assert "already approved, would you like to re-scrape?" in answer.said
    assert 'action="/domains/foodbank.org/rescrape"' in answer.text
    submitter = await enter(admin.base, Role.SUBMITTER)
    other = await submitter.send("/submit", "/submit", {"address": "foodbank.org"})
    assert "A reviewer can start a recrawl." in other.said
    assert "rescrape" not in other.text


async def test_a_rejected_domain_comes_back_with_new_words(
    admin: Visitor, database: Database
) -> None:
    await submit(admin, address="foodbank.org", context="first")
    await admin.send(
        "/domains", "/domains/foodbank.org/decide", {"act": "reject", "reason": "who?"}
    )
    said = await submit(admin, address="foodbank.org")
    assert "was rejected: who?." in said
    assert "submitted for review again" in await submit(
        admin, address="foodbank.org", context="a charity"
    )


async def test_one_page(admin: Visitor, database: Database) -> None:
    address = "foodbank.org/services/housing"
    offered = await submit(admin, address=address)
    assert "Would you like to submit foodbank.org for review?" in offered
    assert await database.fetchval("SELECT count(*) FROM messor.domains") == 0
    taken = await submit(admin, address=address, accept="1", context="housing help")
    assert "is crawled once it is approved" in taken
    await admin.send("/domains", "/domains/foodbank.org/decide", {"act": "approve"})
    urls = [row["url"] for row in await database.fetch("SELECT url FROM messor.pages")]
    assert "https://foodbank.org/services/housing" in urls
    assert "is due. No worker is running" in await submit(admin, address="foodbank.org/other")


async def test_nonsense(admin: Visitor) -> None:
    for address in ("", "   ", "nonsense", "http://", "127.0.0.1", "javascript:alert(1)", "\x00"):
        answer = await admin.send("/submit", "/submit", {"address": address})
        assert answer.status == 422, address
        assert 'role="alert"' in answer.text
    deep = await admin.send("/submit", "/submit", {"address": "a.org", "depth": "999"})
    assert deep.status == 422


async def test_the_public_page_is_off_by_default(console: str, enter: Enter) -> None:
    stranger = await enter(console)
    assert (await stranger.get("/ask")).status == 404
    assert (await stranger.post("/ask")).status in (404, 405)
    assert "/ask" not in (await stranger.get("/login")).text


async def test_the_public_may_ask(serve: Serve, enter: Enter, database: Database) -> None:
    stranger = await enter(await serve(public_submission=True))
    said = await submit(
        stranger, "/ask", address="foodbank.org", context="helps", contact="me@example.org"
    )
    assert "foodbank.org was submitted for review." in said
    row = await database.fetchrow(
        """SELECT d.submitter_type, d.submitted_by, s.contact, d.status FROM messor.domains d
             JOIN messor.domain_submissions s ON s.domain_id = d.id"""
    )
    assert row is not None
    assert tuple(row) == ("public_user", "public", "me@example.org", "pending_review")
    asked = await database.fetchval("SELECT count(*) FROM messor.preflights")
    assert asked == 0, "nothing is fetched before a reviewer opens it"


async def test_the_public_is_not_told_what_was_decided_inside(
    serve: Serve, enter: Enter, database: Database
) -> None:
    base = await serve(public_submission=True)
    admin, stranger = await enter(base, Role.ADMIN), await enter(base)
    await submit(admin, address="evil.org")
    form = {"act": "blacklist", "reason": "secret grounds"}
    await admin.send("/domains", "/domains/evil.org/decide", form)
    for address in ("evil.org", "evil.org/page"):
        said = await submit(stranger, "/ask", address=address)
        assert "is not accepted." in said
        assert "secret" not in said


async def test_the_public_is_rationed(serve: Serve, enter: Enter, database: Database) -> None:
    stranger = await enter(await serve(public_submission=True))
    token = await stranger.token("/ask")
    answers = [
        await stranger.post("/ask", {"address": f"site-{number}.org"}, csrf=token)
        for number in range(8)
    ]
    assert [answer.status for answer in answers] == [200] * 5 + [429] * 3
    assert answers[-1].headers["Retry-After"]
    assert await database.fetchval("SELECT count(*) FROM messor.domains") == 5
