"""A stand-in for the Crawl4AI server: the wire of version 0.9, or the older form of the AMI
specification.

Its browser is the simulated web's. Like the server: a page that returns 404 is a success, results
come in another order than requested, a call whose pages all failed is a 500 without a reason (or,
with `tells_failures`, a 200 with the failed results, as in later servers), and dangerous settings
are rejected. It returns at DOMContentLoaded unless told to wait, and treats a page whose scripts
have not run yet as a block; told to wait until the network is idle, a page that never is fails.
"""

from __future__ import annotations

import uuid
from typing import Any, Literal
from urllib.parse import urlsplit

from aiohttp import web

from simweb.services.render import Render, Rendered, plain_text, without_scripts
from simweb.services.standin import Failure, Said, StandIn, say

REJECTED = frozenset(
    {"js_code", "proxy_config", "session_id", "magic", "headers", "cookies", "extra_args", "proxy"}
)


class Crawl4AIStandIn(StandIn):
    name = "crawl4ai"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(401, {"detail": "Invalid or missing token"}),
        Failure.NO_CREDITS: Said(402, {"detail": "Payment Required"}),
        Failure.FORBIDDEN: Said(403, {"detail": "Hooks are disabled"}),
        Failure.CONFLICT: Said(409, {"detail": "Conflict"}),
        Failure.REQUEST_TOO_LARGE: Said(413, {"detail": "Request body too large"}),
        Failure.REJECTED: Said(400, {"detail": "Rejected config: js_code is not allowed"}),
        Failure.INVALID: Said(
            422,
            {"detail": [{"type": "missing", "loc": ["body", "urls"], "msg": "Field required"}]},
        ),
        Failure.TOO_MANY: Said(429, {"error": "Rate limit exceeded: 1000 per 1 minute"}),
        Failure.TOO_MANY_UNTIL: Said(429, {"error": "Rate limit exceeded"}, {"Retry-After": "90"}),
        Failure.BUSY: Said(503, {"detail": "Server is busy"}, {"Retry-After": "5"}),
        Failure.INTERNAL: Said(500, {"error": "Internal server error", "correlation_id": "0a1b"}),
        Failure.BAD_GATEWAY: Said(502, {"detail": "Bad Gateway"}),
        Failure.GATEWAY_TIMEOUT: Said(504, {"detail": "Crawl exceeded the wall clock limit"}),
        Failure.REQUEST_TIMEOUT: Said(408, {"detail": "Request Timeout"}),
        Failure.NO_PAGE: Said(200, {"success": True, "results": []}),
    }

    def __init__(
        self,
        render: Render,
        *,
        api_key: str | None = None,
        contract: Literal["current", "spec"] = "current",
        tells_failures: bool = False,
    ) -> None:
        super().__init__(render, api_key=api_key)
        self.contract = contract
        self.is_well = True
        self.unrenderable: set[str] = set()  # hosts whose pages fail there
        self.tells_failures = tells_failures

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_get("/health", self._health)
        router.add_post("/crawl", self._crawl)

    async def _health(self, _: web.Request) -> web.StreamResponse:
        if not self.is_well:
            return say(Said(503, {"status": "unhealthy"}))
        return say(Said(200, {"status": "ok", "version": "stand-in"}))

    async def _crawl(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        if not self.knows(request):
            return say(self.failures[Failure.UNAUTHORIZED])
        failing = await self.fail(request)
        if failing is not None:
            return failing
        given = body if isinstance(body, dict) else {}
        if self.contract == "spec":
            return say(await self._crawl_one(given))
        return say(await self._crawl_many(given))

    async def _crawl_one(self, given: dict[str, Any]) -> Said:
        if not isinstance(given.get("url"), str):
            return _missing("url")
        page = await self._render(given["url"])
        if page.error is not None:
            return Said(200, {"success": False, "error_message": page.error})
        value = {
            "success": True,
            "markdown": plain_text(page.html),
            "cleaned_html": without_scripts(page.html),
        }
        if self.failure is Failure.ONLY_MARKDOWN:
            del value["cleaned_html"]
        return Said(200, value)

    async def _crawl_many(self, given: dict[str, Any]) -> Said:
        urls = given.get("urls")
        if not isinstance(urls, list) or not 1 <= len(urls) <= 100:
            return _missing("urls")
        rejected = sorted(REJECTED & _settings(given))
        if rejected:
            return Said(400, {"detail": f"Rejected config: {rejected[0]} is not allowed"})
        waits = _waits(given)
        results = [
            self._result(url, self._shown(url, await self._render(url), waits))
            for url in reversed(urls)
        ]
        if not any(result["success"] for result in results) and not self.tells_failures:
            error = {"error": "Internal server error", "correlation_id": uuid.uuid4().hex}
            return Said(500, error)
        return Said(200, {"success": True, "results": results, "server_processing_time_s": 0.1})

    def _shown(self, url: str, page: Rendered, waits: str) -> Rendered:
        """The page as its browser has it when it stops waiting."""
        if urlsplit(url).hostname in self.unrenderable or (waits == "not" and page.unscripted):
            return Rendered(url, error="Blocked by anti-bot protection: Structural: minimal text")
        if waits == "idle" and page.never_idle:
            return Rendered(url, error="Timeout 30000ms exceeded.")
        return page

    def _result(self, url: str, page: Rendered) -> dict[str, Any]:
        shared = {"url": "https://another.test/" if self.failure is Failure.OTHER_PAGE else url}
        if page.error is not None:
            message = f"Unexpected error in _crawl_web: Page.goto: {page.error}\nCall log: …"
            return {**shared, "success": False, "status_code": None, "error_message": message}
        content = {
            "html": page.html,
            "cleaned_html": without_scripts(page.html),
            "fit_html": "",
            "markdown": {"raw_markdown": plain_text(page.html), "fit_markdown": ""},
        }
        if self.failure is Failure.ONLY_MARKDOWN:
            del content["html"], content["cleaned_html"]
        return {
            **shared,
            **content,
            "success": True,
            "status_code": page.first_status,
            "redirected_url": page.url,
            "redirected_status_code": page.status,
            "response_headers": dict(page.headers),
            "error_message": "",
            "metadata": {"title": None},
            "links": {"internal": [], "external": []},
            "media": {},
            "tables": [],
        }


def _settings(given: dict[str, Any]) -> set[str]:
    """The names set in both configurations, wrapped in their type or not."""
    found: set[str] = set()
    for key in ("browser_config", "crawler_config"):
        config = given.get(key) or {}
        found |= set(config.get("params", config))
    return found


def _waits(given: dict[str, Any]) -> str:
    """What a call waits for besides the document: `not`, `idle` or a `time`."""
    config = given.get("crawler_config") or {}
    params = config.get("params", config)
    if params.get("wait_until") == "networkidle":
        return "idle"
    return "time" if params.get("delay_before_return_html") or params.get("wait_for") else "not"


def _missing(name: str) -> Said:
    where = {"type": "missing", "loc": ["body", name], "msg": "Field required", "input": {}}
    return Said(422, {"detail": [where]})
