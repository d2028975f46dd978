"""Stand-ins for services that sell Google's result page: Serper, SerpApi, DataForSEO.

The pages are the simulated web's. Error bodies and fields are the services'.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any
from urllib.parse import unquote_plus

from aiohttp import web

from simweb.engines.index import Page
from simweb.engines.standin import EngineStandIn, number, text
from simweb.services.standin import Failure, Said, say


class SerperStandIn(EngineStandIn):
    name = "serper"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(403, {"message": "Unauthorized.", "statusCode": 403}),
        Failure.NO_CREDITS: Said(400, {"message": "Not enough credits", "statusCode": 400}),
        Failure.TOO_MANY: Said(429, {"message": "Rate limit exceeded", "statusCode": 429}),
        Failure.INTERNAL: Said(500, {"message": "Internal server error", "statusCode": 500}),
        Failure.NO_PAGE: Said(200, {"credits": 1}),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/search", self._search)

    def knows(self, request: web.Request) -> bool:
        return self.knows_header(request, "X-API-KEY")

    async def _search(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        if not isinstance(body, dict) or not body.get("q"):
            return say(Said(400, {"message": "Missing query parameter", "statusCode": 400}))
        page = number(body.get("page"), 1, 100, 1)
        return say(
            Said(200, self.page(body, self.look(body["q"], page, place=text(body.get("location")))))
        )

    def page(self, asked: dict[str, Any], page: Page) -> dict[str, Any]:
        table: dict[str, Any] = {
            "searchParameters": {**asked, "type": "search", "engine": "google"},
            "organic": [
                {
                    "title": entry.title,
                    "link": entry.url,
                    "snippet": entry.snippet(page.words),
                    "position": place,
                    **({"date": "Jan 5, 2026"} if entry.is_dated else {}),
                }
                for place, entry in enumerate(page.organic, 1)
            ],
            "peopleAlsoAsk": [
                {"question": q, "snippet": "It depends.", "title": q, "link": page.organic[0].url}
                for q in page.questions
            ],
            "relatedSearches": [{"query": query} for query in page.related],
            "credits": 1,
        }
        if page.local:
            table["places"] = [
                {
                    "position": n,
                    "title": e.title,
                    "address": "1 High Street",
                    "website": e.home,
                    "cid": "1",
                }
                for n, e in enumerate(page.local, 1)
            ]
        if page.ads:
            table["ads"] = [
                {"position": n, "title": e.title, "link": e.url, "snippet": e.description}
                for n, e in enumerate(page.ads, 1)
            ]
        return table


class SerpApiStandIn(EngineStandIn):
    name = "serpapi"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(
            401,
            {
                "error": "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"
            },
        ),
        Failure.NO_CREDITS: Said(429, {"error": "Your account has run out of searches."}),
        Failure.TOO_MANY: Said(
            429,
            {
                "error": "Your searches for the hour are exceeding 200. You can upgrade plans on SerpApi.com website."
            },
        ),
        Failure.INTERNAL: Said(
            503,
            {
                "search_metadata": {"id": "64c32cfe", "status": "Error"},
                "error": "We couldn't get valid results for this search. Please try again later.",
            },
        ),
        Failure.NO_PAGE: Said(
            200,
            {
                "search_metadata": {"id": "64c32cfe", "status": "Error"},
                "error": "We couldn't get valid results for this search. Please try again later.",
            },
        ),
    }

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_get("/search", self._search)
        router.add_get("/account", self.account)

    def knows(self, request: web.Request) -> bool:
        return self._api_key is None or request.query.get("api_key") == self._api_key

    async def _search(self, request: web.Request) -> web.StreamResponse:
        await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        query = request.query
        if not query.get("q"):
            return self.bad("Missing query `q` parameter.")
        if "uule" in query and "location" in query:
            return self.bad("`uule` and `location` parameters can't be used together.")
        number_ = 1 + number(query.get("start"), 0, 990, 0) // 10
        page = self.look(query["q"], number_, place=text(query.get("location")))
        return say(Said(200, self._page({"engine": "google", "q": query["q"]}, page)))

    def _page(self, asked: dict[str, str], page: Page) -> dict[str, Any]:
        table: dict[str, Any] = {
            "search_metadata": {"id": "6540ac26", "status": "Success", "total_time_taken": 1.2},
            "search_parameters": asked,
            "search_information": {"organic_results_state": "Results for exact spelling"},
        }
        if not page.organic:
            table["search_information"]["organic_results_state"] = "Fully empty"
            table["error"] = "Google hasn't returned any results for this query."
            return table
        table["organic_results"] = [
            {
                "position": place,
                "title": entry.title,
                "link": entry.url,
                "displayed_link": entry.host,
                "snippet": entry.snippet(page.words),
            }
            for place, entry in enumerate(page.organic, 1)
        ]
        places = [
            {
                "position": n,
                "title": e.title,
                "address": "1 High Street",
                "links": {"website": e.home},
                "website": e.home,
            }
            for n, e in enumerate(page.local, 1)
        ]
        table["local_results"] = {
            "more_locations_link": "https://www.google.com/",
            "places": places,
        }
        table["ads"] = [
            {
                "position": n,
                "block_position": "top",
                "title": e.title,
                "link": e.url,
                "description": e.description,
            }
            for n, e in enumerate(page.ads, 1)
        ]
        table["related_questions"] = [
            {"question": q, "snippet": "It depends."} for q in page.questions
        ]
        table["related_searches"] = [
            {"query": query, "link": "https://www.google.com/search"} for query in page.related
        ]
        return table


class DataForSEOStandIn(EngineStandIn):
    name = "dataforseo"
    failures = {  # noqa: RUF012 - a table
        Failure.UNAUTHORIZED: Said(
            401,
            {
                "status_code": 40100,
                "status_message": "You are not Authorized to Access this resource.",
            },
        ),
        Failure.NO_CREDITS: Said(
            402, {"status_code": 40200, "status_message": "Payment Required."}
        ),
        Failure.TOO_MANY: Said(
            200,
            {
                "status_code": 20000,
                "status_message": "Ok.",
                "cost": 0,
                "tasks": [
                    {
                        "status_code": 40202,
                        "status_message": "Rate limit per minute exceeded.",
                        "result": None,
                    }
                ],
            },
        ),
        Failure.INTERNAL: Said(
            200,
            {
                "status_code": 20000,
                "status_message": "Ok.",
                "cost": 0.002,
                "tasks": [
                    {
                        "status_code": 40101,
                        "status_message": "Internal SE Server Error.",
                        "result": None,
                    }
                ],
            },
        ),
        Failure.NO_PAGE: Said(200, {"status_code": 20000, "status_message": "Ok.", "tasks": []}),
    }
    cost = 0.002

    def route(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v3/serp/google/organic/live/advanced", self._search)
        router.add_get("/v3/appendix/user_data", self.account)

    def knows(self, request: web.Request) -> bool:
        wanted = b64encode((self._api_key or "").encode()).decode()
        return self._api_key is None or request.headers.get("Authorization") == f"Basic {wanted}"

    async def _search(self, request: web.Request) -> web.StreamResponse:
        body = await self.note(request)
        refused = await self.refuse(request)
        if refused is not None:
            return refused
        task = body[0] if isinstance(body, list) and body and isinstance(body[0], dict) else {}
        if not task.get("keyword") or not task.get("language_code"):
            return say(
                self._answer(
                    {
                        "status_code": 40501,
                        "status_message": "Invalid Field: 'keyword'.",
                        "result": None,
                    },
                    0,
                )
            )
        page = self.look(unquote_plus(task["keyword"]), place=text(task.get("location_name")))
        if not page.organic:
            empty = {"status_code": 40102, "status_message": "No Search Results.", "result": None}
            return say(self._answer(empty, self.cost))
        result = {"keyword": task["keyword"], "type": "organic", "items": _items(page)}
        done = {
            "status_code": 20000,
            "status_message": "Ok.",
            "cost": self.cost,
            "result": [result],
        }
        return say(self._answer(done, self.cost))

    def _answer(self, task: dict[str, Any], cost: float) -> Said:
        table = {
            "version": "0.1",
            "status_code": 20000,
            "status_message": "Ok.",
            "cost": cost,
            "tasks": [task],
        }
        return Said(200, table)


def _items(page: Page) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []

    def put(kind: str, group: int, **more: Any) -> None:
        items.append({"type": kind, "rank_group": group, "rank_absolute": len(items) + 1, **more})

    for place, entry in enumerate(page.ads, 1):
        put(
            "paid",
            place,
            domain=entry.host,
            title=entry.title,
            url=entry.url,
            description=entry.description,
        )
    for place, entry in enumerate(page.local, 1):
        put(
            "local_pack",
            place,
            title=entry.title,
            url=entry.home,
            phone="+44 20 7946 0100",
            cid="1",
            is_paid=False,
        )
    for place, entry in enumerate(page.organic, 1):
        text = entry.snippet(page.words)
        put(
            "organic",
            place,
            domain=entry.host,
            title=entry.title,
            url=entry.url,
            description=text,
            is_featured_snippet=False,
        )
    questions = [{"type": "people_also_ask_element", "title": q} for q in page.questions]
    put("people_also_ask", 1, items=questions)
    put("related_searches", 1, items=page.related)
    return items
