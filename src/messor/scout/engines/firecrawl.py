"""Firecrawl's search, hosted or self-hosted: v2, with results by source. Nothing is scraped."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from messor.fetch.services.answer import ServiceResponse
from messor.scout.engines.endpoint import EngineRequest
from messor.scout.engines.engine import Engine
from messor.scout.engines.model import (
    RawAnswer,
    SearchFaultError,
    SearchProfile,
    SerpBlock,
    SerpPage,
)
from messor.scout.engines.values import results, rows, table_of


class FirecrawlSearch(Engine):
    name = "firecrawl"
    title = "Firecrawl search"
    default_url = "https://api.firecrawl.dev"
    needs_key = False  # self-hosted has none
    list_price = Decimal("0.002")

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:  # noqa: ARG002 - one page
        body = {
            "query": query,
            "limit": 10,
            "sources": [{"type": "web"}],
            "location": profile.location,
            "country": profile.gl.upper(),
        }
        return EngineRequest(
            "v2/search", headers=self.bearer() if self.endpoint.key else {}, body=body
        )

    def probe(self) -> EngineRequest:
        return EngineRequest(
            "v2/search", headers=self.bearer() if self.endpoint.key else {}, body={}
        )

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        value = answer.value
        if answer.status == 200 and isinstance(value, Mapping) and value.get("success") is False:
            return SearchFaultError(f"Firecrawl search failed: {self.message_of(value)}")
        return super().refusal(answer)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        data = table.get("data")
        if not isinstance(data, Mapping):
            raise SearchFaultError("The response of Firecrawl holds no results.", charged=True)
        found = results(SerpBlock.ORGANIC, rows(data, "web"), rank="position")
        found += results(SerpBlock.NEWS, rows(data, "news"))
        warning = table.get("warning")
        missing = warning[:200] if isinstance(warning, str) and warning else None
        if missing and not found:
            counted = table.get("creditsUsed") != 0
            raise SearchFaultError(f"Firecrawl search found nothing: {missing}", charged=counted)
        return SerpPage((*found,), missing, {"credits": table.get("creditsUsed")})
