"""The review queue: what is shown, and what decisions come to."""

from __future__ import annotations

from dataclasses import replace

from messor.insight import classes
from messor.registry import domains as registry
from messor.registry.preflights import PreflightReport
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Visitor
from tests.crawling import admit

LOOK = PreflightReport(
    url="https://foodbank.org/",
    reachable=True,
    message="It answers, and robots.txt lets us in.",
    robots="rules",
    robots_allows=False,
    robots_reason="Disallow: /",
    crawl_delay=7,
    title="The Food Bank",
    challenge="cloudflare",
    login=True,
    sitemap="https://foodbank.org/sitemap.xml",
    sitemap_urls=312,
)


async def status_of(database: Database, name: str) -> str:
    found: str = await database.fetchval(
        "SELECT status FROM messor.domains WHERE domain = $1", name
    )
    return found


async def test_all_that_bears_on_a_decision_is_on_one_screen(
    reviewer: Visitor, database: Database
) -> None:
    domain = await seeding.ask_for(database, "foodbank.org", "State food bank directory")
    await seeding.add_report(database, domain, LOOK)
    await admit(database, "foodbanks.org")
    page = await reviewer.get("/review")
    assert page.status == 200
    for words in (
        "foodbank.org", "State food bank directory", "tester", "It answers, and robots.txt lets us in.",
        "disallowed", "every 7 s", "Disallow: /", "The Food Bank", "cloudflare", "312 pages",
        "foodbanks.org", "similar spelling", "depth 3",
    ):  # fmt: skip
        assert words in page.said, words


async def test_an_empty_queue_says_what_comes_here(reviewer: Visitor) -> None:
    page = await reviewer.get("/review")
    assert "The review queue is empty" in page.said
    assert 'href="/submit"' in page.text


async def test_approve(reviewer: Visitor, database: Database) -> None:
    await seeding.ask_for(database, "foodbank.org")
    await seeding.ask_for(database, "shelter.org")
    form = {"act": "approve", "seen": "pending_review", "back": "/review?at=shelter.org"}
    answer = await reviewer.send("/review", "/domains/foodbank.org/decide", form)
    assert (answer.status, answer.place) == (303, "/review?at=shelter.org")
    assert await status_of(database, "foodbank.org") == "approved"
    page = await reviewer.get(answer.place)
    assert "Its pages are due. No worker is running." in page.said
    assert "No worker is running." not in (await reviewer.get("/review")).said, "said once"
    who = await database.fetchval("SELECT actor FROM messor.events WHERE type = 'domain.approved'")
    assert reviewer.member is not None
    assert who == f"member:{reviewer.member.id}"


async def test_to_reject_needs_a_reason(reviewer: Visitor, database: Database) -> None:
    await seeding.ask_for(database, "spam.org")
    here = "/review?at=spam.org"
    form = {"act": "reject", "reason": "   ", "here": here}
    answer = await reviewer.send("/review", "/domains/spam.org/decide", form)
    assert answer.place == here
    assert "A reason is required" in (await reviewer.get(here)).said
    assert await status_of(database, "spam.org") == "pending_review"
    form = {"act": "reject", "reason": "only advertisements", "notify": "1"}
    await reviewer.send("/review", "/domains/spam.org/decide", form)
    assert await status_of(database, "spam.org") == "rejected"
    page = await reviewer.get("/domains/spam.org")
    assert "only advertisements" in page.said
    assert await database.fetchval(
        "SELECT count(*) FROM messor.events WHERE type = 'submitter.notice'"
    )


async def test_nobody_decides_over_somebody_elses_decision(
    reviewer: Visitor, database: Database
) -> None:
    await seeding.ask_for(database, "foodbank.org")
    token = await reviewer.token("/review")
    await reviewer.post(
        "/domains/foodbank.org/decide", {"act": "reject", "reason": "no"}, csrf=token
    )
    late = {"act": "blacklist", "reason": "no", "seen": "pending_review"}
    answer = await reviewer.post("/domains/foodbank.org/decide", late, csrf=token)
    assert "was pending_review when you opened it" in (await reviewer.get(answer.place)).said
    assert await status_of(database, "foodbank.org") == "rejected"


async def test_many_at_once(reviewer: Visitor, database: Database) -> None:
    for name in ("one.org", "two.org", "three.org"):
        await seeding.ask_for(database, name)
    await admit(database, "four.org")
    chosen = [("domain", name) for name in ("one.org", "two.org", "four.org", "nope.org")]
    answer = await reviewer.send("/review", "/review", [("act", "approve"), *chosen])
    said = (await reviewer.get(answer.place)).said
    assert "2 of 4 domains" in said
    assert "four.org is approved" in said
    assert [await status_of(database, f"{one}.org") for one in ("one", "two", "three")] == [
        "approved",
        "approved",
        "pending_review",
    ]
    none = await reviewer.send("/review", "/review", [("act", "reject"), ("domain", "three.org")])
    assert none.status == 422
    odd = await reviewer.send("/review", "/review", [("act", "locked"), ("domain", "three.org")])
    assert odd.status == 422
    assert await status_of(database, "three.org") == "pending_review"


async def test_a_dossier_alone_for_htmx(reviewer: Visitor, database: Database) -> None:
    await seeding.ask_for(database, "foodbank.org")
    part = await reviewer.get("/review/foodbank.org", **{"HX-Request": "true"})
    assert part.status == 200
    assert "<html" not in part.text
    assert 'data-dossier="foodbank.org"' in part.text
    whole = await reviewer.get("/review/foodbank.org")
    assert whole.place == "/review?at=foodbank.org"


async def test_a_long_queue_is_paged(reviewer: Visitor, database: Database) -> None:
    for number in range(53):
        await seeding.ask_for(database, f"domain-{number:02}.org")
    page = await reviewer.get("/review")
    assert page.text.count("data-name=") == 50
    more = page.text.split('href="/review?cursor=')[1].split('"')[0].replace("&amp;", "&")
    assert (await reviewer.get(f"/review?cursor={more}")).text.count("data-name=") == 3
    found = await reviewer.get("/review?q=domain-07")
    assert found.text.count("data-name=") == 1
    assert (await reviewer.get("/review?cursor=nonsense")).status == 200


async def test_notes_and_first_looks(reviewer: Visitor, database: Database) -> None:
    await seeding.ask_for(database, "foodbank.org")
    await reviewer.send("/review", "/domains/foodbank.org/notes", {"note": "They answer by phone"})
    await reviewer.send("/review", "/domains/foodbank.org/preflight")
    page = await reviewer.get("/review?at=foodbank.org")
    assert "They answer by phone" in page.said
    assert "waiting for a worker" in page.said


async def test_the_first_look_guesses_what_kind_of_site_it_is(
    reviewer: Visitor, database: Database
) -> None:
    """By its title and what it says of itself; a reviewer sees the guess beside them."""
    async with database.transaction() as connection:
        asked = registry.Submission.understand("leedsgazette.example")
        domain, _ = await registry.submit(connection, asked, actor="test")
    title = "Leeds Gazette: news, headlines and opinion"
    await seeding.add_report(database, domain, replace(LOOK, title=title))
    async with database.transaction() as connection:
        (found,) = await classes.classify(connection, ["leedsgazette.example"])
    assert found.name == "news"
    page = await reviewer.get("/review?at=leedsgazette.example")
    assert "Class" in page.said
    assert ">news<" in page.text
