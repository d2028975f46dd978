"""Erasure: removes a domain, a page or a person's data, permanently.

Everything erased is on a list that is checked before anything is stored, and applied again after a
backup is restored. For a person the list holds only a hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from messor.archive import texts
from messor.core.ids import new_id
from messor.errors import UsageError
from messor.governance import purges
from messor.ledger.events import Event, record
from messor.parsers import trials
from messor.politeness import lanes
from messor.registry import domains
from messor.registry.domains import MAX_REASON, Domain, Submission, checked
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import Url, canonical, parse, url_hash

LIST = """
INSERT INTO messor.erasures (id, kind, key, reason, erased_by) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (kind, key) DO NOTHING
"""
LOCK_DOMAIN = "SELECT id FROM messor.domains WHERE domain = $1 FOR NO KEY UPDATE"
ERASED_URLS = "SELECT key FROM messor.erasures WHERE kind = 'url' AND strpos(key, $1) > 0"
FIND_PAGE = "SELECT id FROM messor.pages WHERE host_id = $1 AND url_hash = $2"
RECALL = """
UPDATE messor.lanes SET recall = CASE WHEN worker_id IS NOT NULL THEN token END WHERE host_id = $1
"""
# The hash stays, the address does not: a link to it is recognised and never followed.
TOMBSTONE = """
WITH page AS (
  INSERT INTO messor.pages (host_id, url_hash, url, found_by) VALUES ($1, $2, $3, 'manual')
  RETURNING id, host_id
)
INSERT INTO messor.crawl_tasks (page_id, host_id, status, due_at, refusal)
SELECT id, host_id, 'cancelled', NULL, 'erasure: this page was erased' FROM page
"""
FORGET = "SELECT messor.forget_pages($1, true)"
FORGET_WAITING = "DELETE FROM messor.submitted_urls WHERE url_hash = $1"

# What goes or is cut in this transaction is accounted for so where rows are sealed.
AS_ERASURE = "SELECT set_config('messor.removal', 'erasure', true)"
# What was written about a domain and by whom; its name and the fact of erasure remain.
CLEAN_DOMAIN = """
WITH submissions AS (DELETE FROM messor.domain_submissions WHERE domain_id = $1),
     urls AS (DELETE FROM messor.submitted_urls WHERE domain_id = $1),
     mails AS (DELETE FROM messor.mails WHERE domain_id = $1),
     notes AS (DELETE FROM messor.domain_notes WHERE domain_id = $1),
     looks AS (DELETE FROM messor.preflights WHERE domain_id = $1),
     facts AS (UPDATE messor.events SET data = data - '{context,url,title,note}'::text[]
                WHERE domain_id = $1)
UPDATE messor.domains SET submission_context = NULL, base_url = 'https://' || domain || '/',
       main_host_id = NULL WHERE id = $1
"""
# Search results about a domain. Responses that name it are removed whole: they cannot be cut, since
# their hash proves them. Their requests stay completed, so that no engine is queried, or paid,
# again.
FORGET_RESULTS = """
WITH named AS (SELECT DISTINCT snapshot_id FROM messor.serp_results WHERE domain = $1),
     answers AS (DELETE FROM messor.search_answers a USING named n, messor.serp_snapshots s
                  WHERE s.id = n.snapshot_id AND a.request_id = s.request_id),
     found AS (DELETE FROM messor.candidates WHERE domain = $1)
UPDATE messor.serp_results SET url = NULL, title = NULL, snippet = NULL WHERE domain = $1
"""
# Hosts are removed when no visit holds them: until then their lanes recall the visit.
DROP_HOSTS = """
DELETE FROM messor.hosts h USING messor.lanes l, messor.domains d, messor.erasures e
 WHERE l.host_id = h.id AND l.worker_id IS NULL AND d.id = h.domain_id
   AND e.kind = 'domain' AND e.key = d.domain AND d.status = 'blacklisted'
