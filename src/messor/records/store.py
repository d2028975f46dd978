"""Stores the results of extraction: records, their history, and the page.

All statements handle many pages at once, in the caller's transaction. `changes` compares records;
`product_rows` writes products. Records of a model are kept until `model_store` compares them again;
a record that a parser finds as well belongs to the parser.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import msgspec

from messor.ai.proof import PARSER as MODEL
from messor.parsers.page_findings import FoundPage, FoundRecord
from messor.records import overrides
from messor.records.changes import (
    CURRENT,
    FieldChange,
    KnownRecord,
    PageChanges,
    Sighting,
    compare,
)
from messor.store.database import Connection

PRODUCT = "product"
LISTED = "listed_product"

# Writers of the same page's records wait for each other.
LOCK = """
SELECT pg_advisory_xact_lock(hashtextextended('messor.records.' || page_id, 0))
  FROM unnest($1::bigint[]) AS p (page_id)
"""
# Page by page, unordered: without statistics the server would scan the whole table otherwise.
KNOWN = """
SELECT r.* FROM unnest($1::bigint[]) AS p (page_id) CROSS JOIN LATERAL
       (SELECT id, page_id, parser, kind, identity, state, content_hash, data FROM messor.records
         WHERE page_id = p.page_id FOR UPDATE) r
"""
# Each new record is also the first entry of its history; $13 are pages whose parser changed, not
# the page.
ADD = """
WITH added AS (
  INSERT INTO messor.records (page_id, snapshot_id, domain_id, kind, identity, confidence, parser,
         parser_version, data, fields, content_hash, first_seen, last_seen, updated_at)
  SELECT g.*, g.seen_at, g.seen_at
    FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::real[],
                $7::text[], $8::text[], $9::jsonb[], $10::jsonb[], $11::bytea[], $12::timestamptz[])
         AS g (page_id, snapshot_id, domain_id, kind, identity, confidence, parser, parser_version,
               data, fields, content_hash, seen_at)
  RETURNING id, page_id, snapshot_id, kind, identity, first_seen
), told AS (
  INSERT INTO messor.record_changes (record_id, page_id, snapshot_id, changed_at, state, cause)
  SELECT id, page_id, snapshot_id, first_seen, 'new',
         CASE WHEN page_id = ANY ($13::bigint[]) THEN 'parser' ELSE 'page' END FROM added
)
SELECT page_id, kind, identity, id FROM added WHERE kind IN ('product', 'listed_product')
"""
# For unchanged records only the evidence is updated, and nothing if it is the same.
RENEW = """
UPDATE messor.records r
   SET snapshot_id = g.snapshot_id, confidence = g.confidence, parser = g.parser,
       parser_version = g.parser_version, data = g.data, fields = g.fields,
       content_hash = g.content_hash, last_seen = greatest(r.last_seen, g.seen_at),
       updated_at = CASE WHEN r.content_hash = g.content_hash THEN r.updated_at ELSE g.seen_at END,
       state = 'current', removed_at = NULL
  FROM unnest($1::bigint[], $2::bigint[], $3::real[], $4::text[], $5::text[], $6::jsonb[],
              $7::jsonb[], $8::bytea[], $9::timestamptz[])
       AS g (id, snapshot_id, confidence, parser, parser_version, data, fields, content_hash, seen_at)
 WHERE r.id = g.id
   AND (r.state <> 'current' OR r.last_seen < g.seen_at
        OR (r.snapshot_id, r.confidence, r.parser, r.parser_version, r.content_hash, r.data, r.fields)
           IS DISTINCT FROM (g.snapshot_id, g.confidence, g.parser, g.parser_version, g.content_hash,
                             g.data, g.fields))
"""
REMOVE = """
UPDATE messor.records r SET state = 'removed', removed_at = g.seen_at
  FROM unnest($1::bigint[], $2::timestamptz[]) AS g (id, seen_at) WHERE r.id = g.id
"""
REMEMBER = """
INSERT INTO messor.record_changes (record_id, page_id, snapshot_id, changed_at, state, cause, field,
                                   before, after)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::text[],
                     $6::text[], $7::text[], $8::jsonb[], $9::jsonb[])
"""
# A page that could not be read (it has no type) keeps its previous results. Unchanged text is not
# rewritten: most of the written data is text.
DESCRIBE = """
INSERT INTO messor.extractions AS x (page_id, snapshot_id, domain_id, page_type,
       page_type_confidence, headline, main_text, markdown, metadata, flags, warnings, rejected,
       records, last_record_at)
