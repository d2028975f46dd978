"""The orchestrators of this release; those whose work is done by other rooms are defined here."""

from __future__ import annotations

from datetime import datetime, timedelta

from messor.analytics import jobs as analytics_jobs
from messor.fetch import rollups
from messor.fetch.proxies.seal import seal_for
from messor.fetch.signing_keys import signing_key
from messor.frontier import images
from messor.governance import (
    block_policy,
    candidate_crawls,
    erasure,
    follow_up,
    live_notices,
    rest,
    retention,
)
from messor.governance.notices import Notices
from messor.insight import classes, scoring
from messor.insight.search_index import index_waiting
from messor.insight.search_server import jobs as search_jobs
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.ledger import sealer
from messor.mail import outbox
from messor.schedule.alerts import alerting
from messor.schedule.daily import DAILY
from messor.schedule.orchestrators import (
    Orchestrator,
    Registry,
    RunPosition,
    Step,
    StepResult,
    in_turn,
    repeated,
)
from messor.schedule.parsers import PARSERS
from messor.schedule.refresh import REFRESH
from messor.schedule.robots import ROBOTS
from messor.schedule.standing_exports import EXPORTS
from messor.schedule.sweeper import retention_months, sweeper
from messor.scout import expansion, judge_pending, serps, tiers, track
from messor.settings import Settings
from messor.store.database import Connection
from messor.verticals import verticals

AUDIT_JOB = "audit"
ARCHIVE_JOB = "archive"
ARCHIVE_WINDOW = timedelta(hours=12)
BACKUP_JOB = "backup"
AUDITED = timedelta(days=1)
AUDIT_WINDOW = timedelta(hours=12)
DOMAINS_PER_STEP = 200
CLASSIFIED_PER_STEP = 100
CANDIDATES_PER_STEP = 20
ANSWERS_PER_STEP = 50
JUDGED_PER_STEP = 50  # judging them is one transaction
KEYWORDS_PER_STEP = 1_000
NEW_KEYWORDS_PER_DAY = 100  # of a vertical: every keyword costs searches
IMAGES_PER_STEP = 500
NOTICES_PER_STEP = 20
MAILS_PER_STEP = 1_000

# Domains found by a search are classified by its results, and again once one of their pages was read.
READ_SINCE = """
SELECT DISTINCT c.domain FROM messor.candidates c JOIN messor.domain_classes k ON k.domain = c.domain
 WHERE c.crawled_at > k.classified_at AND k.decided_by IS NULL LIMIT $1
"""
HAS_RULES = "SELECT EXISTS (SELECT FROM messor.retention_rules)"
VERTICALS = "SELECT name FROM messor.verticals ORDER BY name OFFSET $1 LIMIT 1"


def standard_registry(settings: Settings) -> Registry:
    """The orchestrators of an installation."""
    known = [
        DAILY,
        sweeper(retention_months(settings)),
        ROBOTS,
        AUDIT,
        QUALITY,
        DOMAINS,
        INDEX,
        RETENTION,
    ]
    known += [ROLLUP, REFRESH, PARSERS, CLASSIFY, SCORE, JUDGE, CANDIDATES, KEYWORDS, EXPORTS]
    known += [noticing(settings), sealing_of(settings), ANALYTICS]
    known.append(alerting(settings))
    if settings.archive_url:
        known.append(ARCHIVE)
    if settings.backup_to:
        known.append(BACKUP)
    if settings.image_domains:
        known.append(imaging(settings))
    if settings.search_engines:
        known.append(SERP)
    if settings.search_server_url:
        known.append(SEARCH)
    return Registry(*known)


def _audit(subject: str, key: str) -> Step:
    """An audit is a job: it may read millions of rows and must not block the leader."""

    async def step(connection: Connection, _: RunPosition) -> StepResult:
        now: datetime = await connection.fetchval("SELECT messor.clock()")
        since = {"since": (now - AUDITED).isoformat()}
        job = NewJob(
            AUDIT_JOB,
            f"{key}:{now:%Y-%m-%d}",
            subject,
            payload=since if subject == "log" else {"subject": subject},
            priority=8,
            window_ends_at=now + AUDIT_WINDOW,
        )
        return StepResult({"audits_asked_for": len(await jobs.enqueue(connection, [job]))})

    return step


