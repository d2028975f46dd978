"""Perplexity's search: one page of up to twenty results with snippets and dates."""

from __future__ import annotations

from decimal import Decimal

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


class Perplexity(Engine):
    name = "perplexity"
    title = "Perplexity"
    default_url = "https://api.perplexity.ai"
    list_price = Decimal("0.005")

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:  # noqa: ARG002 - one page
        body = {"query": query, "max_results": 20, "country": profile.gl.upper()}
        return EngineRequest("search", headers=self.bearer(), body=body)

    def probe(self) -> EngineRequest:
        return EngineRequest("search", headers=self.bearer(), body={})

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        if not isinstance(table.get("results"), list):
            raise SearchFaultError("The response of Perplexity holds no results.", charged=True)
        found = results(
            SerpBlock.ORGANIC, rows(table, "results"), published=("date", "last_updated")
        )
        return SerpPage((*found,))
