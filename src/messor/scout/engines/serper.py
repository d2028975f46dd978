"""Serper: Google's result page as JSON. A plan without credits answers 400, a wrong key 403."""

from __future__ import annotations

from decimal import Decimal

from messor.fetch.services.answer import Answer
from messor.fetch.services.faults import HOUR
from messor.scout.engines.endpoint import Call
from messor.scout.engines.engine import Engine, exhausted
from messor.scout.engines.model import Block, RawAnswer, SearchFaultError, SearchProfile, SerpPage
from messor.scout.engines.reading import results, rows, table_of


class Serper(Engine):
    name = "serper"
    title = "Serper"
    default_url = "https://google.serper.dev"
    list_price = Decimal("0.001")
    last_page = 10

    def call(self, query: str, profile: SearchProfile, page: int) -> Call:
        body = {
            "q": query,
            "gl": profile.gl,
            "hl": profile.hl,
            "location": profile.location,
            "num": 10,
            "page": page,
        }
        return Call("search", headers={"X-API-KEY": self.endpoint.key}, body=body)

    def probe(self) -> Call:
        return Call("search", headers={"X-API-KEY": self.endpoint.key}, body={})

    def refusal(self, answer: Answer) -> SearchFaultError | None:
        said = self.said(answer.value)
        if answer.status == 400 and "credit" in said.lower():
            return exhausted(self.title, said)
        if answer.status == 403:
            return SearchFaultError(f"Serper refuses our API key: {said}", hold=HOUR)
        return super().refusal(answer)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        if not isinstance(table.get("organic", []), list) or not (
            "organic" in table or "searchParameters" in table
        ):
            raise SearchFaultError("Serper's answer holds no result page.", charged=True)
        box = table.get("answerBox")
        found = [
            *results(Block.ORGANIC, rows(table, "organic"), rank="position"),
            *results(Block.AD, rows(table, "ads")),
            *results(
                Block.LOCAL_PACK,
                rows(table, "places"),
                url=("website", "link"),
                snippet=("address", "category"),
                needs_url=False,
            ),
            *results(Block.FEATURED, rows([box]), snippet=("snippet", "answer"), needs_url=False),
            *results(
                Block.KNOWLEDGE,
                rows([table.get("knowledgeGraph")]),
                url=("website", "descriptionLink"),
                needs_url=False,
            ),
            *results(
                Block.PEOPLE_ALSO_ASK,
                rows(table, "peopleAlsoAsk"),
                title=("question",),
                needs_url=False,
            ),
            *results(
                Block.RELATED, rows(table, "relatedSearches"), title=("query",), needs_url=False
            ),
            *results(Block.NEWS, rows(table, "topStories")),
        ]
        return SerpPage((*found,), extras={"credits": table.get("credits")})
