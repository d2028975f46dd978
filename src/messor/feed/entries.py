"""Entries of the log as stored, and the details that each kind looks up: a few statements per batch.

Details come from the tables of the rooms, so what was erased there is in no entry. An entry whose
thing is gone has none and is left out: its tombstone follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from messor.ledger.events import data_of
from messor.store.listing import Position, Source

# Looked up row by row: without statistics the server would scan whole tables otherwise.
PAGES = """
SELECT g.n, p.url, g.page_id, s.id AS snapshot_id, s.content_hash, s.data_hash, s.title, s.language,
       s.crawled_at, b.snapshot_id AS last_id, b.content_hash AS last_content_hash,
       b.data_hash AS last_data_hash, b.title AS last_title
  FROM unnest($1::text::int[], $2::text::bigint[], $3::text::bigint[], $4::timestamptz[])
         AS g (n, page_id, snapshot_id, seen_at)
 CROSS JOIN LATERAL (SELECT url FROM messor.pages WHERE id = g.page_id LIMIT 1) p
  LEFT JOIN LATERAL (SELECT id, encode(content_hash, 'hex') AS content_hash, title, language,
                            encode(data_hash, 'hex') AS data_hash, crawled_at
                       FROM messor.page_snapshots WHERE id = g.snapshot_id LIMIT 1) s ON true
  LEFT JOIN LATERAL (
    SELECT c.snapshot_id, encode(o.content_hash, 'hex') AS content_hash,
           encode(o.data_hash, 'hex') AS data_hash, o.title
      FROM (SELECT snapshot_id FROM messor.page_changes
             WHERE page_id = g.page_id AND seen_at < g.seen_at
             ORDER BY seen_at DESC LIMIT 1) c
     CROSS JOIN LATERAL (SELECT content_hash, data_hash, title FROM messor.page_snapshots
                          WHERE id = c.snapshot_id LIMIT 1) o) b ON true
"""
# The values of a record as they were: today's, with every later change undone.
RECORDS = """
SELECT g.n, r.page_id, g.record_id, q.id AS product_id, p.url, h.snapshot_id, h.cause,
       h.fields::text AS moved,
       CASE WHEN g.whole THEN coalesce(r.data || l.data, r.data)::text END AS whole,
       CASE WHEN r.snapshot_id = h.snapshot_id THEN r.fields::text END AS proofs
  FROM unnest($1::text::int[], $2::text::bigint[], $3::text::bigint[], $4::text::bigint[],
              $5::text::bool[]) AS g (n, record_id, first, last, whole)
 CROSS JOIN LATERAL (SELECT page_id, snapshot_id, data, fields FROM messor.records
                      WHERE id = g.record_id LIMIT 1) r
 CROSS JOIN LATERAL (SELECT url FROM messor.pages WHERE id = r.page_id LIMIT 1) p
 CROSS JOIN LATERAL (
   SELECT max(snapshot_id) AS snapshot_id, max(cause) AS cause,
          jsonb_object_agg(field, jsonb_build_array(before, after)) FILTER (WHERE field IS NOT NULL)
          AS fields
     FROM messor.record_changes WHERE record_id = g.record_id AND id BETWEEN g.first AND g.last) h
  LEFT JOIN LATERAL (SELECT id FROM messor.products WHERE record_id = g.record_id LIMIT 1) q ON true
  LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(field, before) AS data
      FROM (SELECT DISTINCT ON (field) field, before FROM messor.record_changes
             WHERE g.whole AND record_id = g.record_id AND id > g.last AND field IS NOT NULL
             ORDER BY field, id) x) l ON true
"""
EVENTS = """
SELECT g.n, e.type, e.actor, e.data::text AS data, g.tx || '-' || g.id AS event_id
  FROM unnest($1::int[], $2::text[], $3::bigint[]) AS g (n, tx, id)
 CROSS JOIN LATERAL (SELECT type, actor, data FROM messor.events
                      WHERE tx = g.tx::xid8 AND id = g.id LIMIT 1) e
