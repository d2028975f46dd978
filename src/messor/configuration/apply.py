"""Applies a configuration in one transaction, through the services that people use."""

from __future__ import annotations

from collections import Counter

from messor.configuration.compare import section_changes, vertical_changes
from messor.configuration.files import Configuration
from messor.configuration.model import ApplyContext, PlannedChange
from messor.configuration.sections import SECTIONS
from messor.governance import block_policy
from messor.ledger.events import Event, record
from messor.store.database import Connection
from messor.verticals import verticals

# Two that apply at once follow each other; the second compares with what the first wrote.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('messor.configuration', 0))"


async def apply(
    connection: Connection, wanted: Configuration, how: ApplyContext, *, prune: bool = False
) -> list[PlannedChange]:
    """Make it so; returns what changed. An error leaves everything as it was.

    Verticals come first: what they set themselves is then compared with what the files say.
    """
    await connection.execute("SET LOCAL lock_timeout = '30s'")
    await connection.execute(LOCK)
    done = await vertical_changes(connection, wanted)
    for change in done:
        await verticals.apply(connection, wanted.verticals[change.name], actor=how.actor)
    while done and await block_policy.follow_verticals(connection):
        pass
    by_name = {section.name: section for section in SECTIONS}
    changes = await section_changes(connection, wanted, how, prune=prune)
    for change in changes:
        await by_name[change.section].apply(connection, change, how)
    done += changes
    if done:
        counts = Counter(f"{change.section}_{change.action}" for change in done)
        await record(connection, [Event("configuration.applied", how.actor, data=dict(counts))])
    return done
