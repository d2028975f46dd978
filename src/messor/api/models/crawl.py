"""Requests and results of acts on tasks, batches and snapshots in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from messor.api.models.base import Address, In, Out, text
from messor.archive.queries import KeptSnapshot
from messor.frontier.batch_lines import BadLine

TaskAct = Literal["pause", "resume", "stop", "retry", "recrawl"]
Every = Annotated[str, text(30, 1)]


class ActIn(In):
    """An action on tasks."""

    act: TaskAct


class ScopedActIn(ActIn):
    """Exactly one of url, batch, domain and everything."""

    url: Address | None = None
    batch: UUID | None = None
    domain: Address | None = None
    everything: bool = False


class DoneOut(Out):
    act: TaskAct
    scope: Literal["url", "batch", "domain", "all"]
    name: str
    tasks: int = Field(description="Number of changed tasks")


class BatchUrlIn(In):
    url: Address
    priority: int | None = Field(None, ge=1, le=10)
    every: Every | None = None


class BatchIn(In):
    """A batch of URLs to crawl."""

    name: Annotated[str, text(200, 1)]
    priority: int = Field(5, ge=1, le=10, description="1 is the highest")
    every: Every | None = Field(None, description="Crawl frequency: 12h, 7d, weekly …")
    urls: list[Address | BatchUrlIn] = Field(min_length=1, max_length=5_000)


class BatchTakenOut(Out):
    """The result of a batch, with the first hundred rejected lines."""

    id: UUID
    name: str
    created_at: datetime
    lines: int
    accepted: int
    fresh: int
    duplicates: int
    rejected: int
    errors: list[BadLine]


class DiffOut(Out):
    """How a page's text changed from one snapshot to another."""

    before: KeptSnapshot
    after: KeptSnapshot
    added: int
    removed: int
    diff: str = Field(description="Unified diff with three lines of context")
    is_cut: bool = Field(description="Whether a text was truncated before comparison")
