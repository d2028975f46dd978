"""Tavily: a search for programs, one page of up to twenty.

432 and 433 mean that a limit is reached.
"""

from __future__ import annotations

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
from messor.scout.engines.places import COUNTRIES
from messor.scout.engines.values import results, rows, table_of


class Tavily(Engine):
    name = "tavily"
    title = "Tavily"
    default_url = "https://api.tavily.com"
    list_price = Decimal("0.008")

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:  # noqa: ARG002 - one page
        body: dict[str, Any] = {
            "query": query,
            "topic": "general",
            "search_depth": "basic",
            "max_results": 20,
            "include_answer": False,
            "include_raw_content": False,
        }
        if profile.gl in COUNTRIES:
            body["country"] = COUNTRIES[profile.gl]
        return EngineRequest("search", headers=self.bearer(), body=body)

    def probe(self) -> EngineRequest:
        return EngineRequest("search", headers=self.bearer(), body={})

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        if answer.status in (432, 433):
            return exhausted(self.title, self.message_of(answer.value))
        return super().refusal(answer)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        if not isinstance(table.get("results"), list):
            raise SearchFaultError("The response of Tavily holds no results.", charged=True)
        found = results(
            SerpBlock.ORGANIC,
            rows(table, "results"),
            snippet=("content",),
            published=("published_date",),
        )
        response = table.get("answer")
        overview = [{"title": "Answer", "snippet": response}] if isinstance(response, str) else []
        found += results(SerpBlock.AI_OVERVIEW, overview, needs_url=False)
        return SerpPage((*found,))
