"""Queries of trials of parser versions: the list, and single ones."""

from __future__ import annotations

from uuid import UUID

from messor.errors import NotFoundError
from messor.extraction.parser_figures import Trial, TrialState
from messor.store.listing import DomainText, Filters, Listing, Source, both_ways, where

_COLUMNS = """t.id, t.parser, t.version, d.domain, t.state, t.pages, t.most, t.started_by,
  t.started_at, t.decided_by, t.decided_at, t.reason, t.report"""
_JOINS = "LEFT JOIN messor.domains d ON d.id = t.domain_id"
ONE = f"SELECT {_COLUMNS} FROM messor.parser_trials t {_JOINS} WHERE t.id = $1"


class TrialFilter(Filters):
    """Filters of trials."""

    parser: str | None = where("t.parser = {}", "Parser", max_length=100)
    state: TrialState | None = where("t.state = {}", "State")
    domain: DomainText | None = where(
        "t.domain_id = (SELECT id FROM messor.domains WHERE domain = {})", "Domain"
    )


TRIALS = Listing(
    name="trials",
    item=Trial,
    filters=TrialFilter,
    table="messor.parser_trials",
    alias="t",
    columns=_COLUMNS,
    joins=_JOINS,
    key_type="uuid",
    make=Trial.of,
    orders=both_ways("-started_at", "t.started_at", "timestamptz", "Newest first", "Oldest first"),
)


async def get(source: Source, trial_id: UUID) -> Trial:
    row = await source.fetchrow(ONE, trial_id)
    if row is None:
        raise NotFoundError(f"There is no trial {trial_id}.")
    return Trial.of(row)