async def _retain(connection: Connection, place: RunPosition) -> StepResult:
    """Some snapshots per step, by id; the bytes of what went are erased by a job."""
    gone, edge = await retention.apply_window(connection, place.host_id)
    if edge is not None:
        return StepResult({"snapshots_removed": gone.total()}, RunPosition(host_id=edge))
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    job = NewJob(
        ARCHIVE_JOB,
        f"{ARCHIVE_JOB}:retention:{now:%Y-%m-%d}",
        "archive",
        payload={"after_retention": True},
        priority=8,
        window_ends_at=now + ARCHIVE_WINDOW,
    )
    has_rules = await connection.fetchval(HAS_RULES)
    asked = await jobs.enqueue(connection, [job]) if has_rules else []
    return StepResult({"archive_jobs": len(asked)})


async def _tidy_archive(connection: Connection, _: RunPosition) -> StepResult:
    """A job, because it moves gigabytes: one an hour."""
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    key = f"{ARCHIVE_JOB}:{now:%Y-%m-%d-%H}"
    job = NewJob(
        ARCHIVE_JOB, key, "archive", payload={}, priority=8, window_ends_at=now + ARCHIVE_WINDOW
    )
    return StepResult({"archive_jobs": len(await jobs.enqueue(connection, [job]))})


async def _back_up(connection: Connection, _: RunPosition) -> StepResult:
    """A job, because it reads everything: one an hour at most."""
    now: datetime = await connection.fetchval("SELECT messor.clock()")
    key = f"{BACKUP_JOB}:{now:%Y-%m-%d-%H}"
    job = NewJob(
        BACKUP_JOB, key, "backup", payload={}, priority=2, window_ends_at=now + ARCHIVE_WINDOW
    )
    return StepResult({"backups_asked_for": len(await jobs.enqueue(connection, [job]))})


async def _follow_domains(connection: Connection, place: RunPosition) -> StepResult:
    """One chore, then the next; erasures that visits delayed come last."""
    chores = (
        ("domains_returned", rest.return_rested),
        ("domains_recovered", follow_up.recovered),
        ("domains_failing", follow_up.failing),
        ("domains_changed_hands", follow_up.changed_hands),
        ("domains_turned_away", follow_up.turned_away),
    )
    if place.chore == len(chores):
        await erasure.finish(connection)
        return StepResult({})
    name, chore = chores[place.chore]
    count = await chore(connection, DOMAINS_PER_STEP)
    return StepResult({name: count}, RunPosition(place.chore + 1))


async def _roll_up(connection: Connection, _: RunPosition) -> StepResult:
    """Count an hour of the log per step, until all that has settled is counted."""
    more = await rollups.roll_up(connection)
    return StepResult({"stretches_counted": 1}, RunPosition() if more else None)


async def _classify_read(connection: Connection, limit: int) -> int:
    names = [row["domain"] for row in await connection.fetch(READ_SINCE, limit)]
    await classes.classify(connection, names)
    return len(names)


async def _score(connection: Connection, place: RunPosition) -> StepResult:
    """Score one vertical per step."""
    name = await connection.fetchval(VERTICALS, place.chore)
    if name is None:
        return StepResult({})
    done = await scoring.apply(connection, await verticals.get(connection, name))
    counts = {
        "domains_scored": done.domains,
        "organisations_scored": done.organisations,
        "domains_unknown": done.unknown,
        "levels_changed": done.levels_changed,
    }
    return StepResult(counts, RunPosition(place.chore + 1))


