"""Robots in force: which version of a host's robots.txt applies, and what it allows.

It applies to the scheme, host and port it was read from (RFC 9309 2.3). As in RFC 9309 2.3.1, a
4xx response allows everything; a 5xx, 429 or no response denies everything until a later attempt
succeeds.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec

from messor.ledger.decisions import Decision, deferred, denied
from messor.store.database import Connection, Database
from messor.web.robots import Robots, RobotsDecision
from messor.web.usage.robots_txt import RobotsUsage

SCHEMES = ("https", "http")
FRESH_SECONDS = 24 * 3600.0  # how long a good response applies
RETRY_SECONDS = 600.0  # before a robots.txt that failed is requested again
LONGEST_DELAY = 365 * 24 * 3600.0  # a longer Crawl-delay is capped at this

# A new version only if something changed; its crawl delay reaches the lane at once.
STORE = """
WITH given AS (
  SELECT g.* FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::smallint[],
                         $7::bytea[], $8::bytea[], $9::real[], $10::jsonb[], $11::text[],
                         $12::bool[], $13::text[], $14::jsonb[])
         AS g (host_id, token, verdict, reason, status_code, body, body_hash, crawl_delay, signals,
               scheme, spoke_https, https_error, usage_lines)
    JOIN messor.lanes l ON l.host_id = g.host_id AND l.token = g.token AND l.worker_id = $1
), old AS (
  SELECT g.host_id, g.scheme, r.id FROM given g JOIN messor.hosts h ON h.id = g.host_id
    JOIN messor.robots_files r ON r.verdict = g.verdict AND r.reason = g.reason
     AND r.body_hash = g.body_hash AND r.usage_lines IS NOT NULL
     AND r.id = CASE WHEN h.scheme = g.scheme THEN h.robots_id ELSE h.other_robots_id END
), new AS (
  INSERT INTO messor.robots_files (host_id, verdict, reason, status_code, body, body_hash,
                                   crawl_delay, signals, scheme, usage_lines)
  SELECT host_id, verdict, reason, status_code, body, body_hash, crawl_delay, signals, scheme,
         usage_lines
    FROM given WHERE (host_id, scheme) NOT IN (SELECT host_id, scheme FROM old)
  RETURNING id, host_id, scheme
), settled AS (
  SELECT g.host_id, max(g.crawl_delay) AS crawl_delay, bool_or(g.spoke_https) AS spoke_https,
         max(g.https_error) AS https_error,
         max(coalesce(n.id, o.id)) FILTER (WHERE g.scheme = 'https') AS https_id,
         max(coalesce(n.id, o.id)) FILTER (WHERE g.scheme = 'http') AS http_id
    FROM given g LEFT JOIN new n USING (host_id, scheme) LEFT JOIN old o USING (host_id, scheme)
   GROUP BY g.host_id
), paced AS (
  UPDATE messor.lanes l SET delay = greatest(l.delay, s.crawl_delay)
    FROM settled s WHERE l.host_id = s.host_id AND s.crawl_delay > l.delay
), chosen AS (
  -- Requests use the scheme that was read first, or http while https cannot be connected to.
  SELECT s.*, CASE WHEN s.https_error IS NOT NULL THEN 'http'
                   WHEN h.https_error IS NOT NULL AND s.spoke_https THEN 'https'
                   ELSE coalesce(h.scheme, CASE WHEN s.https_id IS NULL THEN 'http' ELSE 'https' END)
              END AS scheme,
         coalesce(s.https_id, CASE h.scheme WHEN 'https' THEN h.robots_id
                                            WHEN 'http' THEN h.other_robots_id END) AS https_now,
         coalesce(s.http_id, CASE h.scheme WHEN 'http' THEN h.robots_id
                                           WHEN 'https' THEN h.other_robots_id END) AS http_now
    FROM settled s JOIN messor.hosts h ON h.id = s.host_id
)
UPDATE messor.hosts h
   SET scheme = c.scheme,
       robots_id = CASE c.scheme WHEN 'https' THEN c.https_now ELSE c.http_now END,
       other_robots_id = CASE c.scheme WHEN 'https' THEN c.http_now ELSE c.https_now END,
       https_error = CASE WHEN NOT c.spoke_https THEN coalesce(c.https_error, h.https_error) END,
       spoke_https = h.spoke_https OR c.spoke_https,
       robots_checked_at = messor.clock(), updated_at = messor.clock()
  FROM chosen c WHERE h.id = c.host_id RETURNING h.id, c.https_id, c.http_id
"""

LOAD = """
SELECT id, verdict, reason, status_code, body, crawl_delay
  FROM messor.robots_files WHERE id = ANY ($1::bigint[])
