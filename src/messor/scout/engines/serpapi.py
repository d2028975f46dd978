"""SerpApi: Google's page as JSON.

An `error` may come with 200: for an empty page or a failed search.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from messor.fetch.services.answer import ServiceResponse
from messor.scout.engines.endpoint import EngineRequest
from messor.scout.engines.engine import Engine, exhausted
from messor.scout.engines.model import (
    RawAnswer,
    SearchFaultError,
    SearchProfile,
    SerpBlock,
    SerpPage,
)
from messor.scout.engines.values import results, rows, table_of


class SerpApi(Engine):
    name = "serpapi"
    title = "SerpApi"
    default_url = "https://serpapi.com"
    list_price = Decimal("0.015")
    last_page = 10

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:
        requested = {
            "engine": "google",
            "q": query,
            "gl": profile.gl,
            "hl": profile.hl,
            "device": profile.device,
            "start": str(10 * (page - 1)),
            "output": "json",
            "api_key": self.endpoint.key,
        }
        # It accepts only one of the two.
        place = {"uule": profile.uule} if profile.uule else {"location": profile.location}
        return EngineRequest("search", {**requested, **place})

    def probe(self) -> EngineRequest:
        return EngineRequest("account", {"api_key": self.endpoint.key})  # free

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        message = self.message_of(answer.value)
        if answer.status == 429 and "run out" in message:
            return exhausted(self.title, message)
        if answer.status == 200 and _state(answer.value) == "Error":
            return SearchFaultError(f"SerpApi failed: {message}")
        return super().refusal(answer)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        found_any = isinstance(table.get("organic_results"), list)
        if not found_any and _state(table) != "Success":
            raise SearchFaultError("The response of SerpApi holds no result page.", charged=True)
        local = table.get("local_results")
        found = [
            *results(SerpBlock.ORGANIC, rows(table, "organic_results"), rank="position"),
            *results(SerpBlock.AD, rows(table, "ads")),
            *results(
                SerpBlock.LOCAL_PACK,
                rows(local, "places") if isinstance(local, Mapping) else rows(local),
                url=("website", "link"),
                snippet=("address", "type"),
                needs_url=False,
            ),
            *results(
                SerpBlock.FEATURED,
                rows([table.get("answer_box")]),
                snippet=("snippet", "answer"),
                needs_url=False,
            ),
            *results(
                SerpBlock.KNOWLEDGE,
                rows([table.get("knowledge_graph")]),
                url=("website",),
                needs_url=False,
            ),
            *results(
                SerpBlock.PEOPLE_ALSO_ASK,
                rows(table, "related_questions"),
                title=("question",),
                needs_url=False,
            ),
            *results(
                SerpBlock.RELATED,
                rows(table, "related_searches"),
                url=(),
                title=("query",),
                needs_url=False,
            ),
            *results(SerpBlock.NEWS, rows(table, "top_stories")),
        ]
        return SerpPage((*found,), extras={"ai_overview": table.get("ai_overview")})


def _state(value: Any) -> Any:
    metadata = value.get("search_metadata") if isinstance(value, Mapping) else None
    return metadata.get("status") if isinstance(metadata, Mapping) else None
