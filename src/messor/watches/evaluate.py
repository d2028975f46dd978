"""Evaluation: turns changes into alerts, each exactly once, for all watches together.

A batch of the change feed and the position after it are handled in one transaction, with a number
of statements that does not depend on how many watches there are. What looks too odd is held back
until its page was looked at again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from messor.errors import CursorExpiredError
from messor.feed.queries import START, Change, ChangeFilter, read_after
from messor.records.titles import title_of
from messor.rights.release import Purpose, release
from messor.store.database import Connection, Database
from messor.store.listing import Position, Source
from messor.watches.conditions import Condition, Noun, is_implausible, numbers, sentence
from messor.watches.due_times import due_at
from messor.watches.nouns import WatchedRow, fitting, nouns_of, pair_of
from messor.watches.ranks import lost_ranks
from messor.watches.watches import COLUMNS, Watch

BATCH = 2_000
MANY = 10  # products of a shop whose prices change together
MOST_OF_SHOP = 0.8
_COMPARED = frozenset(("domain", "id"))  # filters that need no rows

# One process evaluates at a time; another waits for nothing.
TAKE = "SELECT tx::text, change_id::text FROM messor.watch_position FOR UPDATE SKIP LOCKED"
ADVANCE = "UPDATE messor.watch_position SET tx = $1::text::xid8, change_id = $2"
ACTIVE = f"SELECT {COLUMNS} FROM messor.watches w WHERE w.is_active ORDER BY w.id"
ADD = """
INSERT INTO messor.watch_alerts (watch_id, key, subject, page_id, record_id, message, url, details, state,
                                 due_at)
SELECT g.watch_id, g.key, g.subject, g.page_id, g.record_id, g.message, g.url, g.details, g.state, g.due_at
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
              $8::jsonb[], $9::text[], $10::timestamptz[])
       AS g (watch_id, key, subject, page_id, record_id, message, url, details, state, due_at)
ON CONFLICT (watch_id, key) DO NOTHING
"""
NAMES = """
SELECT id, kind, data::text AS data FROM messor.records WHERE id = ANY ($1::bigint[])
"""
STOCK = """
SELECT d.domain, (SELECT count(*) FROM messor.products q
                   WHERE q.domain_id = d.id AND q.state = 'current') AS products
  FROM messor.domains d WHERE d.domain = ANY ($1::text[])
