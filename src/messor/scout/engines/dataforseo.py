"""DataForSEO: Google's page as a list of typed items.

It returns 200 and reports errors in `status_code`: at the top for the call, in the task for the
search.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import HOUR, one_line
from messor.scout.engines.endpoint import EngineRequest
from messor.scout.engines.engine import SLOW_DOWN, Engine, exhausted
from messor.scout.engines.model import (
    RawAnswer,
    SearchFaultError,
    SearchProfile,
    SerpBlock,
    SerpPage,
)
from messor.scout.engines.values import phrases, results, rows, table_of, text

OK = 20000
NO_RESULTS = 40102  # a page without results; counted
ENGINE_FAILED = 40101  # the search engine itself failed after retries; counted
TOO_FAST = frozenset({40202, 40209})
NO_MONEY = frozenset({40200, 40203, 40210})
_KINDS = {
    "organic": SerpBlock.ORGANIC,
    "paid": SerpBlock.AD,
    "featured_snippet": SerpBlock.FEATURED,
    "local_pack": SerpBlock.LOCAL_PACK,
    "knowledge_graph": SerpBlock.KNOWLEDGE,
}
_WITHOUT_URL = frozenset({SerpBlock.LOCAL_PACK, SerpBlock.KNOWLEDGE, SerpBlock.FEATURED})


class DataForSEO(Engine):
    """The key is `login:password`, sent as Basic."""

    name = "dataforseo"
    title = "DataForSEO"
    default_url = "https://api.dataforseo.com"
    list_price = Decimal("0.002")
    longest_query = 700

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:  # noqa: ARG002 - one page
        task = {
            # A percent sign begins an escape there, a plus means a space.
            "keyword": query.replace("%", "%25").replace("+", "%2B"),
            "location_name": ",".join(part.strip() for part in profile.location.split(",")),
            "language_code": profile.hl,
            "device": "desktop" if profile.device == "desktop" else "mobile",
            "depth": 10,
        }
        path = "v3/serp/google/organic/live/advanced"
        return EngineRequest(path, headers=self._basic(), body=[task])

    def _basic(self) -> dict[str, str]:
        basic = b64encode(self.endpoint.key.encode()).decode()
        return {"Authorization": f"Basic {basic}"}

    def probe(self) -> EngineRequest:
        return EngineRequest("v3/appendix/user_data", headers=self._basic())  # free

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        if answer.status != 200:
            return super().refusal(answer)
        value = answer.value
        if not isinstance(value, Mapping):
            return None  # judged and stored as what it is
        return _fault(value) or next(filter(None, map(_fault, rows(value, "tasks"))), None)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        task = next(rows(table, "tasks"), None)
        if task is None:
            raise SearchFaultError("The response of DataForSEO holds no task.", charged=True)
        cost = _money(table.get("cost"))
        if task.get("status_code") == NO_RESULTS:
            return SerpPage((), cost=cost)
        page = next(rows(task, "result"), None)
        if page is None or not isinstance(page.get("items", []), (list, type(None))):
            raise SearchFaultError("The response of DataForSEO holds no result page.", charged=True)
        items = list(rows(page, "items"))
        found = [
            *(
                result
                for kind, block in _KINDS.items()
                for result in results(
                    block,
                    _of(items, kind),
                    rank="rank_group",
                    published=("timestamp",),
                    needs_url=block not in _WITHOUT_URL,
                )
            ),
            *results(
                SerpBlock.PEOPLE_ALSO_ASK,
                [row for item in _of(items, "people_also_ask") for row in rows(item, "items")],
                needs_url=False,
            ),
            *results(
                SerpBlock.NEWS, [r for i in _of(items, "top_stories") for r in rows(i, "items")]
            ),
            *phrases(SerpBlock.RELATED, _related(items)),
            *results(
                SerpBlock.AI_OVERVIEW,
                [
                    {"title": "AI overview", "snippet": _overview(i)}
                    for i in _of(items, "ai_overview")
                ],
                needs_url=False,
            ),
        ]
        return SerpPage((*found,), extras={"item_types": page.get("item_types")}, cost=cost)


def _of(items: list[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    return [item for item in items if item.get("type") == kind]


def _related(items: list[Mapping[str, Any]]) -> list[Any]:
    lists = (item.get("items") for item in _of(items, "related_searches"))
    return [word for words in lists if isinstance(words, list) for word in words[:100]]


def _overview(item: Mapping[str, Any]) -> str:
    return text(item, "markdown") or " ".join(text(row, "text") for row in rows(item, "items"))


def _money(value: Any) -> Decimal | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return Decimal(str(value)) if is_number and 0 <= value < 1000 else None


def _fault(part: Mapping[str, Any]) -> SearchFaultError | None:
    code = part.get("status_code")
    if code in (OK, NO_RESULTS) or not isinstance(code, int):
        return None
    message = one_line(str(part.get("status_message", "")))
    if code == 40100:
        return SearchFaultError(f"DataForSEO rejects our login: {message}", hold=HOUR)
    if code in NO_MONEY:
        return exhausted("DataForSEO", message)
    if code in TOO_FAST:
        sentence = f"DataForSEO asks us to slow down: {message}"
        return SearchFaultError(sentence, hold=SLOW_DOWN, slow_down=True)
    charged = code == ENGINE_FAILED
    return SearchFaultError(f"DataForSEO failed with {code}: {message}", charged=charged)