async def _judge(connection: Connection, place: RunPosition) -> StepResult:
    """Unprocessed search responses first; then one vertical after another."""
    if place.chore == 0:
        count = await serps.process_some(connection, ANSWERS_PER_STEP)
        following = place if count == ANSWERS_PER_STEP else RunPosition(1)
        return StepResult({"answers_processed": count}, following)
    applied = await verticals.listing(connection)
    if place.chore > len(applied):
        return StepResult({})
    judged = await judge_pending.judge_waiting(
        connection, applied[place.chore - 1], actor="O-Judge", limit=JUDGED_PER_STEP
    )
    following = place if judged.pages == JUDGED_PER_STEP else RunPosition(place.chore + 1)
    counts = {"pages_judged": judged.pages, "candidates_created": judged.candidates}
    return StepResult(counts, following)


async def _grow_keywords(connection: Connection, place: RunPosition) -> StepResult:
    """Expand, then rate the keywords of one vertical per step."""
    applied = await verticals.listing(connection)
    if place.chore >= len(applied):
        return StepResult({})
    vertical = applied[place.chore]
    grown = await expansion.expand(
        connection, vertical, actor="O-Keywords", most=NEW_KEYWORDS_PER_DAY
    )
    rated = await tiers.apply(connection, vertical, actor="O-Keywords")
    counts = {
        "keywords_added": grown.new,
        "keywords_rated": rated.measured,
        "tiers_changed": rated.changed,
        "keywords_pruned": rated.pruned,
    }
    return StepResult(counts, RunPosition(place.chore + 1))


async def _track_keywords(connection: Connection, place: RunPosition) -> StepResult:
    """One vertical after another, until no keyword is due in this window."""
    applied = await verticals.listing(connection)
    if place.chore >= len(applied):
        return StepResult({"snapshots_asked_for": 0})
    requested = await track.ask_for_jobs(connection, applied[place.chore].id, KEYWORDS_PER_STEP)
    following = place if requested == KEYWORDS_PER_STEP else RunPosition(place.chore + 1)
    return StepResult({"snapshots_asked_for": requested}, following)


async def _send_to_search_server(connection: Connection, _: RunPosition) -> StepResult:
    return StepResult({"sendings_asked_for": await search_jobs.ask_to_send(connection)})


async def _ask_for_analytics(connection: Connection, _: RunPosition) -> StepResult:
    """A job, because the first run copies everything."""
    new = await analytics_jobs.ask(connection)
    return StepResult({"analytics_jobs": int(new is not None)})


def noticing(settings: Settings) -> Orchestrator:
    """The orchestrator that writes to submitters, with the mail server of the settings."""
    told = Notices.of(settings)

    async def tell(connection: Connection, limit: int) -> int:
        return await live_notices.tell_live(connection, told, limit)

    return Orchestrator(
        "O-Notices",
        "tells submitters when the first pages of their domain were read; deletes old mails",
        "* * * * *",
        in_turn(
            repeated("domains_told", tell, NOTICES_PER_STEP),
            repeated("mails_deleted", outbox.forget_old, MAILS_PER_STEP),
        ),
    )


def sealing_of(settings: Settings) -> Orchestrator:
    """The orchestrator that seals the ledger, with the signing key of this installation."""
    seal = seal_for(settings)

    async def step(connection: Connection, place: RunPosition) -> StepResult:
        """Marks first, a transaction each; then some rows per step."""
        if place.chore == 0:
            await sealer.mark_ids(connection)
            return StepResult({}, RunPosition(1))
        if place.chore == 1:
            await sealer.mark_positions(connection)
            return StepResult({}, RunPosition(2))
        key = await signing_key(connection, seal)
        count = await sealer.seal_some(connection, key)
        return StepResult({"rows_sealed": count or 0}, place if count is not None else None)

    return Orchestrator(
        "O-Seal", "seals new rows of the ledger and of the log of requests", "* * * * *", step
    )


