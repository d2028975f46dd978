"""A page that a model is asked about: the input for the model, and the proof of its answer.

`LocalModelPage` provides both for a page parsed in this process; a page parsed in another process,
which may die of it, has the same interface `ModelPage`.
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
    """The text of a page for a model, in chunks."""

    chunks: list[str]
    is_cut: bool = False  # the page was truncated
    withheld: int = 0  # lines withheld as prompt injections


@dataclass(frozen=True, slots=True)
class ProvenAnswer:
    """The records of an answer that the page supports, and the values it does not."""

    records: list[Record] = field(default_factory=list)
    unverified: list[Unverified] = field(default_factory=list)


class ModelPage(Protocol):
    """A page as the model reader sees it."""

    async def input(self, size: int, max_chunks: int) -> ModelInput:
        """Return at most `max_chunks` chunks of `size` characters."""

    async def prove(self, version: str, answer: dict[str, Any]) -> ProvenAnswer:
        """Return what the page supports of an answer."""


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