"""


_encode = msgspec.json.Encoder().encode

NOTHING_SAID = RobotsUsage(())


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """One version of a robots.txt, as fetched."""

    verdict: str  # rules, allow_all, deny_all
    reason: str
    status_code: int | None
    body: bytes
    rules: Robots | None
    crawl_delay: float | None
    usage: RobotsUsage = field(default_factory=lambda: NOTHING_SAID)  # for this agent

    @property
    def signals(self) -> dict[str, str]:
        """Content-Signal lines."""
        return self.usage.signals

    @classmethod
    def from_response(
        cls, status: int | None, body: bytes, agent: str, error: str | None = None
    ) -> RobotsFile:
        """Interpret a response to /robots.txt; `status` None means no response, because of `error`."""
        if status is not None and 200 <= status < 300:
            rules = Robots.parse(body)
            delay = rules.crawl_delay(agent)
            delay = None if delay is None else min(delay, LONGEST_DELAY)
            # An error page in its place contains no rules; if it does, they apply.
            reason = "robots.txt is a web page" if rules.is_html else "robots.txt was read"
            return cls("rules", reason, status, body, rules, delay, RobotsUsage.read(body, agent))
        # A 304 to an unconditional request is not a response either.
        if status is None or status >= 500 or status in (304, 429):
            what = f"answered {status}"
            if status is None:
                what = f"gave no answer: {error}" if error else "gave no answer"
            return cls("deny_all", f"robots.txt {what}", status, b"", None, None)
        return cls("allow_all", f"robots.txt answered {status}", status, b"", None, None)

    @classmethod
    def out_of_reach(cls, host: str) -> RobotsFile:
        """A robots.txt on a host that may not be visited."""
        return cls(
            "deny_all",
            f"robots.txt is on {host}, which may not be visited",
            None,
            b"",
            None,
            None,
        )


@dataclass(frozen=True, slots=True)
class RobotsInForce:
    """A stored version, with the id that fetch rows refer to."""

    id: int
    file: RobotsFile

    def check(self, agent: str, url: str) -> RobotsDecision | None:
        """The rules' decision on a URL; None without rules."""
        return self.file.rules.check(agent, url) if self.file.rules else None

    def objection(self, agent: str, url: str) -> Decision | None:
        if self.file.verdict == "deny_all":
            return deferred(
                "robots", f"{self.file.reason}; nothing is fetched until it can be read"
            )
        decision = self.check(agent, url)
        if decision is None or decision.allowed:
            return None
        return denied("robots", decision.reason)


@dataclass(frozen=True, slots=True)
class Adopted:
    """A version to apply to one scheme of a host, under the lane's token."""

    host_id: int
    token: int
    scheme: str
    file: RobotsFile
    spoke_https: bool = False  # the host responded over https, even with a bad certificate
    https_error: str | None = None  # why http is used instead of https


async def store(
    connection: Connection, worker_id: int, adopted: Sequence[Adopted]
) -> dict[tuple[int, str], int]:
    """Store versions and apply them; return their ids by host and scheme."""
    newest = list({(each.host_id, each.scheme): each for each in adopted}.values())
    files = [each.file for each in newest]
    rows = await connection.fetch(
        STORE,
        worker_id,
        [each.host_id for each in newest],
        [each.token for each in newest],
        [file.verdict for file in files],
        [file.reason for file in files],
        [file.status_code for file in files],
        [file.body for file in files],
        [sha256(file.body).digest() for file in files],
        [file.crawl_delay for file in files],
        [_encode(file.signals).decode() if file.signals else None for file in files],
        [each.scheme for each in newest],
        [each.spoke_https for each in newest],
        [each.https_error for each in newest],
        [_encode(file.usage.lines).decode() for file in files],
    )
    found = {(row["id"], scheme): row[f"{scheme}_id"] for row in rows for scheme in SCHEMES}
    return {key: robots_id for key, robots_id in found.items() if robots_id is not None}


class RobotsCache:
    """Parsed versions by id, so that each worker parses the same rules once."""

    def __init__(self, database: Database, agent: str, size: int = 2000) -> None:
        self._database = database
        self._agent = agent
        self._size = size
        self._files: OrderedDict[int, RobotsInForce] = OrderedDict()

    def put(self, robots_id: int, file: RobotsFile) -> RobotsInForce:
        in_force = self._files[robots_id] = RobotsInForce(robots_id, file)
        while len(self._files) > self._size:
            self._files.popitem(last=False)
        return in_force

    async def get(self, ids: set[int]) -> dict[int, RobotsInForce]:
        """Return the requested versions, loading missing ones in one query."""
        missing = [robots_id for robots_id in ids if robots_id not in self._files]
        found = {robots_id: self._files[robots_id] for robots_id in ids - set(missing)}
        if missing:
            for row in await self._database.fetch(LOAD, missing):
                rules = Robots.parse(row["body"]) if row["verdict"] == "rules" else None
                file = RobotsFile(
                    row["verdict"],
                    row["reason"],
                    row["status_code"],
                    row["body"],
                    rules,
                    row["crawl_delay"],
                    RobotsUsage.read(row["body"], self._agent),
                )
                found[row["id"]] = self.put(row["id"], file)
        return found
