"""Why: the chain of facts for what was allowed, denied, put off, or never heard of."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor.errors import UsageError
from messor.explain.why import Explanation, explain
from messor.frontier.traps import pattern_key
from messor.politeness import hosts
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import plain
from tests.crawling import admit, crawl, submit
from tests.held_lanes import claim, lease
from tests.little_web import LittleWeb, page, robots

ROOMS = {
    "/robots.txt": robots("User-agent: *\nDisallow: /private\nCrawl-delay: 0.01\n"),
    "/": page("home", "/private/a", "/open", "http://else.test/"),
    "/open": page("open"),
}


def facts(explanation: Explanation) -> dict[str, tuple[str, str]]:
    return {fact.step: (fact.says, fact.sentence) for fact in explanation.facts}


async def crawled(database: Database, folder: Path) -> Settings:
    async with LittleWeb(folder, {"one.test": ROOMS}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        return web.settings()


async def test_the_chain_of_a_page_that_was_read(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    explanation = await explain(database, settings, "http://one.test/open")
    said = facts(explanation)
    assert explanation.verdict == "allowed"
    assert said["registry"][0] == said["robots"][0] == "yes"
    assert "found by link on http://one.test/ at depth 1" in said["page"][1]
    assert "ok 200" in said["fetch"][1]
    assert "next due" in said["schedule"][1]


async def test_the_chain_of_a_page_that_robots_deny(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    explanation = await explain(database, settings, "http://one.test/private/a")
    said = facts(explanation)
    assert explanation.verdict == "denied"
    assert said["robots"][0] == "no"
    assert "/private" in said["robots"][1]
    assert "fetch" not in said


async def test_a_page_nobody_found_is_judged_by_the_rules_as_they_stand(
    database: Database, tmp_path: Path
) -> None:
    settings = await crawled(database, tmp_path)
    allowed = await explain(database, settings, "http://one.test/unknown")
    denied = await explain(database, settings, "http://one.test/private/unknown")
    assert (allowed.verdict, denied.verdict) == ("allowed", "denied")
    assert "not known" in facts(allowed)["page"][1]
    assert "1 by scope" in facts(allowed)["page"][1]


async def test_a_domain_nobody_asked_for(database: Database) -> None:
    explanation = await explain(database, Settings(), "https://unknown.example/x")
    assert explanation.verdict == "denied"
    assert facts(explanation)["registry"][0] == "no"


async def test_a_domain_that_waits_for_review(database: Database) -> None:
    await submit(database, "http://one.test/")
    explanation = await explain(database, Settings(), "http://one.test/")
    assert explanation.verdict == "denied"
    assert "pending_review" in facts(explanation)["registry"][1]


async def test_a_host_whose_robots_fail_is_put_off(database: Database, tmp_path: Path) -> None:
    rooms = {"/robots.txt": plain(500, "broken"), "/": page("home")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        explanation = await explain(database, web.settings(), "http://one.test/")
    assert explanation.verdict == "deferred"
    assert "answered 500" in facts(explanation)["robots"][1]


async def test_the_delay_says_which_of_its_parts_counts(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    url = "http://one.test/open"

    async def pace() -> str:
        return facts(await explain(database, settings, url))["pace"][1]

    assert "every 0.01 s: Crawl-delay in robots.txt" in await pace()
    await database.fetch("UPDATE messor.domains SET crawl_delay_seconds = 0.5")
    assert "every 0.5 s: the domain's own delay" in await pace()
    await database.fetch("UPDATE messor.domains SET crawl_delay_seconds = NULL")
    assert "every 1 s: the default" in await pace()
    await database.fetch(
        """UPDATE messor.lanes SET mode_delay = 0.8,
                  mode_until = messor.clock() + interval '1 minute'"""
    )
    assert "every 0.8 s: the ingestion in progress" in await pace()
    await set_risk(database, 30)
    assert "every 1.2 s: risk is medium" in await pace()


async def set_risk(database: Database, score: float) -> None:
    await database.fetch(
        "UPDATE messor.hosts SET risk_score = $1, risk_at = messor.clock()", float(score)
    )


async def test_the_delay_told_is_the_one_a_claim_gives(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    await set_risk(database, 60)
    await database.fetch(
        "UPDATE messor.lanes SET claim_at = messor.clock(), due_at = messor.clock()"
    )
    worker = await lease(database)
    (lane,) = await claim(database, worker, delay=settings.default_delay)
    host = await hosts.find(database, "one.test", settings.default_delay)
    assert host is not None
    assert host.delay.seconds == lane.pace.delay == 2.0
    assert host.held


async def test_a_critical_host_is_put_off_until_it_has_decayed(
    database: Database, tmp_path: Path
) -> None:
    settings = await crawled(database, tmp_path)
    await set_risk(database, 90)
    explanation = await explain(database, settings, "http://one.test/open")
    assert explanation.verdict == "deferred"
    says, sentence = facts(explanation)["risk"]
    assert says == "later"
    assert "risk 90 (critical): not contacted until" in sentence
    # A person asked for pages in spite of it.
    await database.fetch(
        "UPDATE messor.lanes SET assisted_until = messor.clock() + interval '1 minute'"
    )
    assert (await explain(database, settings, "http://one.test/open")).verdict == "allowed"


async def test_a_host_waits_for_the_risk_of_its_main_host(
    database: Database, tmp_path: Path
) -> None:
    rooms = {"/": page("home", "http://side.one.test/")}
    side = {"/": page("side")}
    async with LittleWeb(tmp_path, {"one.test": rooms, "side.one.test": side}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        await database.fetch(
            """UPDATE messor.hosts SET risk_score = 95, risk_at = messor.clock()
                WHERE host = 'one.test'"""
        )
        explanation = await explain(database, web.settings(), "http://side.one.test/")
    assert explanation.verdict == "deferred"
    assert "because of one.test" in facts(explanation)["risk"][1]


async def test_friction_gates_and_blocks_of_a_page_are_told(
    database: Database, tmp_path: Path
) -> None:
    rooms = {"/": page("home", "/shut"), "/shut": plain(403, "Forbidden")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        said = facts(await explain(database, web.settings(), "http://one.test/shut"))
    assert "blocked 403" in said["fetch"][1]
    assert "gate" in said["fetch"][1]
    assert "403 (+20)" in said["friction"][1]
    assert "risk 20 (low)" in said["risk"][1]


async def test_a_page_that_asks_not_to_be_kept(database: Database, tmp_path: Path) -> None:
    rooms = {"/": page("home", extra=(("X-Robots-Tag", "noindex"),))}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/")
        await crawl(web.settings(), database)
        explanation = await explain(database, web.settings(), "http://one.test/")
    assert explanation.verdict == "allowed"
    assert "not stored: the page forbids indexing" in facts(explanation)["keep"][1]


async def test_sitemap_category_and_terms_are_told(database: Database, tmp_path: Path) -> None:
    sitemap = (
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url>'
        "<loc>http://one.test/contact</loc><lastmod>2026-01-05</lastmod></url></urlset>"
    )
    rooms = {"/": page("home"), "/contact": page("contact"), "/sitemap.xml": plain(200, sitemap)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, "http://one.test/", render="never", directives="ignore")
        await crawl(web.settings(), database)
        said = facts(await explain(database, web.settings(), "http://one.test/contact"))
    assert "found by sitemap on http://one.test/sitemap.xml at depth 1" in said["page"][1]
    assert "category contact" in said["page"][1]
    assert "last changed 2026-01-05" in said["page"][1]
    assert "only HTTP is used" in said["terms"][1]
    assert "noindex and nofollow are ignored" in said["terms"][1]


async def test_a_page_nobody_asked_for_is_not_due(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": ROOMS}) as web:
        await admit(database, "http://one.test/", harvest="asked")
        await crawl(web.settings(), database)
        explanation = await explain(database, web.settings(), "http://one.test/open")
        unknown = await explain(database, web.settings(), "http://one.test/unknown")
    assert (explanation.verdict, unknown.verdict) == ("deferred", "deferred")
    assert "was not requested" in facts(explanation)["schedule"][1]


async def test_traps_and_full_families_are_told(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    trap = await explain(database, settings, "http://one.test/a/a/a/a/")
    assert trap.verdict == "denied"
    assert facts(trap)["trap"][0] == "no"
    url = "http://one.test/events/2026/05"
    assert (await explain(database, settings, url)).verdict == "allowed"
    await database.fetch(
        """INSERT INTO messor.url_patterns (host_id, pattern, pages)
           SELECT id, $1, 160 FROM messor.hosts""",
        pattern_key(url),
    )
    full = await explain(database, settings, url)
    assert full.verdict == "denied"
    assert "160 of 160 pages" in facts(full)["trap"][1]


async def test_a_spent_budget_refuses_what_is_not_known(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    await database.fetch("UPDATE messor.domains SET page_budget = pages_known")
    assert (await explain(database, settings, "http://one.test/open")).verdict == "allowed"
    assert (await explain(database, settings, "http://one.test/new")).verdict == "denied"


async def test_what_was_refused_before_decides_nothing(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    await database.fetch("UPDATE messor.crawl_tasks SET refusal = 'depth: depth 1 is over 0'")
    explanation = await explain(database, settings, "http://one.test/open")
    assert explanation.verdict == "allowed"
    assert "last refused: depth" in facts(explanation)["decision"][1]


async def test_a_cage_is_told(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    await database.fetch("UPDATE messor.hosts SET caged = true")
    said = facts(await explain(database, settings, "http://one.test/open"))
    assert "read in the sandbox" in said["cage"][1]


@pytest.mark.parametrize("text", ["", "file:///etc/passwd", "http://127.0.0.1/", "x" * 10_000])
async def test_what_is_no_web_address_is_said_in_a_sentence(database: Database, text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        await explain(database, Settings(), text)
    assert len(str(refusal.value)) < 300


async def test_the_cadence_of_a_page_is_told(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    url = "http://one.test/"
    said = facts(await explain(database, settings, url))["cadence"]
    assert said == ("fact", "crawled every 1 d (the default); no change history yet")
    await database.fetch("UPDATE messor.domains SET track_level = 'B'")
    assert "7 d (track level B)" in facts(await explain(database, settings, url))["cadence"][1]
    await database.fetch("UPDATE messor.crawl_tasks SET crawl_frequency = '12 hours'")
    exact = facts(await explain(database, settings, url))["cadence"][1]
    assert exact == "crawled every 12 h (set for this page), exactly"


async def test_what_people_hold_back_is_told(database: Database, tmp_path: Path) -> None:
    settings = await crawled(database, tmp_path)
    await database.fetch(
        """UPDATE messor.crawl_tasks SET status = 'paused', held_due_at = due_at, due_at = NULL
            WHERE kind = 'page'"""
    )
    paused = await explain(database, settings, "http://one.test/")
    assert paused.verdict == "deferred"
    assert "paused by a person, due " in facts(paused)["schedule"][1]
    await database.fetch("UPDATE messor.crawl_tasks SET status = 'cancelled' WHERE kind = 'page'")
    assert (await explain(database, settings, "http://one.test/")).verdict == "denied"
