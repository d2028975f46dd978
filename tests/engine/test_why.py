"""Why: the chain of facts for what was allowed, denied, put off, or never heard of."""

from __future__ import annotations

from pathlib import Path

import pytest

from messor.engine.why import Explanation, explain
from messor.errors import UsageError
from messor.settings import Settings
from messor.store.database import Database
from messor.world.answers import plain
from tests.crawling import admit, crawl, submit
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


@pytest.mark.parametrize("text", ["", "file:///etc/passwd", "http://127.0.0.1/", "x" * 10_000])
async def test_what_is_no_web_address_is_said_in_a_sentence(database: Database, text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        await explain(database, Settings(), text)
    assert len(str(refusal.value)) < 300
