"""Stand-ins for engines that return plain lists.

SearXNG, Tavily, Brave, Perplexity, Browserbase and Firecrawl; the pages are the simulated web's.
"""

from __future__ import annotations

from typing import Any

from aiohttp import web

from simweb.engines.index import Page
from simweb.engines.standin import EngineStandIn, number, text
from simweb.services.standin import Failure, Said, say

_RATE_LIMITED = {
    "id": "e",
    "status": 429,
    "code": "RATE_LIMITED",
    "detail": "Request rate limit exceeded for plan.",
}


class SearXNGStandIn(EngineStandIn):
    """Returns partial pages: one of its engines does not respond.

    Without JSON among its formats it returns 403.
    """

    name = "searxng"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(403, "Forbidden"),
        Failure.NO_CREDITS: Said(429, "Too Many Requests"),
        Failure.TOO_MANY: Said(429, "Too Many Requests"),
        Failure.FORBIDDEN: Said(403, "Forbidden"),
        Failure.INTERNAL: Said(500, "Internal Server Error"),
        Failure.NO_PAGE: Said(200, {"query": "x", "number_of_results": 0}),
        Failure.NOBODY_ANSWERS: Said(
            200,
            {
                "query": "x",
                "number_of_results": 0,
                "results": [],
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [
                    ["bing", "HTTP connection error"],
                    ["google", "Suspended: CAPTCHA"],
                ],
            },
        ),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_get("/search", self._search)

    def knows(self, request: web.Request) -> bool:  # noqa: ARG002 - it has no key
        return True

    async def _search(self, request: web.Request) -> web.StreamResponse:
        await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        if not request.query.get("q"):
            return web.Response(status=400, text="No query")
        if request.query.get("format") != "json":
            return web.Response(text="<html></html>", content_type="text/html")
        page = self.look(request.query["q"], number(request.query.get("pageno"), 1, 100, 1))
        return say(Said(200, self._page(request.query["q"], page)))

    def _page(self, query: str, page: Page) -> dict[str, Any]:
        shown = page.organic[::2] if self.partial else page.organic
        return {
            "query": query,
            "number_of_results": page.total,
            "results": [
                {
                    "url": entry.url,
                    "title": entry.title,
                    "content": entry.snippet(page.words),
                    "engine": "duckduckgo",
                    "engines": ["duckduckgo"],
                    "positions": [place],
                    "score": 1 / place,
                    "category": "general",
                    "template": "default.html",
                    "publishedDate": entry.published("T06:00:00"),
                    "img_src": "",
                    "thumbnail": "",
                    "priority": "",
                }
                for place, entry in enumerate(shown, 1)
            ],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": page.related,
            "unresponsive_engines": [["google", "timeout"]] if self.partial else [],
        }


