"""The vertical of a domain: proposed by its submitter, guessed from what is known, set by a reviewer.

With a vertical a domain's pages are flagged, read by a model and counted as productive or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from messor.errors import UsageError
from messor.insight.relevance import backlog
from messor.insight.relevance.guess import VerticalGuess, guess
from messor.insight.relevance.topics import BELONGS
from messor.registry import notes, preflights, submissions
from messor.registry.domains import Domain
from messor.registry.preflights import Preflight
from messor.registry.submissions import PastSubmission
from messor.store.database import Connection, Database
from messor.verticals import verticals

NAMES = "SELECT name FROM messor.verticals ORDER BY name"
OFFERED = "SELECT name, title FROM messor.verticals ORDER BY title, name"
MEMBERSHIP = f"""
SELECT v.name, v.title, {BELONGS} AS belongs
  FROM messor.domains d CROSS JOIN messor.verticals v WHERE d.id = $1 ORDER BY v.title, v.name
"""


async def offered(source: Connection | Database) -> dict[str, str]:
    """Titles of the applied verticals by name, for a person to choose from."""
    return {row["name"]: row["title"] for row in await source.fetch(OFFERED)}


async def check_applied(source: Connection | Database, vertical: str | None) -> str | None:
    """A vertical's name as given, None if blank; an error unless it is applied."""
    name = (vertical or "").strip() or None
    if name is None:
        return None
    applied = [row["name"] for row in await source.fetch(NAMES)]
    if name not in applied:
        known = f"applied are {', '.join(applied)}" if applied else "none is applied"
        raise UsageError(
            f"{name[:63]!r} is not an applied vertical; {known}. Apply one: messor verticals apply NAME"
        )
    return name


async def assign(
    connection: Connection, domain: Domain, vertical: str | None, *, actor: str
) -> Domain:
    """Set a domain's vertical, or clear it; pages extracted before are judged by a job."""
    name = await check_applied(connection, vertical)
    changed = await notes.set_vertical(connection, domain, name, actor=actor)
    if name is not None and name != domain.vertical:
        await backlog.request_flags(connection, changed.id, name)
    return changed


async def of_domain(source: Connection | Database, domain: Domain) -> list[str]:
    """All verticals a domain belongs to: by its own, by organisations and by candidates."""
    found = await membership(source, domain)
    return [name for name, (_, belongs) in found.items() if belongs]


async def membership(source: Connection | Database, domain: Domain) -> dict[str, tuple[str, bool]]:
    """Title of every applied vertical by name, and whether the domain belongs to it."""
    rows = await source.fetch(MEMBERSHIP, domain.id)
    return {row["name"]: (row["title"], row["belongs"]) for row in rows}


@dataclass(frozen=True, slots=True)
class VerticalChoice:
    """The verticals a reviewer may choose from, and the one to offer first."""

    titles: dict[str, str]  # by name
    guess: VerticalGuess | None


async def choice(
    source: Connection | Database, said: Sequence[PastSubmission], look: Preflight | None
) -> VerticalChoice:
    """What to offer for a domain with these submissions and this pre-flight."""
    applied = [one.vertical for one in await verticals.listing(source)]
    report = look.report if look else None
    words = [one.context or "" for one in said] + ([report.title or ""] if report else [])
    found = guess(applied, " ".join(words), (report.description or "") if report else "")
    return VerticalChoice({one.name: one.title for one in applied}, found)


async def guess_for(source: Connection | Database, domain: Domain) -> VerticalGuess | None:
    """Guess a domain's vertical from its submissions and its pre-flight."""
    said = await submissions.past(source, domain)
    return (await choice(source, said, await preflights.newest(source, domain))).guess


async def sentence(source: Connection | Database, domain: Domain) -> str:
    """What an approval means for relevance; empty if no vertical is applied."""
    known = await membership(source, domain)
    if names := [name for name, (_, belongs) in known.items() if belongs]:
        return f" Its pages are judged for {', '.join(names)}."
    if not known:
        return ""
    found = await guess_for(source, domain)
    name = found.vertical if found else "NAME"
    hint = f" It looks like {found.title}." if found else ""
    return (
        f" It has no vertical, so its pages are not flagged.{hint}"
        f" Set one: messor domains vertical {domain.domain} {name}"
    )
