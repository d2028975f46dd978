"""Policies of API keys: what a person lets a key decide by itself.

A key with a policy approves domains on first use, to a depth, and may have so many pages fetched a
day. Only somebody who may review domains gives one, and it stands only as long as the key's member
may review them: a key never decides more than its member could.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from messor.access.errors import ForbiddenError, ThrottledError
from messor.access.keys import ApiKey
from messor.access.principal import Principal, authorise, authorise_for
from messor.access.roles import PERMISSIONS, Act
from messor.errors import UsageError
from messor.ledger.events import Event, record
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

ANY = "*"
MOST_DOMAINS = 1_000
DEFAULT_DEPTH = 2
DEFAULT_PAGES = 500
MOST_DEPTH = 100
MOST_PAGES = 1_000_000

COLUMNS = "key_id, domains, max_depth, pages_a_day, set_by, set_at"
SET = f"""
INSERT INTO messor.key_policies AS p (key_id, domains, max_depth, pages_a_day, set_by)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (key_id) DO UPDATE SET domains = excluded.domains, max_depth = excluded.max_depth,
   pages_a_day = excluded.pages_a_day, set_by = excluded.set_by, set_at = messor.clock()
RETURNING {COLUMNS}
"""
DROP = "DELETE FROM messor.key_policies WHERE key_id = $1 RETURNING true"
OF_KEYS = f"SELECT {COLUMNS} FROM messor.key_policies WHERE key_id = ANY ($1::uuid[])"

LEFT = """
SELECT p.pages_a_day - coalesce(u.pages, 0) FROM messor.key_policies p
  LEFT JOIN messor.key_usage u ON u.key_id = p.key_id
   AND u.day = (messor.clock() AT TIME ZONE 'UTC')::date
 WHERE p.key_id = $1
"""
LOCK_DAY = """
INSERT INTO messor.key_usage (key_id, day) VALUES ($1, (messor.clock() AT TIME ZONE 'UTC')::date)
ON CONFLICT (key_id, day) DO UPDATE SET pages = messor.key_usage.pages RETURNING pages
"""
ADD = """
UPDATE messor.key_usage SET pages = greatest(pages + $2, 0)
 WHERE key_id = $1 AND day = (messor.clock() AT TIME ZONE 'UTC')::date
"""
SWEEP = "DELETE FROM messor.key_usage WHERE day < (messor.clock() AT TIME ZONE 'UTC')::date - 40"


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """What a key decides by itself."""

    key_id: UUID
    domains: list[str]  # registrable domains, or `*` for any
    max_depth: int
    pages_a_day: int
    set_by: str
    set_at: datetime

    def covers(self, domain: str) -> bool:
        return ANY in self.domains or domain in self.domains


def understand_domains(given: Sequence[str]) -> list[str]:
    """Registrable domains of what was typed; `*` and `any` stand for every domain."""
    names: list[str] = []
    for text in (each.strip().lower() for each in given):
        if text in (ANY, "any"):
            return [ANY]
        url = parse(text if "://" in text else f"https://{text}")
        name = registrable_domain(url.host) if url is not None else None
        if name is None:
            raise UsageError(
                f"{text[:200]!r} is not a domain. Give one such as example.org, or any."
            )
        names.append(name)
    if not names:
        raise UsageError("A policy names at least one domain, or any.")
    if len(names) > MOST_DOMAINS:
        raise UsageError(f"A policy names at most {MOST_DOMAINS} domains; use any for all.")
    return sorted(set(names))


async def give(
    connection: Connection,
    key: ApiKey,
    *,
    domains: Sequence[str],
    by: Principal,
    max_depth: int = DEFAULT_DEPTH,
    pages_a_day: int = DEFAULT_PAGES,
) -> KeyPolicy:
    """Give a key a policy, or change it."""
    authorise_for(by, key.member_id)
    authorise(by, Act.DOMAINS_REVIEW)
    if by.key_id is not None:
        raise ForbiddenError("A key cannot change what keys decide. Log in to do it.")
    names = understand_domains(domains)
    if not 0 <= max_depth <= MOST_DEPTH:
        raise UsageError(f"The depth of a policy is between 0 and {MOST_DEPTH}, not {max_depth}.")
    if not 1 <= pages_a_day <= MOST_PAGES:
        raise UsageError(f"A policy allows 1 to {MOST_PAGES} pages a day, not {pages_a_day}.")
    row = await connection.fetchrow(SET, key.id, names, max_depth, pages_a_day, by.actor)
    assert row is not None
    data = {
        "key": str(key.id), "prefix": key.prefix, "domains": names, "max_depth": max_depth,
        "pages_a_day": pages_a_day,
    }  # fmt: skip
    await record(connection, [Event("key.policy_set", by.actor, data=data)])
    return KeyPolicy(**row)


async def drop(connection: Connection, key: ApiKey, *, by: Principal) -> bool:
    """Take a key's policy away; returns whether it had one."""
    authorise_for(by, key.member_id)
    if not await connection.fetchval(DROP, key.id):
        return False
    data = {"key": str(key.id), "prefix": key.prefix}
    await record(connection, [Event("key.policy_dropped", by.actor, data=data)])
    return True


async def of_keys(source: Connection | Database, key_ids: Sequence[UUID]) -> dict[UUID, KeyPolicy]:
    """The policies of keys that have one."""
    rows = await source.fetch(OF_KEYS, list(key_ids))
    return {row["key_id"]: KeyPolicy(**row) for row in rows}


async def of(source: Connection | Database, principal: Principal) -> KeyPolicy | None:
    """The caller's policy, while their member may review domains."""
    if principal.key_id is None or principal.role not in PERMISSIONS[Act.DOMAINS_REVIEW]:
        return None
    return (await of_keys(source, [principal.key_id])).get(principal.key_id)


async def take(connection: Connection, policy: KeyPolicy | None, pages: int) -> int:
    """Count pages to be fetched against the day's limit; returns how many are allowed.

    Raises ThrottledError if none is. A caller without a policy has no such limit.
    """
    if policy is None:
        return pages
    spent: int = await connection.fetchval(LOCK_DAY, policy.key_id)
    allowed = min(pages, policy.pages_a_day - spent)
    if allowed <= 0:
        raise ThrottledError(
            f"This key may have {policy.pages_a_day} pages fetched a day, and they are used up. "
            "Continue tomorrow (UTC), or have its policy raised: messor keys policy",
            3_600,
        )
    await connection.execute(ADD, policy.key_id, allowed)
    return allowed


async def give_back(connection: Connection, key_id: UUID, pages: int) -> None:
    """Return pages that were counted and not fetched."""
    await connection.execute(ADD, key_id, -pages)


async def left(source: Connection | Database, key_id: UUID) -> int | None:
    """How many pages a key may still have fetched today; None without a policy."""
    found: int | None = await source.fetchval(LEFT, key_id)
    return found


async def sweep(connection: Connection) -> None:
    """Forget old days. Run periodically."""
    await connection.execute(SWEEP)
