"""The public page of one submission: its state, found by an unguessable link and nothing else."""

from __future__ import annotations

import re

from messor.access.roles import Role
from messor.store.database import Database
from tests.console.conftest import Enter, Serve, Visitor

LINK = re.compile(r'href="(/ask/status/([\w-]+))"')


async def ask(stranger: Visitor, address: str) -> str:
    form = {
        "address": address,
        "context": "my own words",
        "contact": "me@example.org",
        "accept": "1",
    }
    found = LINK.search((await stranger.send("/ask", "/ask", form)).text)
    assert found is not None
    assert len(found[2]) == 32, "24 random bytes"
    return found[1]


async def test_a_submission_has_a_page_of_its_own(
    serve: Serve, enter: Enter, database: Database
) -> None:
    base = await serve(public_submission=True)
    stranger, reviewer = await enter(base), await enter(base, Role.REVIEWER)
    link, other = await ask(stranger, "a.org"), await ask(stranger, "b.org/one/page")
    page = await stranger.get(link)
    assert "waiting for review" in page.said
    assert (page.headers["X-Robots-Tag"], page.headers["Referrer-Policy"]) == (
        "noindex", "no-referrer",
    )  # fmt: skip
    assert "no-store" in page.headers["Cache-Control"]
    assert '<meta name="robots" content="noindex">' in page.text
    for private in ("me@example.org", "my own words"):
        assert private not in page.text
    reject = {"act": "reject", "reason": "Only a shop."}
    await reviewer.send("/review?at=a.org", "/domains/a.org/decide", reject)
    said = (await stranger.get(link)).said
    assert "not accepted" in said
    assert "Only a shop." in said
    await reviewer.send("/review?at=b.org", "/domains/b.org/decide", {"act": "approve"})
    said = (await stranger.get(other)).said
    assert "approved" in said
    assert "none read yet" in said
    secret = {"act": "blacklist", "reason": "secret grounds"}
    await reviewer.send("/domains/b.org", "/domains/b.org/decide", secret)
    said = (await stranger.get(other)).said
    assert "not accepted" in said
    assert "secret" not in said
    assert (await stranger.get("/ask/status/no-such-token")).status == 404
    shown = await reviewer.get("/domains/b.org")
    assert "Send this to me@example.org" in shown.said, "no mail server: the reviewer has the text"


async def test_links_cannot_be_tried_out(serve: Serve, enter: Enter) -> None:
    stranger = await enter(await serve(public_submission=True))
    answers = [(await stranger.get(f"/ask/status/{number}")).status for number in range(61)]
    assert answers == [404] * 60 + [429]


async def test_without_the_public_form_there_is_no_such_page(
    console: str, enter: Enter, database: Database
) -> None:
    stranger, admin = await enter(console), await enter(console, Role.ADMIN)
    await admin.send("/submit", "/submit", {"address": "a.org"})
    token = await database.fetchval("SELECT token FROM messor.domain_submissions")
    assert token
    assert (await stranger.get(f"/ask/status/{token}")).status == 404
