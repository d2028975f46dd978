"""Firecrawl, hosted or self-hosted: a paid scraping API, asked for one page at a time.

Two contracts: v2, and v1 as the AMI specification writes it down. Pages are always asked for
fresh, whole and with certificates verified; nothing is asked for that costs extra credits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from messor.fetch.outcome import Fetched, Outcome
from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import ProviderFaultError, fault_of_status, one_line, said_by
from messor.fetch.services.outcome import Brought, ReportedPage, failed, failure_at_site, judge
from messor.fetch.services.service import Contract, RemoteProvider, credits_for, read_json

# An endpoint without that version; every other answer comes from one that has it.
FOREIGN = frozenset({404, 405})
# It refuses this page, not us.
_PAGE_REFUSED = frozenset({"unsafe_domain_blocked", "URL_BLOCKED", "SCRAPE_MEDIA_ACCESS_DENIED"})
_NOT_HTML = ("SCRAPE_UNSUPPORTED_FILE", "SCRAPE_PDF_", "SCRAPE_DOCUMENT_")


class ScrapedPage(msgspec.Struct, rename="camel"):
    """The page in an answer. Metadata mixes in the page's own tags: any value may come."""

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
            raise ProviderFaultError(f"{self.title} brought no page.", charged=True)
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
        said = said_by(value)
        site = _site_failure(code, said)
        if site is not None:
            # Of all failures, only a name without address is charged for.
            return Brought(site, credits=1 if site.error_type == "dns" else 0)
        if code in _PAGE_REFUSED:
            raise ProviderFaultError(
                f"{self.title} does not fetch this page: {said}", of_the_page=True
            )
        if answer.status == 200:
            raise ProviderFaultError(
                f"{self.title} failed: {said or one_line(code)}", doubtful=True
            )
        raise fault_of_status(self.title, answer)


def _site_failure(code: str, said: str) -> Fetched | None:
    match code:
        case "SCRAPE_DNS_RESOLUTION_ERROR":
            return failed(Outcome.ERROR, "the host's name has no address", "dns")
        case "SCRAPE_SSL_ERROR":
            return failed(Outcome.ERROR, "the site's certificate does not hold", "tls")
        case "SCRAPE_TIMEOUT":
            return failed(Outcome.TIMEOUT, "the site gave no complete answer in time", "timeout")
        case "SCRAPE_SITE_ERROR":
            site = failure_at_site(f"net::{said}" if said.startswith("ERR_") else said)
            return site or failed(Outcome.ERROR, "the site could not be read", "connect")
    if code.startswith(_NOT_HTML):
        return failed(Outcome.NOT_HTML, "the page is a file that is no HTML", "not_html")
    return None


def _status(value: Any) -> int | None:
    is_status = isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
    return value if is_status else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
