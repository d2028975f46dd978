"""The vertical of a domain as a field of the forms, and the guess that a reviewer is offered."""

from __future__ import annotations

import re

from messor.access.roles import Role
from messor.store.database import Database
from tests.console.conftest import Enter, Serve
from tests.governance.test_domain_vertical import apply

CHOSEN = re.compile(r'<option value="(\w*)" selected')


async def test_forms_ask_for_the_vertical_and_the_reviewer_confirms_a_guess(
    serve: Serve, enter: Enter, database: Database
) -> None:
    base = await serve(public_submission=True)
    stranger, reviewer = await enter(base), await enter(base, Role.REVIEWER)
    assert 'name="vertical"' not in (await stranger.get("/ask")).text, "there is none to choose"
    await apply(database, "community_resources", "funding")
    form = (await stranger.get("/ask")).text
    assert '<option value="community_resources">Community resources</option>' in form
    await stranger.send("/ask", "/ask", {"address": "a.org", "vertical": "funding"})
    await stranger.send("/ask", "/ask", {"address": "b.org", "context": "State food bank"})
    wrong = await stranger.send("/ask", "/ask", {"address": "c.org", "vertical": "cooking"})
    assert (wrong.status, "not an applied vertical" in wrong.said) == (422, True)
    sent = {"address": "d.org/page", "vertical": "funding", "accept": "1"}
    await reviewer.send("/submit", "/submit", sent)
    rows = await database.fetch("SELECT domain, vertical FROM messor.domains ORDER BY domain")
    assert [tuple(row) for row in rows] == [
        ("a.org", "funding"), ("b.org", None), ("d.org", "funding"),
    ]  # fmt: skip
    assert CHOSEN.findall((await reviewer.get("/review?at=a.org")).text)[-1] == "funding"
    offered = await reviewer.get("/review?at=b.org")
    assert CHOSEN.findall(offered.text)[-1] == "community_resources"
    assert "Suggested by: for: food bank" in offered.said
    decision = {"act": "approve", "vertical": "community_resources", "back": "/review"}
    await reviewer.send("/review?at=b.org", "/domains/b.org/decide", decision)
    shown = await reviewer.get("/domains/b.org")
    assert 'href="/verticals/community_resources/flags?domain=b.org"' in shown.text
    await reviewer.send("/domains/b.org", "/domains/b.org/vertical", {"vertical": ""})
    assert "its pages are not judged for relevance" in (await reviewer.get("/domains/b.org")).said