SELECT g.*, CASE WHEN g.records > 0 THEN (SELECT messor.clock()) END
  FROM (SELECT page_id, snapshot_id, domain_id, page_type, sure, headline, main_text, markdown,
               metadata, flags, warnings, rejected, records FROM unnest($1::bigint[], $2::bigint[],
               $3::uuid[], $4::text[], $5::real[], $6::text[], $7::text[], $8::text[], $9::jsonb[],
               $10::jsonb[], $11::jsonb[], $12::jsonb[], $13::int[])
               AS u (page_id, snapshot_id, domain_id, page_type, sure, headline, main_text,
                     markdown, metadata, flags, warnings, rejected, records)) g
ON CONFLICT (page_id) DO UPDATE
   SET snapshot_id = excluded.snapshot_id,
       page_type = coalesce(excluded.page_type, x.page_type),
       page_type_confidence = coalesce(excluded.page_type_confidence, x.page_type_confidence),
       headline = coalesce(excluded.headline, x.headline),
       main_text = CASE WHEN excluded.main_text = x.main_text THEN x.main_text
                        ELSE coalesce(excluded.main_text, x.main_text) END,
       markdown = CASE WHEN excluded.markdown = x.markdown THEN x.markdown
                       ELSE coalesce(excluded.markdown, x.markdown) END,
       metadata = CASE WHEN excluded.page_type IS NULL THEN x.metadata ELSE excluded.metadata END,
       flags = CASE WHEN excluded.page_type IS NULL THEN x.flags ELSE excluded.flags END,
       warnings = excluded.warnings, rejected = excluded.rejected, records = excluded.records,
       extracted_at = (SELECT messor.clock()),
       last_record_at = coalesce(excluded.last_record_at, x.last_record_at)
"""
GONE = """
UPDATE messor.extractions SET snapshot_id = NULL, records = 0, extracted_at = (SELECT messor.clock())
 WHERE page_id = ANY ($1::bigint[])
"""

_PRODUCTS = frozenset((PRODUCT, LISTED))
_encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class StoredOutcome:
    """The result of storing one page's records."""

    sighting: Sighting
    page: FoundPage | None  # None: the page is gone
    changes: PageChanges
    by_model: int = 0  # current records of a model
    # Ids of records of products and listed products, by kind and identity.
    product_ids: dict[tuple[str, str], int] = field(default_factory=dict)


async def store(
    connection: Connection, read: Sequence[tuple[Sighting, FoundPage | None]]
) -> list[StoredOutcome]:
    """Store extraction results; returns what changed."""
    known = await known_records(connection, [sighting.page_id for sighting, _ in read])
    outcomes = [
        _outcome(sighting, page, known.get(sighting.page_id, []))
        for sighting, page in await _with_overrides(connection, read)
    ]
    await write(connection, outcomes)
    await _describe(connection, outcomes)
    return outcomes


async def _with_overrides(
    connection: Connection, read: Sequence[tuple[Sighting, FoundPage | None]]
) -> list[tuple[Sighting, FoundPage | None]]:
    """Put people's values in place of what pages state."""
    settled = await overrides.settle(
        connection, [(sighting, page.records if page else []) for sighting, page in read]
    )
    return [
        (sighting, page)
        if page is None or records is page.records
        else (sighting, msgspec.structs.replace(page, records=records))
        for (sighting, page), records in zip(read, settled, strict=True)
    ]


async def known_records(
    connection: Connection, page_ids: Sequence[int]
) -> dict[int, list[tuple[KnownRecord, str]]]:
    """Return the stored records of pages, oldest first, each with its parser, and lock them against
    other writers until the transaction ends.
    """
    await connection.execute(LOCK, sorted(page_ids))
    known: dict[int, list[tuple[KnownRecord, str]]] = {}
    rows = await connection.fetch(KNOWN, page_ids)
    for record_id, page_id, parser, *said in sorted(rows, key=itemgetter(0)):
        known.setdefault(page_id, []).append((KnownRecord(record_id, *said), parser))
    return known


def _outcome(
    sighting: Sighting, page: FoundPage | None, known: Sequence[tuple[KnownRecord, str]]
) -> StoredOutcome:
    """Compare a page's records; those of a model are kept while the page exists."""
    if page is None:
        return StoredOutcome(sighting, None, compare([record for record, _ in known], ()))
    if not known:
        return StoredOutcome(sighting, page, PageChanges(new=page.records))
    found = {(record.kind, record.identity) for record in page.records}
    ours: list[KnownRecord] = []
    models: list[KnownRecord] = []
    for record, parser in known:
        is_ours = parser != MODEL or (record.kind, record.identity) in found
        (ours if is_ours else models).append(record)
    changes = compare(ours, page.records, unread=page.unread, kinds=page.kinds)
    standing = [record for record in models if record.state == CURRENT]
    changes.unread += standing
    products = {
        (one.kind, one.identity): one.id for one, _ in _held(changes) if one.kind in _PRODUCTS
    }
    return StoredOutcome(sighting, page, changes, len(standing), products)


