"""Topics of domains: what the verticals of a domain look for, and the judge for each.

A domain belongs to the vertical it was submitted or approved for, to one whose organisation owns
it, and to one that found a candidate there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from messor.insight.relevance.flags import ActiveClassifier, Flagger
from messor.insight.relevance.store import in_force
from messor.insight.relevance.topic import Topic
from messor.store.database import Connection, Database
from messor.verticals import verticals
from messor.verticals.model import Vertical

# Whether domain d belongs to vertical v.
BELONGS = """
(d.vertical = v.name
 OR EXISTS (SELECT FROM messor.organisation_domains o WHERE o.vertical_id = v.id AND o.domain = d.domain)
 OR EXISTS (SELECT FROM messor.candidates c WHERE c.domain_id = d.id AND c.vertical_id = v.id
               AND c.status NOT IN ('SKIPPED_LOW_CONFIDENCE', 'REJECTED')))
"""
OF_DOMAINS = f"""
SELECT d.id AS domain_id, d.domain, v.name, v.version, m.version AS learnt
  FROM messor.domains d CROSS JOIN messor.verticals v
  LEFT JOIN messor.relevance_models m ON m.vertical = v.name AND m.state = 'on'
 WHERE d.id = ANY ($1::uuid[]) AND {BELONGS}
 ORDER BY d.id, v.name
"""


@dataclass(frozen=True, slots=True)
class Want:
    """What one vertical wants of a domain's pages."""

    vertical: str
    kinds: tuple[str, ...]  # of records
    flagger: Flagger  # calls no model


def topic_of(vertical: Vertical) -> Topic:
    """The topic of a vertical's file, for judging pages."""
    relevance = vertical.relevance
    return Topic.of_terms(
        vertical.name, relevance.topic, relevance.terms, relevance.against, vertical.version
    )


async def topic_named(source: Connection | Database, name: str) -> Topic:
    """The topic of an applied vertical."""
    return topic_of((await verticals.get(source, name)).vertical)


class Topics:
    """Wants by domain; verticals and classifiers are loaded once per version."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int | None], Want]] = {}

    async def of_domains(
        self, connection: Connection, domain_ids: Iterable[UUID]
    ) -> dict[UUID, list[Want]]:
        """What is wanted of each domain; one without a vertical is omitted."""
        found: dict[UUID, list[Want]] = {}
        for row in await connection.fetch(OF_DOMAINS, sorted(set(domain_ids))):
            want = await self._want(connection, row["name"], (row["version"], row["learnt"]))
            found.setdefault(row["domain_id"], []).append(want)
        return found

    async def _want(
        self, connection: Connection, name: str, versions: tuple[int, int | None]
    ) -> Want:
        known = self._known.get(name)
        if known is not None and known[0] == versions:
            return known[1]
        vertical = (await verticals.get(connection, name)).vertical
        topic = topic_of(vertical)
        learnt: ActiveClassifier | None = None
        if versions[1] is not None:
            learnt = await in_force(connection, topic)
        want = Want(name, tuple(vertical.record_kinds), Flagger(topic, learnt=learnt))
        self._known[name] = (versions, want)
        return want