"""
CANDIDATES = """
SELECT g.n, c.url, c.title, c.snippet, c.search_engine, c.search_query,
       round(c.confidence_score::numeric, 4)::float8 AS confidence
  FROM unnest($1::int[], $2::uuid[]) AS g (n, id)
 CROSS JOIN LATERAL (SELECT * FROM messor.candidates WHERE id = g.id LIMIT 1) c
"""
ORGANISATIONS = """
SELECT g.n, o.name, o.location, o.external_id, v.name AS vertical
  FROM unnest($1::int[], $2::uuid[]) AS g (n, id)
 CROSS JOIN LATERAL (SELECT * FROM messor.organisations WHERE id = g.id LIMIT 1) o
  JOIN messor.verticals v ON v.id = o.vertical_id
"""
SERPS = """
SELECT g.n, k.keyword_text AS keyword, p.name AS profile, s.engine, s.outcome, s.result_count AS results
  FROM unnest($1::int[], $2::uuid[]) AS g (n, id)
 CROSS JOIN LATERAL (SELECT * FROM messor.serp_snapshots WHERE id = g.id LIMIT 1) s
  JOIN messor.keywords k ON k.id = s.keyword_id JOIN messor.serp_profiles p ON p.id = s.serp_profile_id
"""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One row of the log."""

    tx: str
    number: int
    occurred_at: datetime
    seen_at: datetime | None
    kind: str
    state: str
    topic: str | None
    was: str | None
    subject: int | None
    subject_uuid: UUID | None
    domain: str | None
    ref_from: int | None
    ref_to: int | None

    @property
    def position(self) -> Position:
        return Position(self.tx, str(self.number))


class Details(msgspec.Struct, frozen=True):
    """What a kind knows beyond the log."""

    url: str | None = None
    page_id: int | None = None
    record_id: int | None = None
    product_id: int | None = None
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    evidence: dict[str, Any] | None = None


Numbered = list[tuple[int, Entry]]
_decode = msgspec.json.decode
WHOLE = frozenset(("new", "returned", "removed"))  # told with all values of the record


async def details_of(
    source: Source, entries: Sequence[Entry], *, whole: bool = False
) -> list[Details | None]:
    """The details of each entry, in order; None where the thing is gone.

    `whole` tells all values of records that changed, too.
    """
    found: list[Details | None] = [None] * len(entries)
    by_kind: dict[str, Numbered] = {}
    for number, entry in enumerate(entries):
        if entry.state == "erased" or entry.kind == "product":
            found[number] = _tombstone(entry)
        else:
            by_kind.setdefault(entry.kind, []).append((number, entry))
    if changed := by_kind.pop("record", None):
        for number, details in (await _records(source, changed, whole)).items():
            found[number] = details
    for kind, wanted in by_kind.items():
        if look_up := _LOOK_UPS.get(kind):
            for number, details in (await look_up(source, wanted)).items():
                found[number] = details
    return found


def _tombstone(entry: Entry) -> Details:
    if entry.kind == "product":
        return Details(page_id=entry.ref_from, record_id=entry.ref_to, product_id=entry.subject)
    page_id = entry.subject if entry.kind == "page" else entry.ref_from
    return Details(
        page_id=page_id if entry.kind in ("page", "snapshot", "record") else None,
        record_id=entry.subject if entry.kind == "record" else None,
    )


def _array(values: Iterable[int | bool | None]) -> str:
    """An array as PostgreSQL writes it: a list would be looked at value by value by the driver."""
    return ("{" + ",".join(map(str, values)) + "}").replace("None", "NULL")


async def _pages(source: Source, wanted: Numbered) -> dict[int, Details]:
    rows = await source.fetch(
        PAGES,
        _array(n for n, _ in wanted),
        _array(one.subject for _, one in wanted),
        _array(one.ref_from for _, one in wanted),
        [one.seen_at for _, one in wanted],
    )
    return {row["n"]: _page(row) for row in rows}


