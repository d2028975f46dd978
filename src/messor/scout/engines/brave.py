"""Brave Search: has its own index. Its limit headers are pairs, per second and per month."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from html import unescape

from messor.fetch.services.answer import ServiceResponse
from messor.fetch.services.faults import HOUR
from messor.scout.engines.endpoint import EngineRequest
from messor.scout.engines.engine import SLOW_DOWN, Engine
from messor.scout.engines.model import (
    RawAnswer,
    SearchFaultError,
    SearchProfile,
    SerpBlock,
    SerpPage,
    SerpResult,
)
from messor.scout.engines.values import results, rows, table_of

_TAGS = re.compile(r"</?\w+[^<>]*>")
LONGEST_HOLD = 24 * HOUR


class Brave(Engine):
    name = "brave"
    title = "Brave Search"
    default_url = "https://api.search.brave.com"
    list_price = Decimal("0.005")
    last_page = 10

    def call(self, query: str, profile: SearchProfile, page: int) -> EngineRequest:
        query_string = {
            "q": query,
            "country": profile.gl.upper(),
            "search_lang": profile.hl.partition("-")[0],
            "count": "20",
            "offset": str(page - 1),
            "safesearch": "off",
        }
        return EngineRequest(
            "res/v1/web/search", query_string, {"X-Subscription-Token": self.endpoint.key}
        )

    def probe(self) -> EngineRequest:
        return EngineRequest(
            "res/v1/web/search", headers={"X-Subscription-Token": self.endpoint.key}
        )

    def refusal(self, answer: ServiceResponse) -> SearchFaultError | None:
        error = answer.value.get("error") if isinstance(answer.value, Mapping) else None
        code = error.get("code") if isinstance(error, Mapping) else None
        if code == "SUBSCRIPTION_TOKEN_INVALID":
            return SearchFaultError("Brave Search rejects our API key.", hold=HOUR)
        if answer.status == 429:
            hold = hold_of(answer.headers)
            message = "has no searches left this month" if hold > HOUR else "asks us to slow down"
            return SearchFaultError(f"Brave Search {message}.", hold=hold, slow_down=True)
        return super().refusal(answer)

    @classmethod
    def parse(cls, raw: RawAnswer) -> SerpPage:
        table = table_of(cls.title, raw)
        if "web" not in table and "query" not in table:
            raise SearchFaultError(
                "The response of Brave Search holds no result page.", charged=True
            )
        found = [
            *results(SerpBlock.ORGANIC, rows(table.get("web"), "results"), published=("page_age",)),
            *results(
                SerpBlock.LOCAL_PACK, rows(table.get("locations"), "results"), needs_url=False
            ),
            *results(
                SerpBlock.PEOPLE_ALSO_ASK,
                rows(table.get("faq"), "results"),
                title=("question",),
                snippet=("answer",),
                needs_url=False,
            ),
            *results(SerpBlock.NEWS, rows(table.get("news"), "results"), published=("page_age",)),
            *results(SerpBlock.KNOWLEDGE, rows(table.get("infobox"), "results"), needs_url=False),
        ]
        return SerpPage((*map(_plain, found),))


def _plain(result: SerpResult) -> SerpResult:
    """Its texts mark matches and escape entities."""
    title, snippet = (unescape(_TAGS.sub("", t)) for t in (result.title, result.snippet))
    return replace(result, title=title, snippet=snippet)


def hold_of(headers: Mapping[str, str]) -> float:
    """How long to wait: until the longest exhausted window restarts."""
    remaining = _numbers(headers.get("X-RateLimit-Remaining", ""))
    resets = _numbers(headers.get("X-RateLimit-Reset", ""))
    waits = [reset for left, reset in zip(remaining, resets, strict=False) if left <= 0]
    return min(max([SLOW_DOWN, *waits]), LONGEST_HOLD)


def _numbers(value: str) -> list[float]:
    parts = (part.strip() for part in value.split(",")[:4])
    return [float(part[:9]) for part in parts if part.isascii() and part.isdigit()]
