"""What a search engine is asked and what it answers, whichever it is: the seam of all engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar, Protocol


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
    """From where and on what a search is made."""

    gl: str = "sg"
    hl: str = "en"
    device: str = "desktop"
    location: str = "Singapore"
    uule: str | None = None


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer as it came, whole; `body` is what is stored and parsed again at any time."""

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
    """A result page, understood. `missing` says what is known to be left out: then it is partial."""

    results: tuple[SerpResult, ...]
    missing: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)  # kept raw
    cost: Decimal | None = None  # what the engine says it charged

    def of(self, block: SerpBlock) -> list[SerpResult]:
        return [result for result in self.results if result.block is block]


class SearchFaultError(Exception):
    """An engine gave no usable page; caught where it becomes a gap or the next engine is tried."""

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
        self.hold = hold  # seconds for which the engine is left alone
        self.slow_down = slow_down  # it asks every worker to wait
        self.charged = charged  # it may have done the work, and counted it


class SearchEngine(Protocol):
    """One engine. `search` raises SearchFaultError when no page came; `parse` when it is none."""

    name: ClassVar[str]
    title: ClassVar[str]

    @property
    def cost(self) -> Decimal:
        """What one search costs."""

    async def search(self, query: str, profile: SearchProfile, page: int = 1) -> RawAnswer: ...

    def parse(self, raw: RawAnswer, /) -> SerpPage: ...

    async def close(self) -> None: ...