_SEEN = ("content_hash", "data_hash", "title")


def _page(row: Mapping[str, Any]) -> Details:
    before = after = evidence = None
    if row["last_id"] is not None:
        before = {"snapshot_id": row["last_id"], **{n: row[f"last_{n}"] for n in _SEEN}}
    if row["snapshot_id"] is not None:
        after = {"snapshot_id": row["snapshot_id"], **{name: row[name] for name in _SEEN}}
        after["language"] = row["language"]
        evidence = {"snapshot_id": row["snapshot_id"], "crawled_at": row["crawled_at"]}
    return Details(row["url"], row["page_id"], before=before, after=after, evidence=evidence)


async def _records(source: Source, wanted: Numbered, whole: bool) -> dict[int, Details]:
    rows = await source.fetch(
        RECORDS,
        _array(n for n, _ in wanted),
        _array(one.subject for _, one in wanted),
        _array(one.ref_from for _, one in wanted),
        _array(one.ref_to for _, one in wanted),
        _array(whole or one.state in WHOLE for _, one in wanted),
    )
    states = {n: one.state for n, one in wanted}
    return {row["n"]: _record(row, states[row["n"]]) for row in rows}


def _record(row: Mapping[str, Any], state: str) -> Details:
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    whole = row["whole"] and {k: v for k, v in _decode(row["whole"]).items() if v is not None}
    if state in WHOLE:
        before, after = (whole, None) if state == "removed" else (None, whole)
    else:
        moved = _decode(row["moved"]) if row["moved"] else {}
        before = {name: values[0] for name, values in moved.items()}
        after = whole or {name: values[1] for name, values in moved.items()}
    proofs = _decode(row["proofs"]) if row["proofs"] and after else {}
    fields = {
        name: proofs[name]["evidence"]
        for name in after or ()
        if name in proofs and proofs[name].get("evidence")
    }
    evidence = {"snapshot_id": row["snapshot_id"], "cause": row["cause"], "fields": fields}
    return Details(
        row["url"], row["page_id"], row["record_id"], row["product_id"], before, after, evidence
    )


async def _domains(source: Source, wanted: Numbered) -> dict[int, Details]:
    rows = await source.fetch(
        EVENTS,
        [n for n, _ in wanted],
        [one.tx for _, one in wanted],
        [one.ref_from for _, one in wanted],
    )
    return {
        row["n"]: Details(
            after=data_of(row["type"], row["data"]),
            evidence={"event_id": row["event_id"], "actor": row["actor"]},
        )
        for row in rows
    }


async def _candidates(source: Source, wanted: Numbered) -> dict[int, Details]:
    rows = await _by_uuid(source, CANDIDATES, wanted)
    entries = dict(wanted)
    return {
        number: Details(
            url=row.pop("url"),
            before=None if entries[number].was is None else {"status": entries[number].was},
            after={"status": entries[number].topic, **row},
        )
        for number, row in rows.items()
    }


async def _organisations(source: Source, wanted: Numbered) -> dict[int, Details]:
    rows = await _by_uuid(source, ORGANISATIONS, wanted)
    return {number: Details(after=row) for number, row in rows.items()}


async def _serps(source: Source, wanted: Numbered) -> dict[int, Details]:
    rows = await _by_uuid(source, SERPS, wanted)
    return {number: Details(after=row) for number, row in rows.items()}


async def _by_uuid(source: Source, sql: str, wanted: Numbered) -> dict[int, dict[str, Any]]:
    rows = await source.fetch(sql, [n for n, _ in wanted], [one.subject_uuid for _, one in wanted])
    found = [dict(row) for row in rows]
    return {row.pop("n"): row for row in found}


_LOOK_UPS: dict[str, Callable[[Source, Numbered], Any]] = {
    "page": _pages,
    "domain": _domains,
    "candidate": _candidates,
    "organisation": _organisations,
    "serp": _serps,
}
