"""Single pages through Firecrawl's API: from the archive, by a worker, and every refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from messor.governance import erasure
from messor.registry import domains
from messor.store.database import Database
from tests.api.firecrawl.conftest import TEXT, Door, article, opened, rooms
from tests.little_web import robots


async def test_a_page_is_fetched_then_answered_from_the_archive(door: Door) -> None:
    first = await door.post("/v2/scrape", url="http://one.test/a")
    assert first.status_code == 200, first.text
    data = first.json()["data"]
    assert data["markdown"].startswith("# Page A")
    assert "navigation" not in data["markdown"]
    assert data["metadata"]["cacheState"] == "miss"
    assert data["metadata"]["statusCode"] == 200
    asked = door.web.paths("one.test")

    again = (await door.post("/v2/scrape", url="http://one.test/a")).json()["data"]
    assert again["metadata"]["cacheState"] == "hit"
    assert again["markdown"] == data["markdown"]
    assert door.web.paths("one.test") == asked, "the archive answers without a request"


async def test_what_metadata_tell(door: Door) -> None:
    body = (await door.post("/v2/scrape", url="http://one.test/a")).json()
    metadata = body["data"]["metadata"]
    assert metadata["title"] == "Page A"
    assert metadata["description"] == "About Page A"
    assert metadata["language"] == "en"
    assert metadata["sourceURL"] == metadata["url"] == "http://one.test/a"
    assert metadata["proxyUsed"] == "basic"
    messor = metadata["messor"]
    assert messor["decision"] == f"{door.url}/pages/{messor['page']}/why"
    assert messor["evidence"].endswith(f"/snapshots/{messor['snapshot']}")
    assert messor["domain"] == "one.test"


async def test_every_format_of_a_page(door: Door) -> None:
    formats = [
        "markdown", "html", "rawHtml", "links", "images", "changeTracking",
        {"type": "attributes", "selectors": [{"selector": "img", "attribute": "alt"}]},
    ]  # fmt: skip
    body = (await door.post("/v2/scrape", url="http://one.test/a", formats=formats)).json()
    data = body["data"]
    assert "navigation" in data["rawHtml"]
    assert "navigation" not in data["html"]
    assert "<h1>Page A</h1>" in data["html"]
    assert data["links"] == ["http://one.test/", "http://one.test/b", "http://one.test/c?x=1"]
    assert data["images"] == ["http://one.test/picture.png"]
    assert data["attributes"] == [{"selector": "img", "attribute": "alt", "values": ["A picture"]}]
    assert data["changeTracking"]["changeStatus"] == "new"


async def test_a_summary_consists_of_sentences_of_the_page(door: Door) -> None:
    body = await door.post("/v2/scrape", url="http://one.test/a", formats=["summary"])
    data = body.json()["data"]
    assert data["summary"] == TEXT.split(". ")[0] + "."
    assert "no model wrote it" in data["warning"]
    assert "markdown" not in data


async def test_a_product_and_a_menu_as_clients_read_them(door: Door) -> None:
    stated = {
        "@context": "https://schema.org", "@type": "Product", "name": "Kettle", "sku": "K1",
        "brand": {"@type": "Brand", "name": "Hob"},
        "offers": {"@type": "Offer", "price": "24.50", "priceCurrency": "EUR",
                   "availability": "https://schema.org/InStock"},
    }  # fmt: skip
    dishes = [
        {"@type": "MenuItem", "name": name, "offers": {"@type": "Offer", "price": price,
                                                      "priceCurrency": "EUR"}}
        for name, price in (("Soup", "4.90"), ("Stew", "9.80"), ("Tea", "2.50"))
    ]  # fmt: skip
    menu = {"@context": "https://schema.org", "@type": "Menu", "hasMenuItem": dishes}
    for path, value in (("/kettle", stated), ("/menu", menu)):
        script = f'<script type="application/ld+json">{json.dumps(value)}</script>'
        door.web.houses["one.test"].rooms[path] = article("Kettle", script + TEXT)
    body = await door.post("/v2/scrape", url="http://one.test/kettle", formats=["product", "menu"])
    data = body.json()["data"]
    assert data["product"]["title"] == "Kettle"
    (variant,) = data["product"]["variants"]
    assert variant["price"] == {"amount": 24.5, "currency": "EUR"}
    assert variant["availability"]["inStock"] is True
    assert "menu" not in data
    assert "The page states no menu." in data["warning"]
    body = await door.post("/v2/scrape", url="http://one.test/menu", formats=["menu"])
    found = body.json()["data"]["menu"]
    assert [item["name"] for item in found["sections"][0]["items"]] == ["Soup", "Stew", "Tea"]
    assert found["sections"][0]["items"][0]["price"]["amount"] == 4.9
    assert (found["isMenu"], found["merchant"]["name"]) == (True, "Kettle")


async def test_whole_page_and_chosen_parts(door: Door) -> None:
    whole = await door.post("/v2/scrape", url="http://one.test/a", onlyMainContent=False)
    assert "navigation" in whole.json()["data"]["markdown"]
    chosen = await door.post("/v2/scrape", url="http://one.test/a", includeTags=["h1"])
    assert chosen.json()["data"]["markdown"].strip() == "# Page A"
    less = await door.post(
        "/v2/scrape", url="http://one.test/a", excludeTags=["h1", "nav"], onlyMainContent=False
    )
    assert "# Page A" not in less.json()["data"]["markdown"]
    wrong = await door.post("/v2/scrape", url="http://one.test/a", includeTags=["h1["])
    assert wrong.status_code == 400
    assert "not a CSS selector" in wrong.json()["error"]


async def test_a_change_is_told_with_its_difference(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/b")
    door.web.houses["one.test"].rooms["/b"] = article("Page B", "Another text. " + TEXT)
    tracking = {"type": "changeTracking", "modes": ["git-diff"]}
    body = await door.post(
        "/v2/scrape", url="http://one.test/b", maxAge=0, formats=["markdown", tracking]
    )
    told = body.json()["data"]["changeTracking"]
    assert told["changeStatus"] == "changed"
    assert told["previousScrapeAt"]
    assert "Another text." in told["diff"]["text"]
    same = await door.post(
        "/v2/scrape", url="http://one.test/b", maxAge=0, formats=["markdown", tracking]
    )
    assert same.json()["data"]["changeTracking"]["changeStatus"] == "same"


async def test_a_redirect_leads_to_its_page(door: Door) -> None:
    body = (await door.post("/v2/scrape", url="http://one.test/old")).json()
    assert body["data"]["metadata"]["url"] == "http://one.test/a"
    assert body["data"]["metadata"]["sourceURL"] == "http://one.test/old"


async def test_lockdown_asks_the_archive_alone(door: Door) -> None:
    missed = await door.post("/v2/scrape", url="http://one.test/a", lockdown=True)
    assert missed.status_code == 404
    assert missed.json()["code"] == "SCRAPE_LOCKDOWN_CACHE_MISS"
    assert door.web.paths("one.test") == []
    await door.post("/v2/scrape", url="http://one.test/a")
    held = await door.post("/v2/scrape", url="http://one.test/a", lockdown=True)
    assert held.json()["data"]["metadata"]["cacheState"] == "hit"


async def test_a_minimum_age_asks_the_archive_alone(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/a")
    young = await door.post("/v2/scrape", url="http://one.test/a", minAge=3_600_000)
    assert young.status_code == 404
    old = await door.post("/v2/scrape", url="http://one.test/a", minAge=0)
    assert old.status_code == 200


async def test_age_zero_fetches_again(door: Door) -> None:
    for _ in range(2):
        body = await door.post("/v2/scrape", url="http://one.test/a", maxAge=0)
        assert body.json()["data"]["metadata"]["cacheState"] == "miss"
    assert door.web.paths("one.test").count("/a") == 2


@pytest.mark.parametrize(
    "path, status, code",
    [
        ("/private/x", 403, "PAGE_REFUSED"),
        ("/wall", 403, "PAGE_BLOCKED"),
        ("/missing", 404, "PAGE_MISSING"),
    ],
)
async def test_what_is_not_given_says_why(door: Door, path: str, status: int, code: str) -> None:
    refused = await door.post("/v2/scrape", url=f"http://one.test{path}")
    body = refused.json()
    assert (refused.status_code, body["code"]) == (status, code), body
    assert body["success"] is False
    assert f"http://one.test{path}" in body["error"]


async def test_a_page_that_robots_deny_is_never_requested(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/private/x")
    assert "/private/x" not in door.web.paths("one.test")


async def test_without_a_policy_a_domain_waits_for_approval(door: Door) -> None:
    refused = await door.post("/v2/scrape", door.plain_key, url="http://one.test/a")
    body = refused.json()
    assert (refused.status_code, body["code"]) == (403, "APPROVAL_NEEDED")
    assert body["details"]["link"] == f"{door.url}/review/one.test"
    assert door.web.paths("one.test") == []
    waiting = await door.database.fetchval("SELECT url FROM messor.submitted_urls")
    assert waiting == "http://one.test/a"


async def test_a_policy_opens_only_its_domains(door: Door) -> None:
    refused = await door.post("/v2/scrape", url="http://other.test/")
    assert refused.json()["code"] == "APPROVAL_NEEDED"
    await door.post("/v2/scrape", url="http://one.test/a")
    row = await door.database.fetchrow(
        "SELECT status, reviewed_by, harvest, max_crawl_depth FROM messor.domains WHERE domain = 'one.test'"
    )
    assert row is not None
    assert row["status"] == "approved"
    assert row["reviewed_by"].startswith("key:")
    assert row["harvest"] == "asked"
    assert row["max_crawl_depth"] == 2


async def test_a_closed_domain_says_so(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/a")
    await door.database.fetch(
        "UPDATE messor.domains SET status = 'blacklisted', rejection_reason = 'spam'"
    )
    for path in ("/a", "/b"):
        refused = (await door.post("/v2/scrape", url=f"http://one.test{path}")).json()
        assert refused["code"] == "DOMAIN_CLOSED"


async def test_an_erased_page_stays_erased(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/a")
    async with door.database.transaction() as connection:
        await erasure.erase_url(connection, "http://one.test/a", reason="asked", actor="tester")
    refused = await door.post("/v2/scrape", url="http://one.test/a")
    assert (refused.status_code, refused.json()["code"]) == (403, "PAGE_ERASED")
    assert door.web.paths("one.test").count("/a") == 1


async def test_options_against_the_rules_are_refused(door: Door) -> None:
    options: list[dict[str, Any]] = [
        {"proxy": "stealth"}, {"proxy": "enhanced"},
        {"headers": {"Cookie": "x"}}, {"actions": [{"type": "click", "selector": "a"}]},
        {"ignoreRobotsTxt": True}, {"zeroDataRetention": True}, {"storeInCache": False},
        {"redactPII": True}, {"profile": {"name": "ours"}},
    ]  # fmt: skip
    for option in options:
        refused = await door.post("/v2/scrape", url="http://one.test/a", **option)
        assert (refused.status_code, refused.json()["code"]) == (403, "OPTION_REFUSED"), option
        assert next(iter(option)) in refused.json()["error"]
    assert door.web.paths("one.test") == []


async def test_what_clients_send_by_default_is_taken(door: Door) -> None:
    harmless: dict[str, Any] = {
        "proxy": "auto", "skipTlsVerification": True, "headers": {}, "actions": [],
        "storeInCache": True, "blockAds": True, "removeBase64Images": True, "origin": "sdk",
        "integration": None, "parsePDF": True, "waitFor": 0, "mobile": False, "fastMode": True,
    }  # fmt: skip
    answer = await door.post("/v2/scrape", url="http://one.test/a", **harmless)
    assert answer.status_code == 200, answer.text
    assert "warning" not in answer.json()["data"]
    ignored = await door.post("/v2/scrape", url="http://one.test/a", waitFor=100, mobile=True)
    assert "waitFor is ignored" in ignored.json()["data"]["warning"]
    unchecked = await door.post("/v2/scrape", url="http://one.test/a", checkPromptInjection=True)
    assert "was not checked" in unchecked.json()["data"]["warning"]
    found = await door.post("/v2/search", query="page", includeDomains=["one.test"])
    assert "includeDomains" in found.json()["warning"]


async def test_formats_that_cannot_be_given_are_refused(door: Door) -> None:
    for name in ("question", "screenshot", "branding", "screenshot@fullPage"):
        refused = await door.post("/v2/scrape", url="http://one.test/a", formats=["markdown", name])
        assert (refused.status_code, refused.json()["code"]) == (403, "FORMAT_UNAVAILABLE")


async def test_bad_input_is_told(door: Door) -> None:
    bodies: list[dict[str, Any]] = [
        {}, {"url": ""}, {"url": "::"}, {"url": "http://one.test/a", "formats": ["poem"]},
        {"url": "http://one.test/a", "maxAge": -1}, {"url": "http://one.test/a", "timeout": "soon"},
        {"url": "http://one.test/a", "formats": ["changeTracking"]},
    ]  # fmt: skip
    for body in bodies:
        refused = await door.post("/v2/scrape", **body)
        assert refused.status_code == 400, refused.text
        assert refused.json()["success"] is False
        assert refused.json()["error"]


async def test_keys_are_required(door: Door) -> None:
    for headers in ({}, {"Authorization": "Bearer fc-nonsense"}):
        answer = await door.client.post("/v2/scrape", json={"url": "x.test"}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHORIZED")


async def test_an_unknown_path_is_told(door: Door) -> None:
    answer = await door.get("/v2/nothing")
    assert answer.status_code == 404
    assert answer.json()["success"] is False


async def test_the_day_of_a_key_ends(door: Door) -> None:
    await door.database.fetch("UPDATE messor.key_policies SET pages_a_day = 1")
    assert (await door.post("/v2/scrape", url="http://one.test/a")).status_code == 200
    over = await door.post("/v2/scrape", url="http://one.test/b")
    assert (over.status_code, over.json()["code"]) == (429, "RATE_LIMITED")
    assert over.headers["retry-after"]
    held = await door.post("/v2/scrape", url="http://one.test/a")
    assert held.status_code == 200, "the archive costs nothing"


async def test_a_request_that_is_put_off_continues(database: Database, tmp_path: Path) -> None:
    """The second request waits for the first one's task; the site is asked once."""
    async with opened(database, tmp_path, {"one.test": rooms()}) as door:
        await door.post("/v2/scrape", url="http://one.test/b")
        async with database.transaction() as connection:
            domain = await domains.get(connection, "one.test")
            await domains.configure(connection, domain, actor="tester", delay=2.0)
        await door.post("/v2/scrape", url="http://one.test/plain", maxAge=0, timeout=20_000)
        put_off = await door.post("/v2/scrape", url="http://one.test/a", maxAge=0, timeout=100)
        body = put_off.json()
        assert (put_off.status_code, body["code"]) == (408, "SCRAPE_TIMEOUT")
        assert body["details"]["state"] == "processing_continues"
        assert body["details"]["retryAfterSeconds"] >= 5
        done = await door.post("/v2/scrape", url="http://one.test/a", maxAge=0, timeout=20_000)
        assert done.json()["data"]["markdown"].startswith("# Page A")
        assert door.web.paths("one.test").count("/a") == 1
        assert await database.fetchval(
            "SELECT count(*) FROM messor.scrape_jobs WHERE url = 'http://one.test/a'"
        ) == 1  # fmt: skip