"""

# Every column that names an actor.
PEOPLE = (
    ("domains", "submitted_by"),
    ("domains", "reviewed_by"),
    ("domain_submissions", "submitted_by"),
    ("submitted_urls", "submitted_by"),
    ("domain_notes", "author"),
    ("preflights", "requested_by"),
    ("task_batches", "submitted_by"),
    ("ingestion_runs", "requested_by"),
    ("orbits", "owner"),
    ("flag_decisions", "decided_by"),
    ("relevance_models", "trained_by"),
    ("candidates", "assigned_to"),
    ("candidates", "reviewed_by"),
    ("keywords", "tier_set_by"),
    ("crawl_runs", "started_by"),
    ("discovery_sessions", "started_by"),
    ("domain_classes", "decided_by"),
    ("organisations", "created_by"),
    ("verticals", "applied_by"),
    ("vertical_versions", "applied_by"),
    ("corrections", "corrected_by"),
    ("entity_pairs", "decided_by"),
    ("traffic_limits", "set_by"),
    ("rankings", "learnt_by"),
    ("parser_pins", "pinned_by"),
    ("parser_trials", "started_by"),
    ("parser_trials", "decided_by"),
    ("schedules", "overridden_by"),
    ("schedule_runs", "started_by"),
    ("standstill", "actor"),
    ("traffic_halts", "halted_by"),
    ("traffic_halts", "lifted_by"),
    ("webhooks", "created_by"),
    ("watches", "created_by"),
    ("exports", "requested_by"),
    ("standing_exports", "created_by"),
    ("domain_uses", "set_by"),
    ("use_permissions", "granted_by"),
    ("use_permissions", "revoked_by"),
    ("scrape_jobs", "actor"),
    ("key_policies", "set_by"),
    ("members", "created_by"),
    ("one_time_links", "created_by"),
    ("api_keys", "created_by"),
    ("api_keys", "revoked_by"),
    ("price_approvals", "approved_by"),
    ("price_approvals", "revoked_by"),
    ("retention_rules", "created_by"),
    ("retention_holds", "held_by"),
    ("events", "actor"),
)
RENAME = """
UPDATE messor.{table} SET {column} = 'erased-' || left($1, 12)
 WHERE messor.person_key({column}) = $1
"""
FORGET_CONTACT = """
UPDATE messor.domain_submissions SET contact = NULL,
       submitted_by = CASE WHEN submitter_type = 'public_user' AND submitted_by NOT LIKE 'member:%'
                           THEN 'erased-' || left($1, 12)
                           ELSE submitted_by END
 WHERE messor.person_key(contact) = $1
"""
FORGET_MAILS = "DELETE FROM messor.mails WHERE messor.person_key(recipient) = $1"
FORGET_OWNER = """
UPDATE messor.owner_requests SET contact = NULL WHERE messor.person_key(contact) = $1
"""
FORGET_WATCHES = "DELETE FROM messor.watches WHERE messor.person_key(recipient) = $1"
FORGET_NAMES = """
UPDATE messor.events SET data = data - 'submitted_by' WHERE messor.person_key(data ->> 'submitted_by') = $1
"""
MENTIONS = """
SELECT DISTINCT p.url FROM messor.snapshot_texts t
  JOIN messor.page_snapshots s ON s.id = t.snapshot_id JOIN messor.pages p ON p.id = s.page_id
 WHERE strpos(lower(t.markdown), lower($1)) > 0 ORDER BY p.url LIMIT $2
"""
ARCHIVED = """
SELECT s.id, p.url FROM messor.page_snapshots s JOIN messor.pages p ON p.id = s.page_id
 WHERE s.text_segment_id IS NOT NULL AND s.id > $1 ORDER BY s.id LIMIT $2
"""
LISTED = "SELECT kind, key, reason, erased_by FROM messor.erasures ORDER BY created_at, id"


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure."""

    kind: Literal["domain", "url", "person"]
    key: str
    message: str


async def erase_domain(connection: Connection, name: str, *, actor: str, reason: str) -> Erased:
    """Remove everything about a domain except its name, which is blacklisted."""
    why = _why(reason)
    submission = Submission.understand(name)
    await domains.submit(connection, submission, actor=actor, submitter_type="system")
    domain = await domains.lock(connection, submission.domain)
    if domain.status != "blacklisted":
        domain = await domains.move(
            connection, domain, "blacklisted", actor=actor, reason=f"erased: {why}"
        )
    await connection.execute(AS_ERASURE)
    await purges.forget(connection, domain, logs=True)
    await connection.execute(CLEAN_DOMAIN, domain.id)
    await connection.execute(FORGET_RESULTS, domain.domain)
    await _list(connection, "domain", domain.domain, why, actor)
    await record(connection, [Event("domain.erased", actor, domain.id, data={"reason": why})])
    await connection.execute(DROP_HOSTS)
    return Erased(
        "domain", domain.domain, f"{domain.domain} was erased and will never be stored again."
    )


