"""A page a model is asked about: what it may be shown of it, and what of an answer the page supports.

`LocalModelPage` does both where the page was parsed; a page that is parsed elsewhere, in a process that
may die over it, is asked through the same `ModelPage`.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from messor.ai.chunks import page_chunks
from messor.ai.proof import Prover, Unverified
from messor.ai.visible_text import VisibleText
from messor.content.records import Record
from messor.content.view import PageView


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a model may read of a page, in pieces."""

    chunks: list[str]
    is_cut: bool = False  # the page was too long to be shown whole
    withheld: int = 0  # lines that are not shown, as they speak to a machine


@dataclass(frozen=True, slots=True)
class ProvenAnswer:
    """The records of an answer that the page supports, and what it does not."""

    records: list[Record] = field(default_factory=list)
    unverified: list[Unverified] = field(default_factory=list)


class ModelPage(Protocol):
    """A page as a model's reader sees it."""

    async def input(self, size: int, max_chunks: int) -> ModelInput:
        """At most `max_chunks` chunks of `size` characters."""

    async def prove(self, version: str, answer: dict[str, Any]) -> ProvenAnswer:
        """What the page says of an answer."""


class LocalModelPage:
    """A page that was parsed in this process."""

    def __init__(self, page: PageView) -> None:
        self._page = page

    @cached_property
    def _seen(self) -> VisibleText:
        return VisibleText.of(self._page)

    async def input(self, size: int, max_chunks: int) -> ModelInput:
        return await asyncio.to_thread(self.input_now, size, max_chunks)

    async def prove(self, version: str, answer: dict[str, Any]) -> ProvenAnswer:
        return await asyncio.to_thread(self.prove_now, version, answer)

    def input_now(self, size: int, max_chunks: int) -> ModelInput:
        found = page_chunks(self._page, self._seen, size=size, max_chunks=max_chunks)
        return ModelInput(list(found.chunks), found.is_cut, self._seen.withheld)

    def prove_now(self, version: str, answer: dict[str, Any]) -> ProvenAnswer:
        prover = Prover(self._page, self._seen, version)
        return ProvenAnswer(prover.records(answer), prover.unverified)
