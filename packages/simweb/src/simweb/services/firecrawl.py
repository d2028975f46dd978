"""A stand-in for Firecrawl's scrape call, v2 and v1, over the simulated web.

Like the service: unknown keys are refused, a page's status is in its metadata, an unresolvable name
is a 200 that failed and is charged, other failures of a site are a 500 or 408 with a code, and an
unsupported version is a 404 in HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web

from simweb.services.render import Render, Rendered, plain_text, without_scripts
from simweb.services.standin import Failure, Said, StandIn, say

_V1 = frozenset(
    [
        "url",
        "formats",
        "timeout",
        "onlyMainContent",
        "includeTags",
        "excludeTags",
        "headers",
        "waitFor",
        "mobile",
        "maxAge",
        "skipTlsVerification",
        "parsePDF",
        "jsonOptions",
        "actions",
        "location",
        "removeBase64Images",
        "blockAds",
        "proxy",
        "storeInCache",
    ]
)
_KEYS = {"v1": _V1, "v2": (_V1 - {"parsePDF", "jsonOptions"}) | {"parsers"}}


class FirecrawlStandIn(StandIn):
    name = "firecrawl"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(401, {"success": False, "error": "Unauthorized: Invalid token"}),
        Failure.NO_CREDITS: Said(
            402,
            {
                "success": False,
                "error": "Insufficient credits to perform this request.",
                "code": "INSUFFICIENT_CREDITS",
            },
        ),
        Failure.FORBIDDEN: Said(
            403,
            {
                "success": False,
                "error": "This website is not supported.",
                "code": "unsafe_domain_blocked",
            },
        ),
        Failure.CONFLICT: Said(409, {"success": False, "error": "Idempotency key already used"}),
        Failure.REQUEST_TOO_LARGE: Said(413, {"success": False, "error": "Payload too large"}),
        Failure.REJECTED: Said(
            400, {"success": False, "error": "Bad Request", "code": "BAD_REQUEST", "details": []}
        ),
        Failure.INVALID: Said(422, {"success": False, "error": "Unprocessable Entity"}),
        Failure.TOO_MANY: Said(429, {"success": False, "error": "Rate limit exceeded."}),
        Failure.TOO_MANY_UNTIL: Said(
            429, {"success": False, "error": "Rate limit exceeded."}, {"Retry-After": "90"}
        ),
        Failure.BUSY: Said(
            503, {"success": False, "error": "Service Unavailable"}, {"Retry-After": "5"}
        ),
        Failure.INTERNAL: Said(
            500,
            {"success": False, "error": "An unexpected error occurred.", "code": "UNKNOWN_ERROR"},
        ),
        Failure.BAD_GATEWAY: Said(502, {"success": False, "error": "Bad Gateway"}),
        Failure.GATEWAY_TIMEOUT: Said(504, {"success": False, "error": "Gateway Timeout"}),
        Failure.REQUEST_TIMEOUT: Said(
            408,
            {"success": False, "error": "The scrape operation timed out", "code": "SCRAPE_TIMEOUT"},
        ),
        Failure.NO_PAGE: Said(200, {"success": True}),
    }

    def __init__(
        self, render: Render, *, api_key: str | None = None, versions: Sequence[str] = ("v2", "v1")
    ) -> None:
        super().__init__(render, api_key=api_key)
        self.versions = tuple(versions)
        self.credits_per_page = 1
        self.credits_used = 0

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/{version:v[12]}/scrape", self._scrape)

    async def _scrape(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        version = request.match_info["version"]
        if version not in self.versions:
            text = f"<pre>Cannot POST /{version}/scrape</pre>"
            return web.Response(status=404, text=text, content_type="text/html")
        if not self.knows(request):
            return say(self.failures[Failure.UNAUTHORIZED])
        failing = await self.fail(request)
        if failing is not None:
            return failing
        given = body if isinstance(body, dict) else {}
        unknown = sorted(set(given) - _KEYS[version])
        if unknown or not str(given.get("url", "")).startswith(("http://", "https://")):
            return say(_bad_request(unknown))
        return say(self._page(version, given, await self._render(given["url"])))

    def _page(self, version: str, given: dict[str, Any], page: Rendered) -> Said:
        if page.error is not None:
            return self._failed(page.error)
        self.credits_used += self.credits_per_page
        formats = {f["type"] if isinstance(f, dict) else f for f in given.get("formats", [])}
        made = {
            "markdown": plain_text(page.html),
            "html": without_scripts(page.html),
            "rawHtml": page.html,
        }
        if self.failure is Failure.ONLY_MARKDOWN:
            del made["html"], made["rawHtml"]
        metadata: dict[str, Any] = {
            "title": ["One", "title, twice"],
            "sourceURL": given["url"],
            "url": page.url,
            "statusCode": page.status,
            "contentType": page.headers.get("content-type"),
            "proxyUsed": "basic",
        }
        if version == "v2":
            metadata["creditsUsed"] = self.credits_per_page
        kept = {name: text for name, text in made.items() if name in formats}
        return Said(200, {"success": True, "data": {**kept, "metadata": metadata}})

    def _failed(self, error: str) -> Said:
        if "NAME_NOT_RESOLVED" in error:
            self.credits_used += 1
            code, status = "SCRAPE_DNS_RESOLUTION_ERROR", 200
        elif "ERR_CERT" in error:
            code, status = "SCRAPE_SSL_ERROR", 500
        elif "TIMED_OUT" in error:
            code, status = "SCRAPE_TIMEOUT", 408
        else:
            code, status = "SCRAPE_SITE_ERROR", 500
        message = error.partition("net::")[2].partition(" ")[0]
        return Said(status, {"success": False, "code": code, "error": message})


def _bad_request(unknown: list[str]) -> Said:
    details = [{"code": "unrecognized_keys", "keys": unknown, "path": []}]
    error = {"success": False, "code": "BAD_REQUEST", "error": "Bad Request", "details": details}
    return Said(400, error)
