"""Browserbase's search: up to twenty-five titles and URLs, without snippets."""

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


class Browserbase(Engine):
    name = "browserbase"
    title = "Browserbase"
    default_url = "https://api.browserbase.com"
    list_price = Decimal("0.007")
    longest_query = 200

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:  # noqa: ARG002 - neither
        body = {"query": query, "numResults": 25}
        return EngineRequest("v1/search", headers={"X-BB-API-Key": self.endpoint.key}, body=body)

    def probe(self) -> EngineRequest:
        return EngineRequest("v1/search", headers={"X-BB-API-Key": self.endpoint.key}, body={})

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        if not isinstance(table.get("results"), list):
            raise SearchFaultError("The response of Browserbase holds no results.", charged=True)
        found = results(SerpBlock.ORGANIC, rows(table, "results"), published=("publishedDate",))
        return SerpPage((*found,))