async def test_what_a_site_says_about_use_keeps_its_pages_inside(
    database: Database, tmp_path: Path
) -> None:
    """A program that reads for a model gets no page whose site refuses that, fetched or archived."""
    rules = "User-agent: *\nContent-Signal: ai-input=no\nAllow: /\n"
    closed = {**rooms(), "/robots.txt": robots(rules)}
    async with opened(database, tmp_path, {"one.test": closed}) as door:
        for _ in range(2):
            refused = await door.post("/v2/scrape", url="http://one.test/a")
            assert (refused.status_code, refused.json()["code"]) == (403, "RIGHTS_WITHHELD")
            assert "It tells at length" not in refused.text
        assert await database.fetchval("SELECT count(*) FROM messor.page_snapshots") == 1
        mapped = (await door.post("/v2/map", url="http://one.test", limit=1)).json()
        assert "http://one.test/a" not in [link["url"] for link in mapped.get("links", [])]


async def test_on_whose_behalf_goes_to_the_ledger(door: Door) -> None:
    await door.post("/v2/scrape", url="http://one.test/a", auditMetadata={"username": "ada"})
    said = await door.database.fetch(
        "SELECT data ->> 'on_behalf_of' AS who FROM messor.events WHERE type = 'scrape.requested'"
    )
    assert {row["who"] for row in said} == {"ada"}