class TavilyStandIn(EngineStandIn):
    name = "tavily"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(
            401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}
        ),
        Failure.NO_CREDITS: Said(
            432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}
        ),
        Failure.TOO_MANY: Said(
            429, {"detail": {"error": "Your request has been blocked due to excessive requests."}}
        ),
        Failure.INTERNAL: Said(500, {"detail": {"error": "Internal Server Error"}}),
        Failure.NO_PAGE: Said(200, {"query": "x", "response_time": 0.1}),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/search", self._search)

    async def _search(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        if not isinstance(body, dict) or not body.get("query"):
            return say(Said(400, {"detail": {"error": "Query is missing."}}))
        page = self.look(body["query"], size=number(body.get("max_results"), 0, 20, 5))
        results = [
            {
                "title": entry.title,
                "url": entry.url,
                "content": entry.snippet(page.words),
                "score": round(1 / place, 3),
                "raw_content": None,
            }
            for place, entry in enumerate(page.organic, 1)
        ]
        table = {"query": body["query"], "answer": None, "images": [], "follow_up_questions": None}
        return say(Said(200, {**table, "results": results, "response_time": 0.8}))


class BraveStandIn(EngineStandIn):
    name = "brave"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(
            422,
            {
                "type": "ErrorResponse",
                "error": {
                    "id": "e",
                    "status": 422,
                    "code": "SUBSCRIPTION_TOKEN_INVALID",
                    "detail": "The provided subscription token is invalid.",
                },
            },
        ),
        Failure.NO_CREDITS: Said(
            429,
            {"type": "ErrorResponse", "error": _RATE_LIMITED},
            {
                "X-RateLimit-Limit": "1, 2000",
                "X-RateLimit-Remaining": "1, 0",
                "X-RateLimit-Reset": "1, 1209600",
            },
        ),
        Failure.TOO_MANY: Said(
            429,
            {"type": "ErrorResponse", "error": _RATE_LIMITED},
            {
                "X-RateLimit-Limit": "1, 2000",
                "X-RateLimit-Remaining": "0, 1900",
                "X-RateLimit-Reset": "1, 1209600",
            },
        ),
        Failure.INTERNAL: Said(500, {"type": "ErrorResponse", "error": {"code": "INTERNAL"}}),
        Failure.NO_PAGE: Said(200, {"type": "search"}),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_get("/res/v1/web/search", self._search)

    def knows(self, request: web.Request) -> bool:
        return self.knows_header(request, "X-Subscription-Token")

    async def _search(self, request: web.Request) -> web.StreamResponse:
        await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        query = request.query
        if not query.get("q") or not 1 <= int(query.get("count", 20)) <= 20:
            return say(Said(422, {"type": "ErrorResponse", "error": {"code": "VALIDATION"}}))
        page = self.look(query["q"], 1 + number(query.get("offset"), 0, 9, 0), int(query["count"]))
        return say(Said(200, self._page(query["q"], page)))

    def _page(self, query: str, page: Page) -> dict[str, Any]:
        web_results = [
            {
                "type": "search_result",
                "title": entry.title,
                "url": entry.url,
                "description": f"<strong>{entry.title.split()[0]}</strong> {entry.snippet(page.words)}",
                "page_age": entry.published("T00:00:00"),
                "language": "en",
            }
            for entry in page.organic
        ]
        return {
            "type": "search",
            "query": {"original": query, "more_results_available": page.total > len(page.organic)},
            "web": {"type": "search", "results": web_results},
            "locations": {
                "type": "locations",
                "results": [
                    {"title": e.title, "url": e.url, "description": e.description}
                    for e in page.local
                ],
            },
            "faq": {
                "type": "faq",
                "results": [{"question": q, "answer": "It depends."} for q in page.questions],
            },
            "mixed": {"type": "mixed", "main": []},
        }


class PerplexityStandIn(EngineStandIn):
    name = "perplexity"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(
            401,
            {
                "error": {
                    "message": "Invalid API key provided.",
                    "type": "invalid_api_key",
                    "code": 401,
                }
            },
        ),
        Failure.NO_CREDITS: Said(
            402,
            {
                "error": {
                    "message": "Insufficient credits.",
                    "type": "insufficient_quota",
                    "code": 402,
                }
            },
        ),
        Failure.TOO_MANY: Said(
            429,
            {
                "error": {
                    "message": "Request rate limit exceeded.",
                    "type": "rate_limit",
                    "code": 429,
                }
            },
        ),
        Failure.INTERNAL: Said(
            500, {"error": {"message": "Internal error.", "type": "internal_error", "code": 500}}
        ),
        Failure.NO_PAGE: Said(200, {"id": "x"}),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/search", self._search)

    async def _search(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        if not isinstance(body, dict) or not body.get("query"):
            return say(Said(400, {"error": {"message": "query is required", "code": 400}}))
        page = self.look(body["query"], size=number(body.get("max_results"), 1, 20, 10))
        results = [
            {
                "title": e.title,
                "url": e.url,
                "snippet": e.snippet(page.words),
                "date": e.published(),
            }
            for e in page.organic
        ]
        return say(Said(200, {"id": "stand-in", "results": results}))


class BrowserbaseStandIn(EngineStandIn):
    name = "browserbase"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(
            401, {"statusCode": 401, "error": "Unauthorized", "message": "Unauthorized"}
        ),
        Failure.NO_CREDITS: Said(
            402,
            {"statusCode": 402, "error": "Payment Required", "message": "Search limit reached."},
        ),
        Failure.TOO_MANY: Said(
            429, {"statusCode": 429, "error": "Too Many Requests", "message": "Slow down."}
        ),
        Failure.INTERNAL: Said(
            500, {"statusCode": 500, "error": "Internal Server Error", "message": "Oops."}
        ),
        Failure.NO_PAGE: Said(200, {"requestId": "x", "query": "x"}),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/search", self._search)

    def knows(self, request: web.Request) -> bool:
        return self.knows_header(request, "X-BB-API-Key")

    async def _search(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        query = body.get("query") if isinstance(body, dict) else None
        if not isinstance(query, str) or not 1 <= len(query) <= 200:
            return say(Said(400, {"statusCode": 400, "error": "Bad Request", "message": "query"}))
        page = self.look(query, size=number(body.get("numResults"), 1, 25, 10))
        results = [
            {
                "id": e.url,
                "url": e.url,
                "title": e.title,
                "publishedDate": e.published("T06:00:00Z"),
            }
            for e in page.organic
        ]
        return say(Said(200, {"requestId": "stand-in", "query": query, "results": results}))


class FirecrawlSearchStandIn(EngineStandIn):
    name = "firecrawl"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(401, {"success": False, "error": "Unauthorized: Invalid token"}),
        Failure.NO_CREDITS: Said(
            402, {"success": False, "error": "Insufficient credits to perform this request."}
        ),
        Failure.TOO_MANY: Said(
            429, {"success": False, "error": "Rate limit exceeded."}, {"Retry-After": "90"}
        ),
        Failure.INTERNAL: Said(500, {"success": False, "error": "An unexpected error occurred."}),
        Failure.NO_PAGE: Said(200, {"success": True}),
        Failure.NOBODY_ANSWERS: Said(
            200,
            {
                "success": True,
                "data": {"web": []},
                "warning": "No source answered.",
                "creditsUsed": 0,
            },
        ),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v2/search", self._search)

    async def _search(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        if not isinstance(body, dict) or not body.get("query"):
            return say(Said(400, {"success": False, "error": "Bad Request", "details": []}))
        size, place = number(body.get("limit"), 1, 100, 5), text(body.get("location"))
        page = self.look(body["query"], size=size, place=place)
        found = [
            {"url": e.url, "title": e.title, "description": e.snippet(page.words), "position": n}
            for n, e in enumerate(page.organic, 1)
        ]
        warning = "Some sources did not answer in time." if self.partial else None
        data = {"web": found[::2] if self.partial else found}
        return say(Said(200, {"success": True, "data": data, "warning": warning, "creditsUsed": 2}))
