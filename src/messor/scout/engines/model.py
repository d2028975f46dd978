"""Requests and results of search engines: the interface all engines implement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any


class SerpBlock(StrEnum):
    """The kinds of blocks on a result page."""

    ORGANIC = "organic"
    LOCAL_PACK = "local_pack"
    FEATURED = "featured"
    AD = "ad"
    PEOPLE_ALSO_ASK = "people_also_ask"
    RELATED = "related"
    AI_OVERVIEW = "ai_overview"
    KNOWLEDGE = "knowledge"
    NEWS = "news"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class SearchProfile:
    """Where and on which device a search is made."""

    gl: str = "sg"
    hl: str = "en"
    device: str = "desktop"
    location: str = "Singapore"
    uule: str | None = None


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """A response as received, whole; `body` is stored and can be parsed again at any time."""

    engine: str
    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class SerpResult:
    """One entry of a block; ranks count from 1 within each kind of block."""

    block: SerpBlock
    rank: int
    url: str | None = None
    title: str = ""
    snippet: str = ""
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SerpPage:
    """A parsed result page. `missing` names what is known to be left out: then it is partial."""

    results: tuple[SerpResult, ...]
    missing: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)  # kept raw
    cost: Decimal | None = None  # what the engine reports as charged

    def of(self, block: SerpBlock) -> list[SerpResult]:
        return [result for result in self.results if result.block is block]


class SearchFaultError(Exception):
    """An engine returned no usable page; becomes a gap, or the next engine is tried."""

    def __init__(
        self,
        sentence: str,
        *,
        hold: float = 0.0,
        charged: bool = False,
        slow_down: bool = False,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hold = hold  # seconds during which the engine is not used
        self.slow_down = slow_down  # it demands that every worker waits
        self.charged = charged  # it may have performed and charged the search
