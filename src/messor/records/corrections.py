"""Corrections: what a person says of a field of a record, in force at once.

A corrected value is an override (`overrides`): it replaces the page's own in the record and in what
is derived from it, and stays until the page changes. A confirmation changes nothing. Both are
training examples for `rankings`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from messor.errors import ConflictError, NotFoundError, UsageError
from messor.ledger import events
from messor.ledger.events import Event
from messor.parsers.page_findings import FoundRecord
from messor.records import overrides, product_rows
from messor.records.changes import CURRENT, FieldChange, KnownRecord, Sighting, field_changes
from messor.records.correction_queries import Correction, correction
from messor.records.product_rows import ProductSource
from messor.records.store import LOCK, REMEMBER
from messor.records.typed_values import MAX_CHARS, require_field, typed
from messor.store.database import Connection

CAUSE = "person"
MAX_REASON = 1_000

PAGE_OF = "SELECT page_id FROM messor.records WHERE id = $1"
RECORD = """
SELECT id, page_id, snapshot_id, domain_id, kind, identity, state, confidence, parser, parser_version,
       data::text AS data, fields::text AS fields, content_hash, messor.clock() AS now
  FROM messor.records WHERE id = $1 FOR UPDATE
"""
REPLACE = """
UPDATE messor.corrections SET state = 'replaced', ended_at = (SELECT messor.clock())
 WHERE record_id = $1 AND field = $2 AND state = 'in_force'
"""
KEEP = """
INSERT INTO messor.corrections (record_id, snapshot_id, page_id, domain_id, kind, field, found, correct,
       corrected_by, state, value, page_value, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::jsonb, $13)
ON CONFLICT (record_id, snapshot_id, field) DO UPDATE
   SET found = excluded.found, correct = excluded.correct, corrected_by = excluded.corrected_by,
       corrected_at = (SELECT messor.clock()), state = excluded.state, value = excluded.value,
       page_value = excluded.page_value, reason = excluded.reason, ended_at = NULL
RETURNING id
"""
WITHDRAW = """
UPDATE messor.corrections SET state = 'withdrawn', ended_at = (SELECT messor.clock())
 WHERE id = $1 AND state = 'in_force' RETURNING record_id, domain_id, field
"""
STATE = "SELECT state FROM messor.corrections WHERE id = $1"
# `last_seen` stays: the page was not read.
REVISE = """
UPDATE messor.records SET data = $2::jsonb, fields = $3::jsonb, content_hash = $4, updated_at = $5
 WHERE id = $1
"""
PRODUCT = """
SELECT page_id, snapshot_id, url, url_hash, listing_page_id FROM messor.products
 WHERE record_id = $1 AND state = 'current'