async def erase_url(connection: Connection, text: str, *, actor: str, reason: str) -> Erased:
    """Remove a page and everything derived from it; it is not fetched again."""
    why, url = _why(reason), parse(text.strip())
    if url is None:
        raise UsageError(f"{text[:200]!r} is not a web address such as https://example.org/page.")
    await _list(connection, "url", canonical(url), why, actor)
    await _remove_page(connection, url)
    await record(connection, [Event("url.erased", actor, data={"reason": why})])
    return Erased("url", canonical(url), f"{url.href} was erased and will never be stored again.")


async def erase_person(connection: Connection, who: str, *, actor: str, reason: str) -> Erased:
    """Remove a person's identity from everything they did; the records of it remain, anonymous."""
    why = _why(reason)
    if checked(who, "name", 320) is None:
        raise UsageError("Name whose data to erase: the name or address they are known by.")
    key: str = await connection.fetchval("SELECT messor.person_key($1)", who)
    await _list(connection, "person", key, why, actor)
    await _forget_person(connection, key)
    await record(connection, [Event("person.erased", actor, data={"reason": why, "key": key})])
    return Erased(
        "person", key, "Their data was erased; their contact details will not be stored again."
    )


async def mentions(database: Database, text: str, limit: int = 100) -> Sequence[str]:
    """URLs of stored pages that contain a name, to be erased one by one.

    Texts in the archive are read one after the other: that takes its time.
    """
    wanted = text.strip()
    if not wanted:
        raise UsageError("Give a name to search for.")
    urls = {row["url"] for row in await database.fetch(MENTIONS, wanted, limit)}
    after = 0
    while len(urls) < limit and (rows := await database.fetch(ARCHIVED, after, texts.AT_ONCE)):
        after = rows[-1]["id"]
        found = await texts.texts(database, [row["id"] for row in rows])
        for row in rows:
            if row["id"] in found and wanted.lower() in found[row["id"]].markdown.lower():
                urls.add(row["url"])
    return sorted(urls)[:limit]


async def finish(connection: Connection) -> None:
    """Complete erasures that waited for visits in progress. Called periodically."""
    await purges.forget_again(connection)
    await connection.execute(DROP_HOSTS)


async def replay(database: Database) -> int:
    """Apply the whole erasure list again after a backup was restored; returns how many."""
    rows = await database.fetch(LISTED)
    for row in rows:
        async with database.transaction() as connection:
            if row["kind"] == "domain":
                await erase_domain(
                    connection, row["key"], actor=row["erased_by"], reason=row["reason"]
                )
            elif row["kind"] == "url" and (url := parse(row["key"])) is not None:
                await _remove_page(connection, url)
            elif row["kind"] == "person":
                await _forget_person(connection, row["key"])
    return len(rows)


def _why(reason: str) -> str:
    why = checked(reason, "reason", MAX_REASON)
    if why is None:
        raise UsageError("Give a reason for the erasure.")
    return why


async def _list(connection: Connection, kind: str, key: str, reason: str, actor: str) -> None:
    await connection.execute(LIST, new_id(), kind, key, reason, actor)


async def _remove_page(connection: Connection, url: Url) -> None:
    """Remove a page; where its domain is known its hash stays, so that no link leads to it."""
    name = Submission.understand(url.href).domain
    domain_id = await connection.fetchval(
        LOCK_DOMAIN, name
    )  # before lanes and pages, as in a flush
    await connection.execute(FORGET_WAITING, url_hash(url))
    await trials.forget(connection, url.href)
    if domain_id is None:
        return
    host_id = await lanes.open_host(connection, domain_id, url.authority)
    page_id = await connection.fetchval(FIND_PAGE, host_id, url_hash(url))
    if page_id is not None:
        await connection.execute(RECALL, host_id)
        await connection.execute(FORGET, [page_id])
    await connection.execute(TOMBSTONE, host_id, url_hash(url), f"{url.origin}/")


async def bar_erased(connection: Connection, domain: Domain) -> int:
    """Before a domain is crawled: bar links to its erased pages."""
    barred = 0
    for row in await connection.fetch(ERASED_URLS, domain.domain):
        url = parse(row["key"])
        if url is not None and registrable_domain(url.host) == domain.domain:
            await _remove_page(connection, url)
            barred += 1
    return barred


async def _forget_person(connection: Connection, key: str) -> None:
    await connection.execute(AS_ERASURE)
    for table, column in PEOPLE:
        await connection.execute(RENAME.format(table=table, column=column), key)
    await connection.execute(FORGET_CONTACT, key)
    await connection.execute(FORGET_MAILS, key)
    await connection.execute(FORGET_WATCHES, key)
    await connection.execute(FORGET_OWNER, key)
    await connection.execute(FORGET_NAMES, key)