"""


_Place = tuple[Noun, str | None, str | None]  # a noun, a domain or any, a thing or any


@dataclass(frozen=True, slots=True)
class Telling:
    """What a watch has to tell about a change."""

    watch: Watch
    change: Change
    message: str
    is_odd: bool = False


async def evaluate(database: Database, limit: int = BATCH) -> int | None:
    """Evaluate the next batch; returns how many changes it had, None if there is nothing to do."""
    async with database.transaction() as connection:
        at = await connection.fetchrow(TAKE)
        if at is None:  # another process is at it
            return None
        changes, reached, has_more = await _next(connection, Position(*at), limit)
        watches = [Watch.of(row) for row in await connection.fetch(ACTIVE)] if changes else []
        tellings = [one for one in await find(connection, watches, changes) if _is_recent(one)]
        leaving = await release(connection, Purpose.ALERT, tellings, lambda one: one.change.page_id)
        await add_alerts(connection, leaving)
        if reached != Position(*at):
            await connection.execute(ADVANCE, reached.value, int(reached.key))
    return len(changes) if changes or has_more else None


async def _next(
    connection: Connection, at: Position, limit: int
) -> tuple[list[Change], Position, bool]:
    """The next changes; after a long standstill those that are still kept, as no alert doubles."""
    try:
        return await read_after(connection, ChangeFilter(), at, limit)
    except CursorExpiredError:
        return await read_after(connection, ChangeFilter(), START, limit)


def _is_recent(one: Telling) -> bool:
    since = one.watch.active_since
    return since is None or one.change.occurred_at >= since


async def find(
    source: Source, watches: Sequence[Watch], changes: Sequence[Change]
) -> list[Telling]:
    """What the watches tell about changes, in commit order."""
    if not watches or not changes:
        return []
    by_noun = _candidates(watches, changes)
    matched: list[tuple[int, int]] = []
    for noun, pairs in by_noun.items():
        matched += await _matched(source, noun, watches, pairs)
    tellings = await _told(source, watches, changes, sorted(matched, key=lambda one: one[::-1]))
    tellings += await lost_ranks(source, watches, changes, Telling)
    odd_shops = await _odd_shops(source, changes)
    return [
        Telling(one.watch, one.change, one.message, is_odd=_is_odd(one.change, odd_shops))
        for one in tellings
    ]


def _candidates(
    watches: Sequence[Watch], changes: Sequence[Change]
) -> dict[Noun, list[WatchedRow]]:
    """Pairs whose condition holds: each distinct condition of a noun, domain and thing is tried once."""
    groups: dict[_Place, dict[Condition, list[int]]] = defaultdict(dict)
    for number, watch in enumerate(watches):
        thing = watch.filters.get("id")
        place = groups[
            watch.noun, watch.filters.get("domain"), None if thing is None else str(thing)
        ]
        place.setdefault(watch.condition, []).append(number)
    found: dict[Noun, list[WatchedRow]] = defaultdict(list)
    for number, change in enumerate(changes):
        for noun in nouns_of(change):
            thing = pair_of(noun, 0, number, change).key
            places: list[_Place] = [
                (noun, of, one) for of in {change.domain, None} for one in (thing, None)
            ]
            for at in places:
                for condition, numbers_ in groups.get(at, {}).items():
                    if sentence(condition, change) is not None:
                        found[noun] += [pair_of(noun, one, number, change) for one in numbers_]
    return found


async def _matched(
    source: Source, noun: Noun, watches: Sequence[Watch], pairs: Sequence[WatchedRow]
) -> list[tuple[int, int]]:
    """Domain and id were compared already; only other filters need their rows."""
    rest = {
        one.watch: {k: v for k, v in watches[one.watch].filters.items() if k not in _COMPARED}
        for one in pairs
    }
    given = {number: filters for number, filters in rest.items() if filters}
    plain = [(one.watch, one.change) for one in pairs if one.watch not in given]
    fit = await fitting(source, noun, [one for one in pairs if one.watch in given], given)
    return [*plain, *fit]


async def _told(
    source: Source,
    watches: Sequence[Watch],
    changes: Sequence[Change],
    matched: Sequence[tuple[int, int]],
) -> list[Telling]:
    ids = sorted({changes[n].record_id or 0 for _, n in matched} - {0})
    rows = await source.fetch(NAMES, ids) if ids else []
    names = {row["id"]: title_of(row["kind"], msgspec.json.decode(row["data"])) for row in rows}
    found = []
    for watch, number in matched:
        change = changes[number]
        message = sentence(watches[watch].condition, change, names.get(change.record_id or 0))
        if message is not None:
            found.append(Telling(watches[watch], change, message))
    return found


async def _odd_shops(source: Source, changes: Sequence[Change]) -> set[str]:
    """Shops of which nearly all prices changed at once."""
    moved: dict[str, set[int]] = defaultdict(set)
    for one in changes:
        if one.product_id and one.domain and None not in numbers(one, "price"):
            moved[one.domain].add(one.product_id)
    many = Counter({domain: len(ids) for domain, ids in moved.items() if len(ids) >= MANY})
    if not many:
        return set()
    rows = await source.fetch(STOCK, sorted(many))
    return {row["domain"] for row in rows if many[row["domain"]] >= MOST_OF_SHOP * row["products"]}


def _is_odd(change: Change, odd_shops: set[str]) -> bool:
    if is_implausible(change):
        return True
    return change.domain in odd_shops and None not in numbers(change, "price")


async def add_alerts(connection: Connection, tellings: Sequence[Telling]) -> None:
    if not tellings:
        return
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    await connection.execute(
        ADD,
        [one.watch.id for one in tellings],
        [one.change.id for one in tellings],
        [one.change.subject for one in tellings],
        [one.change.page_id for one in tellings],
        [one.change.record_id for one in tellings],
        [one.message for one in tellings],
        [one.change.url for one in tellings],
        [msgspec.json.encode(details_of(one.change)).decode() for one in tellings],
        ["held" if one.is_odd else "due" for one in tellings],
        [due_at(one.watch, now) for one in tellings],
    )


def details_of(change: Change) -> Mapping[str, Any]:
    """What an alert keeps of its change."""
    return {
        "change": change.id,
        "state": change.state,
        "domain": change.domain,
        "before": change.before,
        "after": change.after,
        "evidence": change.evidence,
        "seen_at": change.seen_at,
    }
