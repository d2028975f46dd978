"""The list of domains, and one domain with its tabs and acts."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from messor.access.roles import Role
from messor.governance import intake
from messor.registry import domains as registry
from messor.registry.submissions import Submitter
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Enter, Visitor
from tests.crawling import admit, suspend


async def test_views_search_and_order(admin: Visitor, database: Database) -> None:
    await seeding.ask_for(database, "waiting.org")
    one = await admit(database, "alpha.org")
    await admit(database, "beta.org")
    await suspend(database, await admit(database, "gamma.org"))
    await seeding.add_page(database, one, "https://alpha.org/a")
    await database.fetch("UPDATE messor.domains SET pages_known = 7 WHERE domain = 'beta.org'")
    await database.fetch(
        """UPDATE messor.hosts SET last_request_at = messor.clock(),
                  last_good_at = messor.clock() WHERE host = 'alpha.org'"""
    )

    async def listed(query: str) -> list[str]:
        page = await admin.get(f"/domains{query}")
        assert page.status == 200
        names = ("waiting.org", "alpha.org", "beta.org", "gamma.org")
        places = {name: page.text.find(f'"/domains/{name}"') for name in names}
        return sorted((name for name in names if places[name] > 0), key=lambda name: places[name])

    assert await listed("") == ["alpha.org", "beta.org", "gamma.org", "waiting.org"]
    assert await listed("?view=approved") == ["alpha.org", "beta.org"]
    assert await listed("?view=pending") == ["waiting.org"]
    assert await listed("?view=suspended") == ["gamma.org"]
    assert await listed("?view=unvisited") == ["beta.org"]
    assert await listed("?q=ALPH") == ["alpha.org"]
    assert (await listed("?sort=-pages_known"))[0] == "beta.org"
    assert (await listed("?sort=-last_scraped_at"))[0] == "alpha.org"
    assert await listed("?trusted=true") == []
    assert await listed("?view=nonsense&sort=;drop&cursor=-3&submitter_type=x") == await listed("")


async def test_pages_of_the_list(admin: Visitor, database: Database) -> None:
    for number in range(52):
        await seeding.ask_for(database, f"domain-{number:02}.org")
    first = await admin.get("/domains?q=domain")
    assert "52 domains" in first.said
    further = re.search(r'href="(/domains\?q=domain&amp;cursor=[\w-]+)"', first.text)
    assert further
    second = await admin.get(further[1].replace("&amp;", "&"))
    assert "domain-51.org" in second.said
    assert "domain-00.org" not in second.said
    part = await admin.get("/domains?q=domain-0", **{"HX-Request": "true"})
    assert "<html" not in part.text
    assert "10 domains" in part.said


async def test_a_domain_shows_its_history_charts_and_acts(
    admin: Visitor, database: Database
) -> None:
    domain = await admit(database, "shop.example", delay=3)
    for number in range(3):
        await seeding.add_page(database, domain, f"https://shop.example/{number}")
    await seeding.add_page(
        database, domain, "https://shop.example/wall", outcome="blocked", status=403
    )
    await database.fetch(
        """INSERT INTO messor.friction_log (occurred_at, host_id, signal, points, score)
           SELECT messor.clock() - interval '2 days', id, '403', 20, 60 FROM messor.hosts"""
    )
    page = await admin.get("/domains/shop.example")
    assert "4 requests in 30 days, 1 of them blocked" in page.said
    assert "maximum 60 in 30 days" in page.said
    assert "domain approved" in page.said
    assert page.text.count("<rect") == 2
    assert 'role="img"' in page.text
    for act in ("suspend", "review_again", "trust", "blacklist", "no_funds"):
        assert f'value="{act}"' in page.text


async def test_pages_as_a_list_and_as_folders(admin: Visitor, database: Database) -> None:
    domain = await admit(database, "shop.example")
    for path in ("/blog/one", "/blog/two", "/about"):
        await seeding.add_page(database, domain, f"https://shop.example{path}")
    await seeding.add_page(
        database, domain, "https://shop.example/gone", outcome="not_found", status=404
    )
    everything = await admin.get("/domains/shop.example/pages")
    assert everything.said.count("https://shop.example/") >= 4
    gone = await admin.get("/domains/shop.example/pages?outcome=not_found")
    assert "/gone" in gone.said
    assert "/blog/one" not in gone.said
    found = await admin.get("/domains/shop.example/pages?q=blog")
    assert "/about" not in found.said
    assert "No matching pages" in (await admin.get("/domains/shop.example/pages?kept=yes")).said
    top = await admin.get("/domains/shop.example/pages?as=tree")
    assert "shop.example/" in top.said
    inside = await admin.get("/domains/shop.example/pages?as=tree&in=shop.example/")
    assert "blog/" in inside.said
    assert "0 of 2 stored" in inside.said
    assert "about" in inside.said


async def test_robots_pace_and_sitemaps(admin: Visitor, database: Database) -> None:
    domain = await admit(database, "shop.example", delay=3)
    await seeding.add_page(database, domain, "https://shop.example/lamp")
    await database.fetch(
        """WITH file AS (INSERT INTO messor.robots_files (host_id, verdict, reason, status_code, body,
             body_hash, crawl_delay) SELECT id, 'rules', 'robots.txt was read', 200, $1, $1, 5
             FROM messor.hosts RETURNING id)
           UPDATE messor.hosts SET robots_id = file.id FROM file""",
        b"User-agent: *\nDisallow: /<private>\xff",
    )
    page = await admin.get("/domains/shop.example/courtesy")
    assert "at most one request every 5 s: Crawl-delay in robots.txt" in page.said
    assert "Disallow: /&lt;private&gt;" in page.text
    log = await admin.get("/domains/shop.example/fetches")
    assert "https://shop.example/lamp" in log.said
    assert "approved" in log.said


async def test_settings(admin: Visitor, database: Database, enter: Enter) -> None:
    await admit(database, "shop.example")
    path = "/domains/shop.example/settings"
    form = {"delay": "2.5", "max_crawl_depth": "2", "page_budget": "500", "harvest": "asked",
            "every_hours": "", "verify_tls": "0"}  # fmt: skip
    assert (await admin.send(path, path, form)).place == path
    domain = await registry.get(database, "shop.example")
    assert (domain.crawl_delay_seconds, domain.max_crawl_depth, domain.page_budget) == (2.5, 2, 500)
    assert (domain.harvest, domain.verify_tls) == ("asked", False)
    for wrong in ({"delay": "-1"}, {"delay": "soon"}, {"max_crawl_depth": "1000"},
                  {"harvest": "everything"}, {"page_budget": "9" * 30}, {"delay": "nan"}):  # fmt: skip
        assert (await admin.send(path, path, wrong)).status == 422, wrong
    viewer = await enter(admin.base, Role.VIEWER)
    seen = await viewer.get(path)
    assert "<fieldset" in seen.text
    assert "disabled" in seen.text


@pytest.mark.parametrize(
    "acts, status",
    [
        (["approve"], "approved"),
        (["approve", "suspend"], "suspended"),
        (["approve", "suspend", "resume"], "approved"),
        (["approve", "review_again"], "pending_review"),
        (["blacklist"], "blacklisted"),
        (["approve", "trust"], "approved"),
    ],
)
async def test_acts(acts: list[str], status: str, admin: Visitor, database: Database) -> None:
    await seeding.ask_for(database, "shop.example")
    for act in acts:
        form = {"act": act, "reason": "because"}
        answer = await admin.send("/domains", "/domains/shop.example/decide", form)
        assert answer.place == "/domains/shop.example"
    domain = await registry.get(database, "shop.example")
    assert domain.status == status
    assert domain.is_trusted_domain == ("trust" in acts)


async def test_scrape_again_pause_and_resume(admin: Visitor, database: Database) -> None:
    domain = await admit(database, "shop.example")
    await seeding.add_page(database, domain, "https://shop.example/a")
    answer = await admin.send("/domains", "/domains/shop.example/rescrape")
    assert "Its pages are due. No worker is running." in (await admin.get(answer.place)).said
    due = "SELECT count(*) FROM messor.crawl_tasks WHERE due_at <= messor.clock() AND kind = 'page'"
    assert await database.fetchval(due) >= 1
    await admin.send("/domains", "/domains/shop.example/hold", {"act": "pause"})
    assert "paused" in (await admin.get("/domains/shop.example")).said
    await admin.send("/domains", "/domains/shop.example/hold", {"act": "resume"})
    assert await database.fetchval("SELECT active FROM messor.domains")


async def test_purge_asks_to_be_sure(admin: Visitor, database: Database) -> None:
    domain = await admit(database, "shop.example")
    page_id = await seeding.add_page(database, domain, "https://shop.example/a")
    await seeding.add_snapshot(database, page_id, "A", "text", timedelta())
    await admin.send(
        "/domains", "/domains/shop.example/decide", {"act": "blacklist", "reason": "malware"}
    )
    assert "1 snapshots" in (await admin.get("/domains/shop.example")).said
    await admin.send("/domains", "/domains/shop.example/purge", {"sure": "yes"})
    count = "SELECT count(*) FROM messor.page_snapshots"
    assert await database.fetchval(count) == 1
    await admin.send("/domains", "/domains/shop.example/purge", {"sure": "shop.example"})
    assert await database.fetchval(count) == 0


async def test_unknown_domains(admin: Visitor) -> None:
    for path in ("/domains/nope.example", "/domains/nope.example/pages", "/domains/%00/fetches"):
        assert (await admin.get(path)).status == 404
    assert (await admin.send("/domains", "/domains/nope.example/rescrape")).status == 404


async def test_a_member_is_named_not_numbered(reviewer: Visitor, database: Database) -> None:
    assert reviewer.member is not None
    async with database.transaction() as connection:
        await intake.submit_domain(
            connection,
            "foodbank.org",
            Submitter(f"member:{reviewer.member.id}"),
            look=False,
        )
    page = await reviewer.get("/domains/foodbank.org")
    assert "The reviewer" in page.said
    assert str(reviewer.member.id) not in page.text


async def test_an_emptied_delay_is_the_usual_one_again(database: Database, admin: Visitor) -> None:
    async with database.transaction() as connection:
        wanted = registry.Submission.understand("example.org")
        domain, _ = await registry.submit(connection, wanted, actor="test")
        await registry.configure(connection, domain, actor="test", delay=2.5, every_hours=48)
    place = "/domains/example.org/settings"
    saved = await admin.send(place, place, {"delay": "", "every_hours": "48"})
    assert saved.status == 303
    now = await registry.get(database, "example.org")
    assert (now.crawl_delay_seconds, now.scrape_frequency_hours) == (None, 48)


async def test_approved_domains_have_row_actions(
    admin: Visitor, database: Database, enter: Enter
) -> None:
    """Recrawl, suspend and trust from the list itself, back to the list as it was filtered."""
    await admit(database, "alpha.org")
    await seeding.ask_for(database, "waiting.org")
    here = "/domains?view=approved"
    text = (await admin.get("/domains")).text
    for act in ("Recrawl alpha.org now", "Suspend alpha.org", "Trust alpha.org"):
        assert f'aria-label="{act}"' in text
    assert "Suspend waiting.org" not in text
    assert f'name="back" value="{here}"' in (await admin.get(here)).text
    form = {"back": here, "here": here, "seen": "approved"}
    done = await admin.send(here, "/domains/alpha.org/decide", {**form, "act": "trust"})
    assert done.place == here
    assert (await registry.get(database, "alpha.org")).is_trusted_domain
    assert 'aria-label="Remove trust in alpha.org"' in (await admin.get(here)).text
    assert (await admin.send(here, "/domains/alpha.org/rescrape", form)).place == here
    assert "1 pages of alpha.org are due now." in (await admin.get(here)).said
    await admin.send(here, "/domains/alpha.org/decide", {**form, "act": "suspend"})
    assert (await registry.get(database, "alpha.org")).status == "suspended"
    viewer = await enter(admin.base, Role.VIEWER)
    await admit(database, "beta.org")
    assert "Suspend beta.org" not in (await viewer.get("/domains")).text
