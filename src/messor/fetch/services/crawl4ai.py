"""Crawl4AI, self-hosted: a browser behind an HTTP API, used for one page at a time.

Two contracts: that of server 0.9, and the older one that takes `url` and returns `cleaned_html`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from messor.fetch.outcome import Fetched, failed
from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.breaker import Breaker
from messor.fetch.services.faults import ProviderFaultError, fault_of_status, one_line, said_by
from messor.fetch.services.options import ServiceSettings
from messor.fetch.services.outcome import Brought, ReportedPage, failure_at_site, judge
from messor.fetch.services.service import Contract, RemoteProvider, read_json
from messor.fetch.services.target import Check
from messor.store.database import Database
from messor.web.urls import canonical, parse

WORD_COUNT_THRESHOLD = 50
MAX_PAGE_MS = 60_000  # the server caps longer timeouts to this
SETTLING_SECONDS = 2.0  # for the scripts of a page that never becomes idle
MAX_NEVER_IDLE = 10_000
# Rejected, or no such route: nothing was fetched.
FOREIGN = frozenset({400, 404, 405, 422})
_BLOCKED = "Blocked by anti-bot protection"
_GUESSED = (
    "Structural:"  # the service's guess from the size of a page; the gates judge that themselves
)


class Result(msgspec.Struct):
    """One page of a response; `status_code` is that of the first hop."""

    url: str = ""
    success: bool = False
    status_code: int | None = None
    redirected_url: str | None = None
    html: str | None = None
    cleaned_html: str | None = None
    error_message: str | None = None
    response_headers: dict[str, Any] | None = None


class Results(msgspec.Struct):
    results: list[Result]


class PlainResult(msgspec.Struct):
    """The response of the older contract."""

    success: bool
    cleaned_html: str | None = None
    error_message: str | None = None
    error: str | None = None


class Crawl4AI(RemoteProvider):
    """Fetches through a Crawl4AI server."""

    name = "crawl4ai"
    title = "Crawl4AI"
    paid = False  # self-hosted, so free unless the operator sets a price

    def __init__(
        self,
        settings: ServiceSettings,
        database: Database,
        check: Check,
        *,
        breaker: Breaker | None = None,
    ) -> None:
        super().__init__(settings, database, check, breaker=breaker)
        self._never_idle: dict[str, None] = {}  # hosts whose pages never become idle, oldest first

    def contracts(self) -> Sequence[Contract]:
        return (
            Contract("current", "crawl", self._ask_current, self._read_current, FOREIGN),
            Contract("spec", "crawl", self._ask_plain, self._read_plain, FOREIGN),
        )

    def _ask_current(self, href: str) -> dict[str, Any]:
        # Its browser accepts any certificate by default.
        browser: dict[str, Any] = {"ignore_https_errors": False}
        if self._settings.user_agent:
            browser["user_agent"] = self._settings.user_agent
        page_timeout = min(int(self._settings.timeout * 1000), MAX_PAGE_MS)
        return {
            "urls": [href],
            "browser_config": {"type": "BrowserConfig", "params": browser},
            "crawler_config": {
                "type": "CrawlerRunConfig",
                "params": {"page_timeout": page_timeout, **self._wait_options(href)},
            },
        }

    def _wait_options(self, href: str) -> dict[str, Any]:
        """When a page counts as rendered: by default the server does not wait for its scripts.

        A page that polls its server is never idle, and fails after the whole timeout; pages of its
        host are then given a fixed time instead.
        """
        if _host_of(href) in self._never_idle:
            return {"wait_until": "load", "delay_before_return_html": SETTLING_SECONDS}
        return {"wait_until": "networkidle"}

    def _note_never_idle(self, href: str) -> None:
        """Use the other way of waiting for this host next time."""
        host = _host_of(href)
        if self._never_idle.pop(host, None) is None:
            self._never_idle[host] = None
        if len(self._never_idle) > MAX_NEVER_IDLE:
            del self._never_idle[next(iter(self._never_idle))]

    def _ask_plain(self, href: str) -> dict[str, Any]:
        return {"url": href, "word_count_threshold": WORD_COUNT_THRESHOLD}

    def _read_current(self, answer: ServiceResponse, href: str) -> Brought:
        if answer.status == 500:
            self._note_never_idle(href)
        if answer.status != 200:
            return self._from_error(answer)
        found: Results = read_json(self.title, answer, Results)
        requested = canonical(href)
        result = next((r for r in found.results if canonical(r.url) == requested), None)
        if result is None:
            raise ProviderFaultError(f"{self.title} returned another page.", charged=True)
        if not result.success:
            self._note_never_idle(href)
        return self._judge(result, href)

    def _judge(self, result: Result, href: str) -> Brought:
        has_page = bool(result.html) and result.status_code is not None
        if not result.success and not has_page:
            return self._from_message(result.error_message or "", result.status_code)
        given = result.response_headers or {}
        headers = {name.lower(): text for name, text in given.items() if isinstance(text, str)}
        seen = ReportedPage(
            status=result.status_code,
            final_url=result.redirected_url,
            html=result.html if result.html is not None else result.cleaned_html,
            content_type=headers.get("content-type"),
            headers=headers,
        )
        return Brought(judge(self.title, href, seen, self._settings.max_page_bytes))

    def _read_plain(self, answer: ServiceResponse, href: str) -> Brought:
        if answer.status != 200:
            return self._from_error(answer)
        result: PlainResult = read_json(self.title, answer, PlainResult)
        if not result.success:
            return self._from_message(result.error_message or result.error or "", None)
        seen = ReportedPage(html=result.cleaned_html)
        return Brought(judge(self.title, href, seen, self._settings.max_page_bytes))

    def _from_error(self, answer: ServiceResponse) -> Brought:
        """The server fails as a whole when its only page failed; its message may say why."""
        if answer.status == 500 and (message := said_by(answer.value)):
            site = failure_at_site(message)
            if site is not None:
                return Brought(Fetched(site))
            if _BLOCKED in message:
                return self._from_message(message, None)
        raise fault_of_status(self.title, answer)

    def _from_message(self, message: str, status: int | None) -> Brought:
        """A failed page: because of the site, or of the service."""
        site = failure_at_site(message)
        if site is not None:
            return Brought(Fetched(site))
        if status is not None and status >= 400:
            seen = ReportedPage(status=status, html="")
            return Brought(judge(self.title, "", seen, self._settings.max_page_bytes))
        if _BLOCKED in message and _GUESSED not in message:
            return Brought(Fetched(failed("blocked", f"the site blocked {self.title}")))
        raise ProviderFaultError(
            f"{self.title} could not fetch the page: {one_line(message) or 'no reason given'}",
            of_the_page=_BLOCKED in message,
            doubtful=True,
        )


def _host_of(href: str) -> str:
    url = parse(href)
    return url.host if url is not None else href
