"""Progress of an ingestion, for display."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    trace_id: str
    stage: str  # discovering, fetching, done
    planned: int = 0  # pages of the plan so far
    fetched: int = 0  # page requests made
    waiting: int = 0  # pages that still wait for a worker


Watch: TypeAlias = Callable[[Progress], None]
