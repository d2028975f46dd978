"""Sealed rows: which columns of which logs are sealed, and the text of a row that is hashed.

The text is a JSON array made by PostgreSQL, with times in UTC. A new column means a new form: blocks
sealed before keep the form they were sealed with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class SealedLog:
    """A log whose rows are sealed."""

    name: str
    time: str  # the column whose month a block's rows share
    forms: tuple[tuple[str, ...], ...]  # the columns, in the order of the text; the newest last

    @property
    def form(self) -> int:
        """The number of the newest form."""
        return len(self.forms)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.forms[-1]

    def text(self, form: int) -> str:
        """A row as the text that is hashed, in SQL."""
        return f"jsonb_build_array({', '.join(map(_column, self.forms[form - 1]))})::text"

    @property
    def month(self) -> str:
        return f"date_trunc('month', l.{self.time} AT TIME ZONE 'UTC')::date"


_TIMES = frozenset(("occurred_at", "fetched_at", "removed_at"))


def _column(name: str) -> str:
    if name in _TIMES:
        return f"l.{name} AT TIME ZONE 'UTC'"
    return "l.tx::text" if name == "tx" else f"l.{name}"


EVENTS = SealedLog(
    "events",
    "occurred_at",
    (("id", "tx", "occurred_at", "type", "actor", "domain_id", "page_id", "data"),),
)
_FETCH = (
    "id", "fetched_at", "page_id", "host_id", "visit_token", "outcome", "status_code", "size",
    "duration_ms", "waited_ms", "fetch_provider", "provider_cost", "quality_gate_failed", "rule",
    "policy_version", "robots_id", "final_url", "headers_json", "error_json", "delay_ms",
    "proxy_id", "detail",
)  # fmt: skip
FETCHES = SealedLog("http_fetches", "fetched_at", (_FETCH, (*_FETCH, "signed_by")))
# Last: what was removed while the others were sealed is then sealed with them.
REMOVALS = SealedLog(
    "seal_removals", "removed_at", (("id", "log", "row_id", "month", "cause", "removed_at"),)
)
LOGS: Mapping[str, SealedLog] = MappingProxyType(
    {each.name: each for each in (EVENTS, FETCHES, REMOVALS)}
)
