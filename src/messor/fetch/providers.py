"""The providers besides HTTP, built from the settings, in the order they are tried."""

from __future__ import annotations

from messor import __version__
from messor.fetch.browser import BrowserLimits, BrowserProvider
from messor.fetch.http import HttpFetcher, user_agent
from messor.fetch.provider import Provider
from messor.fetch.router import Router
from messor.fetch.services.crawl4ai import Crawl4AI
from messor.fetch.services.firecrawl import Firecrawl
from messor.fetch.services.options import ServiceSettings
from messor.fetch.services.target import TargetCheck
from messor.settings import Settings
from messor.store.database import Database

FIRECRAWL = "https://api.firecrawl.dev"


def make_router(settings: Settings, database: Database, fetcher: HttpFetcher) -> Router:
    """HTTP → browser → Crawl4AI → Firecrawl, as far as they are configured."""
    others: list[Provider] = []
    check = TargetCheck(fetcher.guard)
    agent = user_agent(settings, __version__)
    if settings.browser == "auto":
        others.append(
            BrowserProvider(settings, browser_limits(settings), __version__, fetcher.signer)
        )
    if settings.crawl4ai_url is not None:
        others.append(Crawl4AI(_crawl4ai(settings, settings.crawl4ai_url, agent), database, check))
    if settings.firecrawl_url is not None or settings.firecrawl_key is not None:
        others.append(Firecrawl(_firecrawl(settings, agent), database, check))
    return Router(others, on_close=check.close)


def browser_limits(settings: Settings) -> BrowserLimits:
    return BrowserLimits(
        path=settings.browser_path,
        contexts=settings.browser_contexts,
        renders=settings.browser_renders,
        memory_mb=settings.browser_memory_mb,
        render_seconds=settings.browser_seconds,
        requests_here=settings.browser_requests_here,
        requests_elsewhere=settings.browser_requests_elsewhere,
        traffic_bytes=settings.browser_bytes,
    )


def _crawl4ai(settings: Settings, url: str, agent: str) -> ServiceSettings:
    return ServiceSettings(
        base_url=url,
        api_key=settings.crawl4ai_key,
        contract=settings.crawl4ai_contract,
        cost=settings.crawl4ai_cost,
        monthly_budget=settings.crawl4ai_monthly_budget,
        timeout=settings.service_timeout,
        max_page_bytes=settings.max_decoded_bytes,
        user_agent=agent,
    )


def _firecrawl(settings: Settings, agent: str) -> ServiceSettings:
    return ServiceSettings(
        base_url=settings.firecrawl_url or FIRECRAWL,
        api_key=settings.firecrawl_key,
        contract=settings.firecrawl_contract,
        cost=settings.firecrawl_cost,
        monthly_budget=settings.firecrawl_monthly_budget,
        timeout=settings.service_timeout,
        max_page_bytes=settings.max_decoded_bytes,
        user_agent=agent,
    )