def imaging(settings: Settings) -> Orchestrator:
    """The orchestrator of an installation that downloads images of some domains."""
    names = [name.strip().lower() for name in settings.image_domains]

    async def step(connection: Connection, place: RunPosition) -> StepResult:
        # The position is the last image processed.
        await images.follow(connection, IMAGES_PER_STEP)
        done = await images.add_tasks(
            connection,
            place.host_id,
            names,
            per_page=settings.images_per_page,
            max_hops=IMAGES_PER_STEP,
            max_moves=settings.max_redirects,
        )
        counts = {"pictures_asked_for": done.tasks, "pictures_refused": done.refused}
        following = RunPosition(host_id=done.last) if done.looked_at == IMAGES_PER_STEP else None
        return StepResult(counts, following)

    does = "downloads product images of the domains named by MESSOR_IMAGE_DOMAINS"
    return Orchestrator("O-Images", does, "*/10 * * * *", step)


RETENTION = Orchestrator(
    "O-Retention",
    "removes old snapshots by the retention rules, unless they are held",
    "40 2 * * *",
    _retain,
)
AUDIT = Orchestrator(
    "O-Audit",
    "audits the last day's requests: delays, robots.txt, approval, Retry-After, risk",
    "20 3 * * *",
    _audit("log", "audit"),
)
ARCHIVE = Orchestrator(
    "O-Archive",
    "starts the job that merges small archive objects and deletes unreferenced ones",
    "25 * * * *",
    _tidy_archive,
)
BACKUP = Orchestrator(
    "O-Backup",
    "backs up database and archive to MESSOR_BACKUP_TO, and removes old backups, by a job",
    "20 2 * * *",
    _back_up,
)
QUALITY = Orchestrator(
    "O-Quality",
    "audits all records: completeness, evidence, duplicate products, current prices",
    "50 3 * * 0",
    _audit("records", "audit:records"),
)
DOMAINS = Orchestrator(
    "O-Domains",
    "resumes domains whose rest is over, and detects those that fail or changed hands",
    "*/5 * * * *",
    _follow_domains,
)
INDEX = Orchestrator(
    "O-Index",
    "adds newly extracted pages and records to the search index",
    "* * * * *",
    repeated("pages_indexed", index_waiting, 200),
)
SEARCH = Orchestrator(
    "O-Search",
    "sends new and changed documents to the search server",
    "* * * * *",
    _send_to_search_server,
)
ANALYTICS = Orchestrator(
    "O-Analytics",
    "brings the tables of analytics up to date from the change feed, by a job",
    "35 * * * *",
    _ask_for_analytics,
)
ROLLUP = Orchestrator(
    "O-Rollup", "counts requests by minute and by day, for charts", "* * * * *", _roll_up
)
CLASSIFY = Orchestrator(
    "O-Classify",
    "classifies new domains by kind of site",
    "45 * * * *",
    in_turn(
        repeated("domains_classified", classes.classify_waiting, CLASSIFIED_PER_STEP),
        repeated("domains_classified", _classify_read, CLASSIFIED_PER_STEP),
    ),
)
SCORE = Orchestrator(
    "O-Score",
    "scores organisations and sets the track levels of their domains",
    "0 5 * * mon",
    _score,
)
JUDGE = Orchestrator(
    "O-Judge",
    "judges result pages that have not been judged, and stores the candidates",
    "*/10 * * * *",
    _judge,
)
CANDIDATES = Orchestrator(
    "O-Candidates",
    "crawls candidates of approved domains, and submits those that were read for review",
    "*/5 * * * *",
    in_turn(
        repeated("policies_followed", block_policy.follow_verticals, CANDIDATES_PER_STEP),
        repeated("candidates_read", candidate_crawls.take_read, CANDIDATES_PER_STEP),
        repeated("candidates_unread", candidate_crawls.note_unread, CANDIDATES_PER_STEP),
        repeated("candidates_submitted", candidate_crawls.submit_ready, CANDIDATES_PER_STEP),
    ),
)
SERP = Orchestrator(
    "O-SERP",
    "queries search engines for keywords whose tier is due, and for new ones",
    "30 * * * *",
    _track_keywords,
)
KEYWORDS = Orchestrator(
    "O-Keywords",
    "adds keywords that result pages suggest, rates keywords, and prunes those without yield",
    "10 4 * * *",
    _grow_keywords,
)