"""

_json = msgspec.json.Encoder().encode


class _Stored(NamedTuple):
    """A record as stored, and the time."""

    id: int
    page_id: int
    snapshot_id: int
    domain_id: UUID
    state: str
    now: datetime
    record: FoundRecord

    @property
    def known(self) -> KnownRecord:
        one = self.record
        return KnownRecord(
            self.id, one.kind, one.identity, self.state, one.content_hash, one.data_json
        )


async def correct(
    connection: Connection,
    record_id: int,
    name: str,
    value: Any,
    *,
    actor: str,
    reason: str | None = None,
) -> Correction:
    """Give a field of a record another value; None: the page does not state the field.

    The page's own value confirms the field instead.
    """
    stored = await _locked(connection, record_id)
    own = overrides.own_words(stored.record).data.get(name)
    if value is None:
        require_field(stored.record.kind, name)
        wanted = None
    else:
        wanted = typed(stored.record.kind, name, value)
    said = None if value is None else _shown(value.strip() if isinstance(value, str) else value)
    state = "lesson" if wanted == own else "in_force"
    return await _keep(
        connection, stored, name, wanted, own, state=state, said=said, actor=actor, reason=reason
    )


async def confirm(
    connection: Connection, record_id: int, name: str, *, actor: str, reason: str | None = None
) -> Correction:
    """Confirm what the page states of a field; ends a correction of it."""
    stored = await _locked(connection, record_id)
    require_field(stored.record.kind, name)
    own = overrides.own_words(stored.record).data.get(name)
    if own is None:
        raise ConflictError(
            f"The page states no {name[:60]} to confirm; enter the correct value instead."
        )
    return await _keep(
        connection,
        stored,
        name,
        own,
        own,
        state="lesson",
        said=_shown(own),
        actor=actor,
        reason=reason,
    )


async def withdraw(connection: Connection, correction_id: int, *, actor: str) -> Correction:
    """End a correction in force: the record states again what its page states."""
    row = await connection.fetchrow(WITHDRAW, correction_id)
    if row is None:
        state = await connection.fetchval(STATE, correction_id)
        if state is None:
            raise NotFoundError(f"There is no correction {correction_id}.")
        raise ConflictError(f"Correction {correction_id} is not in force; it is {state}.")
    await _restate(connection, await _locked(connection, row["record_id"]))
    data = {"record": row["record_id"], "field": row["field"], "correction": correction_id}
    await events.record(
        connection, [Event("record.correction_withdrawn", actor, row["domain_id"], None, data)]
    )
    return await correction(connection, correction_id)


async def _locked(connection: Connection, record_id: int) -> _Stored:
    """The record, locked against readers of its page until the transaction ends."""
    page_id = await connection.fetchval(PAGE_OF, record_id) if record_id < 2**63 else None
    if page_id is not None:
        await connection.execute(LOCK, [page_id])
    row = await connection.fetchrow(RECORD, record_id) if page_id is not None else None
    if row is None:
        raise NotFoundError(f"There is no record {record_id}. Its page may have been purged.")
    if row["state"] != CURRENT:
        raise ConflictError(
            f"Record {record_id} was removed from its page; it cannot be corrected."
        )
    record = FoundRecord(
        row["kind"], row["identity"], row["confidence"], row["parser"], row["parser_version"],
        row["data"], row["fields"], row["content_hash"],
    )  # fmt: skip
    return _Stored(
        row["id"],
        row["page_id"],
        row["snapshot_id"],
        row["domain_id"],
        row["state"],
        row["now"],
        record,
    )


async def _keep(
    connection: Connection,
    stored: _Stored,
    name: str,
    value: Any,
    own: Any,
    *,
    state: str,
    said: str | None,
    actor: str,
    reason: str | None,
) -> Correction:
    reason = reason.strip() if reason else None
    if reason and len(reason) > MAX_REASON:
        raise UsageError(f"A reason has at most {MAX_REASON:,} characters.")
    if said is not None and len(said) > MAX_CHARS:
        raise UsageError(f"A value has at most {MAX_CHARS:,} characters.")
    found = _shown(own)
    await connection.execute(REPLACE, stored.id, name)
    correction_id = await connection.fetchval(
        KEEP, stored.id, stored.snapshot_id, stored.page_id, stored.domain_id, stored.record.kind, name,
        found, said, actor, state, _as_json(value), _as_json(own), reason or None,
    )  # fmt: skip
    await _restate(connection, stored)
    data = {
        "record": stored.id,
        "field": name,
        "found": found,
        "correct": said,
        "reason": reason or None,
    }
    await events.record(
        connection, [Event("record.corrected", actor, stored.domain_id, None, data)]
    )
    return await correction(connection, correction_id)


async def _restate(connection: Connection, stored: _Stored) -> None:
    """Write the record, and its product, from the page's own words and the overrides in force."""
    own = overrides.own_words(stored.record)
    key = (stored.page_id, own.kind, own.identity)
    made = (await overrides.of_pages(connection, [stored.page_id])).get(key, [])
    record = overrides.applied(own, made) if made else own
    changes = field_changes(stored.known, record)
    await connection.execute(
        REVISE, stored.id, record.data_json, record.fields_json, record.content_hash, stored.now
    )
    if changes:
        await _remember(connection, stored, changes)
        await _write_product(connection, stored, record)


async def _remember(connection: Connection, stored: _Stored, changes: list[FieldChange]) -> None:
    count = len(changes)
    await connection.execute(
        REMEMBER,
        [stored.id] * count, [stored.page_id] * count, [stored.snapshot_id] * count,
        [stored.now] * count, ["changed"] * count, [CAUSE] * count,
        [one.name for one in changes],
        [_json(one.before).decode() for one in changes],
        [_json(one.after).decode() for one in changes],
    )  # fmt: skip


async def _write_product(connection: Connection, stored: _Stored, record: FoundRecord) -> None:
    row = await connection.fetchrow(PRODUCT, stored.id)
    if row is None:
        return
    sighting = Sighting(
        row["page_id"],
        row["snapshot_id"],
        stored.domain_id,
        row["url"],
        row["url_hash"],
        stored.now,
        CAUSE,
    )
    source = ProductSource(sighting, None, record, stored.id, row["listing_page_id"])
    await product_rows.write(connection, [source])


def _shown(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value).decode()


def _as_json(value: Any) -> str | None:
    return None if value is None else _json(value).decode()
