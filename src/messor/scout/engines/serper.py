"""Serper: Google's result page as JSON. A plan without credits returns 400, a wrong key 403."""

from __future__ import annotations

from decimal import Decimal

from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import HOUR
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


class Serper(Engine):
    name = "serper"
    title = "Serper"
    default_url = "https://google.serper.dev"
    list_price = Decimal("0.001")
    last_page = 10

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:
        body = {
            "q": query,
            "gl": profile.gl,
            "hl": profile.hl,
            "location": profile.location,
            "num": 10,
            "page": page,
        }
        return EngineRequest("search", headers={"X-API-KEY": self.endpoint.key}, body=body)

    def probe(self) -> EngineRequest:
        return EngineRequest("search", headers={"X-API-KEY": self.endpoint.key}, body={})

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        message = self.message_of(answer.value)
        if answer.status == 400 and "credit" in message.lower():
            return exhausted(self.title, message)
        if answer.status == 403:
            return SearchFaultError(f"Serper rejects our API key: {message}", hold=HOUR)
        return super().refusal(answer)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        if not isinstance(table.get("organic", []), list) or not (
            "organic" in table or "searchParameters" in table
        ):
            raise SearchFaultError("The response of Serper holds no result page.", charged=True)
        box = table.get("answerBox")
        found = [
            *results(SerpBlock.ORGANIC, rows(table, "organic"), rank="position"),
            *results(SerpBlock.AD, rows(table, "ads")),
            *results(
                SerpBlock.LOCAL_PACK,
                rows(table, "places"),
                url=("website", "link"),
                snippet=("address", "category"),
                needs_url=False,
            ),
            *results(
                SerpBlock.FEATURED, rows([box]), snippet=("snippet", "answer"), needs_url=False
            ),
            *results(
                SerpBlock.KNOWLEDGE,
                rows([table.get("knowledgeGraph")]),
                url=("website", "descriptionLink"),
                needs_url=False,
            ),
            *results(
                SerpBlock.PEOPLE_ALSO_ASK,
                rows(table, "peopleAlsoAsk"),
                title=("question",),
                needs_url=False,
            ),
            *results(
                SerpBlock.RELATED, rows(table, "relatedSearches"), title=("query",), needs_url=False
            ),
            *results(SerpBlock.NEWS, rows(table, "topStories")),
        ]
        return SerpPage((*found,), extras={"credits": table.get("credits")})
