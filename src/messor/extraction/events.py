"""Events of extraction: changes of records, for subscribers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from messor.ledger.events import Event
from messor.records.changes import EVENTFUL, Sighting
from messor.records.product_rows import PriceChange
from messor.records.store import StoredOutcome

ACTOR = "extractor"


def events_of(
    outcomes: Sequence[StoredOutcome],
    prices: Sequence[PriceChange] = (),
    *,
    method: str = "parsers",
) -> list[Event]:
    """Return the events of stored pages; changes caused by a new parser are not events."""
    found = [_completed(outcome, method) for outcome in outcomes if outcome.changes]
    for outcome in outcomes:
        if outcome.sighting.cause == "page":
            found += _record_events(outcome)
    found += [_price_event(change) for change in prices if change.sighting.cause == "page"]
    return found


def _completed(outcome: StoredOutcome, method: str) -> Event:
    changes, page = outcome.changes, outcome.page
    found = len(changes.new) + len(changes.changed) + len(changes.same)
    return _event(
        "extraction.completed",
        outcome.sighting,
        method=method,
        page_type=page.page_type if page else None,
        records=len(page.records) if page else found,
        new=len(changes.new),
        changed=len(changes.changed),
        removed=len(changes.removed),
        cause=outcome.sighting.cause,
    )


def _record_events(outcome: StoredOutcome) -> list[Event]:
    found = [
        _event(
            "record.changed",
            outcome.sighting,
            record_id=each.known.id,
            kind=each.known.kind,
            state=each.state,
            fields=[change.name for change in each.fields],
        )
        for each in outcome.changes.changed
        if each.known.kind in EVENTFUL
    ]
    found += [
        _event("record.removed", outcome.sighting, record_id=record.id, kind=record.kind)
        for record in outcome.changes.removed
        if record.kind in EVENTFUL
    ]
    return found


def _price_event(change: PriceChange) -> Event:
    return _event(
        "product.price_changed",
        change.sighting,
        product_id=change.product_id,
        before=float(change.before),
        after=float(change.after),
        currency=change.currency,
    )


def _event(name: str, sighting: Sighting, **data: Any) -> Event:
    data = {"snapshot_id": sighting.snapshot_id, "url": sighting.url, **data}
    return Event(name, ACTOR, sighting.domain_id, sighting.page_id, data)