async def write(connection: Connection, outcomes: Sequence[StoredOutcome]) -> None:
    """Store changes of records and their history."""
    await _add(connection, outcomes)
    await _renew(connection, outcomes)
    await _remove(connection, outcomes)
    await _remember(connection, outcomes)


async def _add(connection: Connection, outcomes: Sequence[StoredOutcome]) -> None:
    new = [(outcome.sighting, record) for outcome in outcomes for record in outcome.changes.new]
    if not new:
        return
    rows = await connection.fetch(
        ADD,
        [sighting.page_id for sighting, _ in new],
        [sighting.snapshot_id for sighting, _ in new],
        [sighting.domain_id for sighting, _ in new],
        [record.kind for _, record in new],
        [record.identity for _, record in new],
        [record.confidence for _, record in new],
        [record.parser for _, record in new],
        [record.parser_version for _, record in new],
        [record.data_json for _, record in new],
        [record.fields_json for _, record in new],
        [record.content_hash for _, record in new],
        [sighting.seen_at for sighting, _ in new],
        [outcome.sighting.page_id for outcome in outcomes if outcome.sighting.cause == "parser"],
    )
    by_page = {outcome.sighting.page_id: outcome for outcome in outcomes}
    for page_id, kind, identity, record_id in rows:
        by_page[page_id].product_ids[kind, identity] = record_id


async def _renew(connection: Connection, outcomes: Sequence[StoredOutcome]) -> None:
    held = [
        (outcome.sighting, known, found)
        for outcome in outcomes
        for known, found in _held(outcome.changes)
    ]
    if held:
        await connection.execute(
            RENEW,
            [known.id for _, known, _ in held],
            [sighting.snapshot_id for sighting, _, _ in held],
            [found.confidence for _, _, found in held],
            [found.parser for _, _, found in held],
            [found.parser_version for _, _, found in held],
            [found.data_json for _, _, found in held],
            [found.fields_json for _, _, found in held],
            [found.content_hash for _, _, found in held],
            [sighting.seen_at for sighting, _, _ in held],
        )


def _held(changes: PageChanges) -> Iterable[tuple[KnownRecord, FoundRecord]]:
    yield from changes.same
    for each in changes.changed:
        yield each.known, each.found


async def _remove(connection: Connection, outcomes: Sequence[StoredOutcome]) -> None:
    gone = [(o.sighting, record) for o in outcomes for record in o.changes.removed]
    if gone:
        await connection.execute(
            REMOVE, [record.id for _, record in gone], [sighting.seen_at for sighting, _ in gone]
        )


async def _remember(connection: Connection, outcomes: Sequence[StoredOutcome]) -> None:
    lines = [(o.sighting, *line) for o in outcomes for line in _history(o)]
    if lines:
        await connection.execute(
            REMEMBER,
            [record_id for _, record_id, _, _ in lines],
            [sighting.page_id for sighting, *_ in lines],
            [sighting.snapshot_id for sighting, *_ in lines],
            [sighting.seen_at for sighting, *_ in lines],
            [state for _, _, state, _ in lines],
            [sighting.cause for sighting, *_ in lines],
            [change.name if change else None for *_, change in lines],
            [_json(change.before) if change else None for *_, change in lines],
            [_json(change.after) if change else None for *_, change in lines],
        )


def _history(outcome: StoredOutcome) -> Iterable[tuple[int, str, FieldChange | None]]:
    """Yield all history entries except those of new records, which are written with them."""
    for each in outcome.changes.changed:
        if each.state == "returned":
            yield each.known.id, "returned", None
        for change in each.fields:
            yield each.known.id, "changed", change
    for record in outcome.changes.removed:
        yield record.id, "removed", None


async def _describe(connection: Connection, outcomes: Sequence[StoredOutcome]) -> None:
    gone = [outcome.sighting.page_id for outcome in outcomes if outcome.page is None]
    if gone:
        await connection.execute(GONE, gone)
    read = [(o.sighting, o.page, o.changes.standing) for o in outcomes if o.page is not None]
    if not read:
        return
    readable = [page if page.is_read else None for _, page, _ in read]
    await connection.execute(
        DESCRIBE,
        [sighting.page_id for sighting, _, _ in read],
        [sighting.snapshot_id for sighting, _, _ in read],
        [sighting.domain_id for sighting, _, _ in read],
        [page and page.page_type for page in readable],
        [page and page.page_type_confidence for page in readable],
        [page and page.headline for page in readable],
        [page and page.main_text for page in readable],
        [page and page.markdown for page in readable],
        [page.metadata_json for _, page, _ in read],
        [page.flags_json for _, page, _ in read],
        [page.warnings_json for _, page, _ in read],
        [page.rejected_json for _, page, _ in read],
        [standing for *_, standing in read],
    )


def _json(value: object) -> str:
    return _encode(value).decode()
