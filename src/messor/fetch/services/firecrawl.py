"""Firecrawl, hosted or self-hosted: a paid scraping API, used for one page at a time.

Two contracts: v2, and v1 as the AMI specification defines it. Pages are always requested fresh,
whole and with certificates verified; no option that costs extra credits is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from messor.fetch.outcome import Fetched, FetchResult, failed
from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import ProviderFaultError, fault_of_status, one_line, said_by
from messor.fetch.services.outcome import Brought, ReportedPage, failure_at_site, judge
from messor.fetch.services.service import Contract, RemoteProvider, credits_for, read_json

# An endpoint without that version; every other response comes from one that has it.
FOREIGN = frozenset({404, 405})
# It rejects this page, not us.
_PAGE_REFUSED = frozenset({"unsafe_domain_blocked", "URL_BLOCKED", "SCRAPE_MEDIA_ACCESS_DENIED"})
_NOT_HTML = ("SCRAPE_UNSUPPORTED_FILE", "SCRAPE_PDF_", "SCRAPE_DOCUMENT_")


class ScrapedPage(msgspec.Struct, rename="camel"):
    """The page in a response. Metadata includes the page's own tags: any value may occur."""

    raw_html: str | None = None
    html: str | None = None
    metadata: dict[str, Any] = msgspec.field(default_factory=dict)


class Scraped(msgspec.Struct):
    success: bool
    data: ScrapedPage | None = None


class Firecrawl(RemoteProvider):
    """Fetches through Firecrawl."""

    name = "firecrawl"
    title = "Firecrawl"
    paid = True

    def contracts(self) -> Sequence[Contract]:
        return (
            Contract("current", "v2/scrape", self._ask_v2, self._read, FOREIGN),
            Contract("spec", "v1/scrape", self._ask_v1, self._read, FOREIGN),
        )

    def _ask_v2(self, href: str) -> dict[str, Any]:
        return {
            **self._ask_v1(href),
            "formats": ["rawHtml", "html", "markdown"],
            "maxAge": 0,
            "storeInCache": False,
            "proxy": "basic",  # no stealth: it fakes a fingerprint, and costs five credits
            "parsers": [],  # a PDF would cost a credit per page
        }

    def _ask_v1(self, href: str) -> dict[str, Any]:
        body: dict[str, Any] = {
            "url": href,
            "formats": ["markdown", "html"],
            "timeout": int(self._settings.timeout * 1000),
            "onlyMainContent": False,
            "skipTlsVerification": False,
        }
        if self._settings.user_agent:
            body["headers"] = {"User-Agent": self._settings.user_agent}
        return body

    def _read(self, answer: ServiceResponse, href: str) -> Brought:
        if answer.status != 200:
            return self._from_error(answer)
        scraped: Scraped = read_json(self.title, answer, Scraped)
        if not scraped.success:
            return self._from_error(answer)
        if scraped.data is None:
            raise ProviderFaultError(f"{self.title} returned no page.", charged=True)
        page = scraped.data
        metadata = page.metadata
        seen = ReportedPage(
            status=_status(metadata.get("statusCode")),
            final_url=_text(metadata.get("url")),
            html=page.raw_html if page.raw_html is not None else page.html,
            content_type=_text(metadata.get("contentType")),
        )
        fetched = judge(self.title, href, seen, self._settings.max_page_bytes)
        return Brought(fetched, credits_for(metadata.get("creditsUsed")))

    def _from_error(self, answer: ServiceResponse) -> Brought:
        """An error names its kind in `code`; some are the site's."""
        value = answer.value if isinstance(answer.value, dict) else {}
        code = _text(value.get("code")) or ""
        message = said_by(value)
        site = _site_failure(code, message)
        if site is not None:
            # Of all failures, only an unresolvable name is charged.
            return Brought(Fetched(site), credits=1 if site.error_type == "dns" else 0)
        if code in _PAGE_REFUSED:
            raise ProviderFaultError(f"{self.title} rejects this page: {message}", of_the_page=True)
        if answer.status == 200:
            raise ProviderFaultError(
                f"{self.title} failed: {message or one_line(code)}", doubtful=True
            )
        raise fault_of_status(self.title, answer)


def _site_failure(code: str, message: str) -> FetchResult | None:
    match code:
        case "SCRAPE_DNS_RESOLUTION_ERROR":
            return failed("dns", "the host's name does not resolve")
        case "SCRAPE_SSL_ERROR":
            return failed("tls", "the site's certificate is not valid")
        case "SCRAPE_TIMEOUT":
            return failed("timeout", "the site gave no complete response in time")
        case "SCRAPE_SITE_ERROR":
            site = failure_at_site(f"net::{message}" if message.startswith("ERR_") else message)
            return site or failed("connect", "the site could not be read")
    if code.startswith(_NOT_HTML):
        return failed("not_html", "the page is a file that is not HTML")
    return None


def _status(value: Any) -> int | None:
    is_status = isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
    return value if is_status else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
