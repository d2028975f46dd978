"""SearXNG, self-hosted: a metasearch engine. Engines that did not respond make a page partial.

Its `search.formats` must include json, otherwise it returns 403.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import HOUR
from messor.scout.engines.endpoint import EngineRequest
from messor.scout.engines.engine import Engine
from messor.scout.engines.model import (
    RawAnswer,
    SearchFaultError,
    SearchProfile,
    SerpBlock,
    SerpPage,
)
from messor.scout.engines.values import phrases, results, rows, table_of, text

TRIAL_QUERY = "wikipedia"


class SearXNG(Engine):
    name = "searxng"
    title = "SearXNG"
    needs_key = False
    last_page = 10

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:
        language = profile.hl if "-" in profile.hl else f"{profile.hl}-{profile.gl.upper()}"
        query_string = {
            "q": query,
            "format": "json",
            "pageno": str(page),
            "language": language,
            "categories": "general",
            "safesearch": "0",
        }
        return EngineRequest("search", query_string, self.bearer() if self.endpoint.key else {})

    def probe(self) -> EngineRequest:
        return EngineRequest(
            "search", {"format": "json"}, self.bearer() if self.endpoint.key else {}
        )

    async def doubt(self) -> str | None:
        """A search costs nothing here, and shows whether any of its engines responds."""
        try:
            self.parse(await self.search(TRIAL_QUERY, SearchProfile()))
        except SearchFaultError as fault:
            return fault.sentence
        return None

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        if answer.status == 403:
            return SearchFaultError(
                "SearXNG returns no JSON: add json to its search.formats.", hold=HOUR
            )
        return super().refusal(answer)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        if not isinstance(table.get("results"), list):
            raise SearchFaultError("The response of SearXNG holds no results.", charged=True)
        missing = _unresponsive(table.get("unresponsive_engines"))
        found = results(
            SerpBlock.ORGANIC,
            rows(table, "results"),
            snippet=("content",),
            published=("publishedDate",),
        )
        if not found and missing:
            # No engine responded: that is not an empty page.
            raise SearchFaultError(f"SearXNG has no results, and engines failed: {missing}.")
        answers = [
            row if isinstance(row, Mapping) else {"answer": row} for row in _list(table, "answers")
        ]
        found += results(
            SerpBlock.FEATURED,
            answers,
            title=("answer", "title"),
            snippet=("answer",),
            needs_url=False,
        )
        found += results(
            SerpBlock.KNOWLEDGE,
            _infoboxes(table),
            title=("infobox",),
            snippet=("content",),
            needs_url=False,
        )
        found += phrases(SerpBlock.RELATED, _list(table, "suggestions"))
        return SerpPage((*found,), f"no response from {missing}" if missing else None)


def _list(table: Mapping[str, Any], key: str) -> list[Any]:
    value = table.get(key)
    return value[:100] if isinstance(value, list) else []


def _infoboxes(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Infoboxes with their first URL, or the one that is their id."""
    return [
        {**box, "url": next((text(link, "url") for link in rows(box, "urls")), text(box, "id"))}
        for box in rows(table, "infoboxes")
    ]


def _unresponsive(value: Any) -> str:
    """The engines that did not respond, and why; each is a pair."""
    pairs = (
        [pair for pair in value if isinstance(pair, list) and pair]
        if isinstance(value, list)
        else []
    )
    failed = [": ".join(str(part)[:60] for part in pair[:2]) for pair in pairs[:10]]
    return ", ".join(failed)
