"""The traffic halt in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from messor.api.models.base import In, Out, text
from messor.politeness.traffic import LONGEST_REASON


class HaltIn(In):
    reason: Annotated[str, text(LONGEST_REASON)]


class HaltOut(Out):
    halted_at: datetime
    halted_by: str
    reason: str


class TrafficOut(Out):
    halted: bool
    halt: HaltOut | None
