"""Crawl4AI and Firecrawl over real sockets: both contracts, and what sites answer through them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from messor.fetch.outcome import Outcome
from messor.fetch.provider import PROVIDER_FAULT, Provider
from messor.fetch.services import breaker as breakers
from messor.fetch.services.answer import ServiceResponse as ServiceAnswer
from messor.fetch.services.crawl4ai import Crawl4AI
from messor.fetch.services.endpoint import ServiceEndpoint
from messor.fetch.services.firecrawl import Firecrawl, Scraped
from messor.fetch.services.outcome import ReportedPage, judge
from messor.fetch.services.service import RemoteProvider
from messor.store.database import Database
from simweb.services import Crawl4AIStandIn, FirecrawlStandIn, StandIn
from simweb.services.render import Rendered
from tests.fetch.service_bench import (
    BROWSER,
    FORMS,
    HOME,
    KEY,
    TELLING,
    bench,
    crawl4ai,
    firecrawl,
    saying,
    seeing,
)


@pytest.mark.parametrize("form", FORMS)
async def test_a_page_comes_back_as_html(form: str, database: Database) -> None:
    make, options, contract = FORMS[form]
    kind, standin = make(**options)
    async with bench(kind, standin, database, contract=contract) as it:
        provider: Provider = it.service
        fetched = await it.get()
        assert (fetched.outcome, fetched.status, fetched.error) == (Outcome.OK, 200, None)
        assert b"This is Good bread." in fetched.body
        assert b"href" in fetched.body  # it is HTML, not a service's markdown
        assert fetched.size == len(fetched.body)
        assert fetched.content_type == "text/html; charset=utf-8"
        assert (b"Content-Type", b"text/html; charset=utf-8") in fetched.raw_headers
        assert fetched.provider == provider.name
        assert fetched.cost == Decimal("0.001")
        assert await it.usage() == (1, Decimal("0.001"))


@pytest.mark.parametrize("form", [name for name in FORMS if "found" in name])
async def test_the_contract_is_found_out_once(form: str, database: Database) -> None:
    make, options, contract = FORMS[form]
    kind, standin = make(**options)
    async with bench(kind, standin, database, contract=contract) as it:
        await it.get()
        first = len(it.standin.asked)
        await it.get()
        await it.get()
        assert first == (2 if form.endswith("spec") else 1)
        assert len(it.standin.asked) == first + 2
        assert await it.usage() == (3, Decimal("0.003"))


async def test_a_server_that_was_replaced_is_found_out_again(database: Database) -> None:
    standin = Crawl4AIStandIn(BROWSER, contract="spec")
    async with bench(Crawl4AI, standin, database) as it:
        assert (await it.get()).outcome is Outcome.OK
        standin.contract = "current"
        assert (await it.get()).outcome is Outcome.OK
        assert "urls" in standin.asked[-1].body


async def test_crawl4ai_is_told_to_wait_for_the_scripts(database: Database) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database, contract="current") as it:
        fetched = await it.get("http://shop.test/shell")
        assert fetched.outcome is Outcome.OK
        assert b"Good bread from a script" in fetched.body


async def test_a_page_that_is_never_idle_is_given_a_fixed_time_the_next_time(
    database: Database,
) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database, contract="current") as it:
        first = await it.get("http://shop.test/ticking")
        second = await it.get("http://shop.test/ticking")
        assert (first.error_type, second.outcome) == (PROVIDER_FAULT, Outcome.OK)
        assert b"Good bread from a script" in second.body
        asked = [it.body["crawler_config"]["params"]["wait_until"] for it in standin.asked]
        assert asked == ["networkidle", "load"]
        assert (await it.get("http://other.test/")).outcome is Outcome.OK
        assert standin.asked[-1].body["crawler_config"]["params"]["wait_until"] == "networkidle"


async def test_what_crawl4ai_is_asked(database: Database) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database, contract="current", user_agent="MessorBot") as it:
        await it.get()
        (asked,) = it.standin.asked
    assert asked.path == "/crawl"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "urls": [HOME],
        "browser_config": {
            "type": "BrowserConfig",
            "params": {"ignore_https_errors": False, "user_agent": "MessorBot"},
        },
        "crawler_config": {
            "type": "CrawlerRunConfig",
            "params": {"page_timeout": 5000, "wait_until": "networkidle"},
        },
    }


async def test_what_crawl4ai_is_asked_by_the_specification(database: Database) -> None:
    kind, standin = crawl4ai(contract="spec")
    async with bench(kind, standin, database, contract="spec") as it:
        await it.get()
        (asked,) = it.standin.asked
    assert asked.path == "/crawl"
    assert asked.body == {"url": HOME, "word_count_threshold": 50}


async def test_what_firecrawl_is_asked(database: Database) -> None:
    kind, standin = firecrawl()
    async with bench(kind, standin, database, contract="current") as it:
        await it.get()
        (asked,) = it.standin.asked
    assert asked.path == "/v2/scrape"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.body["skipTlsVerification"] is False
    assert asked.body["onlyMainContent"] is False
    assert asked.body["maxAge"] == 0
    assert asked.body["timeout"] == 5000
    assert asked.body["formats"] == ["rawHtml", "html", "markdown"]


async def test_what_firecrawl_is_asked_by_the_specification(database: Database) -> None:
    kind, standin = firecrawl(versions=("v1",))
    async with bench(kind, standin, database, contract="spec", timeout=30.0) as it:
        await it.get()
        (asked,) = it.standin.asked
    assert asked.path == "/v1/scrape"
    agreed = {"url": HOME, "formats": ["markdown", "html"], "timeout": 30000}
    assert agreed.items() <= asked.body.items()
    assert asked.body["skipTlsVerification"] is False


async def test_an_endpoint_below_a_path_and_without_a_key(database: Database) -> None:
    standin = FirecrawlStandIn(BROWSER)
    async with bench(Firecrawl, standin, database, api_key=None) as it:
        settings = replace(it.service._settings, base_url=f"{standin.base_url}/gate/")
        endpoint = ServiceEndpoint("Firecrawl", settings)
        assert endpoint.url_of("v2/scrape").path == "/gate/v2/scrape"
        await endpoint.close()
        assert (await it.get()).outcome is Outcome.OK
        assert "Authorization" not in standin.asked[0].headers


@pytest.mark.parametrize("form", TELLING)
@pytest.mark.parametrize(
    "path, outcome, status",
    [
        ("/missing", Outcome.NOT_FOUND, 404),
        ("/forbidden", Outcome.BLOCKED, 403),
        ("/busy", Outcome.BLOCKED, 503),
        ("/broken", Outcome.ERROR, 500),
        ("/empty", Outcome.EMPTY, 200),
        ("/report.pdf", Outcome.NOT_HTML, 200),
    ],
)
async def test_the_sites_answer_decides_the_outcome(
    form: str, path: str, outcome: Outcome, status: int, database: Database
) -> None:
    make, options, contract = FORMS[form]
    kind, standin = make(**options)
    async with bench(kind, standin, database, contract=contract) as it:
        fetched = await it.get(f"http://shop.test{path}")
        assert (fetched.outcome, fetched.status) == (outcome, status)
        assert fetched.error_type != PROVIDER_FAULT
        assert it.service.breaker.available
        assert fetched.cost == Decimal("0.001")


@pytest.mark.parametrize("form", TELLING)
@pytest.mark.parametrize("path, location", [("/moved", HOME), ("/away", "http://other.test/")])
async def test_a_page_found_elsewhere_is_a_redirect(
    form: str, path: str, location: str, database: Database
) -> None:
    make, options, contract = FORMS[form]
    kind, standin = make(**options)
    async with bench(kind, standin, database, contract=contract) as it:
        fetched = await it.get(f"http://shop.test{path}")
        assert fetched.outcome is Outcome.REDIRECTED
        assert fetched.location == location
        assert fetched.status in (None, 302)
        assert fetched.body == b""


async def test_what_a_site_says_in_its_headers_is_kept(database: Database) -> None:
    kind, standin = crawl4ai()
    async with bench(kind, standin, database) as it:
        quiet = await it.get("http://shop.test/quiet")
        busy = await it.get("http://shop.test/busy")
    assert quiet.headers.get("x-robots-tag") == "noindex"
    assert (b"X-Robots-Tag", b"noindex") in quiet.raw_headers
    assert busy.retry_after == 120


FAILURES_AT_SITES = [
    ("net::ERR_NAME_NOT_RESOLVED", Outcome.ERROR, "dns"),
    ("net::ERR_CERT_DATE_INVALID", Outcome.ERROR, "tls"),
    ("net::ERR_CONNECTION_REFUSED", Outcome.ERROR, "connect"),
    ("net::ERR_TIMED_OUT", Outcome.TIMEOUT, "timeout"),
]


@pytest.mark.parametrize("error, outcome, error_type", FAILURES_AT_SITES)
async def test_a_failure_at_the_site_is_the_sites(
    error: str, outcome: Outcome, error_type: str, database: Database
) -> None:
    render = seeing(Rendered(HOME, error=f"{error} at {HOME}"))
    standins: list[tuple[type[RemoteProvider], StandIn]] = [
        (Crawl4AI, Crawl4AIStandIn(render, tells_failures=True)),
        (Crawl4AI, Crawl4AIStandIn(render, contract="spec")),
        (Firecrawl, FirecrawlStandIn(render)),
    ]
    for kind, standin in standins:
        async with bench(kind, standin, database) as it:
            for _ in range(breakers.FAULTS_IN_A_ROW):
                fetched = await it.get()
                assert (fetched.outcome, fetched.error_type) == (outcome, error_type)
            assert it.service.available


async def test_firecrawl_charges_for_a_name_without_address_only(database: Database) -> None:
    standin = FirecrawlStandIn(seeing(Rendered(HOME, error="net::ERR_NAME_NOT_RESOLVED")))
    async with bench(Firecrawl, standin, database) as it:
        assert (await it.get()).cost == Decimal("0.001")
        assert await it.usage() == (1, Decimal("0.001"))
    standin = FirecrawlStandIn(seeing(Rendered(HOME, error="net::ERR_CERT_DATE_INVALID")))
    async with bench(Firecrawl, standin, database) as it:
        assert (await it.get()).cost == 0
        assert await it.usage() == (1, Decimal("0.001"))


async def test_a_service_without_a_network_is_at_fault_itself(database: Database) -> None:
    render = seeing(Rendered(HOME, error="net::ERR_PROXY_CONNECTION_FAILED"))
    async with bench(Crawl4AI, Crawl4AIStandIn(render, tells_failures=True), database) as it:
        fetched = await it.get()
        assert (fetched.outcome, fetched.error_type) == (Outcome.ERROR, PROVIDER_FAULT)


async def test_a_browsers_own_error_page_is_no_content(database: Database) -> None:
    render = seeing(Rendered("chrome-error://chromewebdata/", html="<html>No internet</html>"))
    for kind, standin in (
        (Crawl4AI, Crawl4AIStandIn(render)),
        (Firecrawl, FirecrawlStandIn(render)),
    ):
        async with bench(kind, standin, database) as it:
            fetched = await it.get()
            assert (fetched.error_type, fetched.body) == (PROVIDER_FAULT, b"")


async def test_a_page_that_is_too_large(database: Database) -> None:
    kind, standin = firecrawl()
    async with bench(kind, standin, database, max_page_bytes=40_000) as it:
        fetched = await it.get("http://shop.test/big")
        assert fetched.outcome is Outcome.TOO_LARGE
        assert fetched.body == b""


async def test_odd_metadata_is_passed_over(database: Database) -> None:
    metadata = {"statusCode": "200", "url": ["a", "b"], "contentType": 5, "title": []}
    value = {"success": True, "data": {"rawHtml": "<p>Bread</p>", "metadata": metadata}}
    async with bench(Firecrawl, saying(FirecrawlStandIn(BROWSER), value), database) as it:
        fetched = await it.get()
        assert (fetched.outcome, fetched.status) == (Outcome.OK, 200)
        assert fetched.body == b"<p>Bread</p>"


async def test_the_page_is_found_among_others(database: Database) -> None:
    results = [
        {"url": "http://shop.test/other", "success": True, "status_code": 200, "html": "other"},
        {"url": "http://SHOP.test", "success": True, "status_code": 200, "html": "mine"},
    ]
    value = {"success": True, "results": results}
    async with bench(Crawl4AI, saying(Crawl4AIStandIn(BROWSER), value), database) as it:
        assert (await it.get()).body == b"mine"


@pytest.mark.parametrize(
    "said, outcome, error_type",
    [
        ("Page.goto: net::ERR_CERT_DATE_INVALID at http://shop.test/", Outcome.ERROR, "tls"),
        ("Page.goto: Timeout 60000ms exceeded.", Outcome.TIMEOUT, "timeout"),
        ("Blocked by anti-bot protection: HTTP 429", Outcome.BLOCKED, "blocked"),
        ("Blocked by anti-bot protection: Structural: no body", Outcome.ERROR, PROVIDER_FAULT),
        ("BrowserContext.new_page: Target closed", Outcome.ERROR, PROVIDER_FAULT),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
async def test_why_crawl4ai_failed(
    said: str, outcome: Outcome, error_type: str, whole: bool, database: Database
) -> None:
    """Whether the call fails as a whole, as older servers have it, or the one result does."""
    result = {"url": HOME, "success": False, "error_message": said}
    value = {"detail": f"Crawl request failed: {said}"} if whole else {"results": [result]}
    standin = saying(Crawl4AIStandIn(BROWSER), value, 500 if whole else 200)
    async with bench(Crawl4AI, standin, database) as it:
        fetched = await it.get()
        assert (fetched.outcome, fetched.error_type) == (outcome, error_type)


async def test_a_page_that_the_service_thinks_blocked_is_judged_by_us(database: Database) -> None:
    said = {"url": HOME, "success": False, "status_code": 200, "html": "<p>A small page</p>"}
    value = {"results": [{**said, "error_message": "Blocked by anti-bot protection: small"}]}
    async with bench(Crawl4AI, saying(Crawl4AIStandIn(BROWSER), value), database) as it:
        fetched = await it.get()
        assert (fetched.outcome, fetched.body) == (Outcome.OK, b"<p>A small page</p>")


def test_half_of_a_surrogate_pair_does_not_lose_the_page() -> None:
    body = b'{"success": true, "data": {"rawHtml": "<p>\\ud83d Bread</p>"}}'
    scraped: Scraped = ServiceAnswer(200, {"Content-Type": "application/json"}, body).read(Scraped)
    assert scraped.data is not None
    fetched = judge("Firecrawl", HOME, ReportedPage(html=scraped.data.raw_html), 1000)
    assert fetched.body == b"<p>? Bread</p>"
