"""The job `flag`: judges pages that were extracted before their domain had a vertical.

It reads stored text only and asks no model: what stays undecided waits for a reviewer, or for the
page's next change.
"""

from __future__ import annotations

from functools import partial
from uuid import UUID

import msgspec

from messor.core.ids import new_id
from messor.insight.relevance.flags import PageText
from messor.insight.relevance.store import JudgedPage, keep_flags
from messor.insight.relevance.topics import Topics, Want
from messor.jobs.handlers import LONG_SECONDS, Effects, Handlers, Result
from messor.jobs.jobs import Job, NewJob, enqueue
from messor.settings import Settings
from messor.store.database import Connection, Database

JOB_TYPE = "flag"
BATCH = 200

HAS_PAGES = "SELECT EXISTS (SELECT FROM messor.extractions WHERE domain_id = $1)"
# Pages as the flags of just extracted ones are judged: read well, and no error page.
UNFLAGGED = """
SELECT x.page_id, x.snapshot_id, coalesce(x.metadata ->> 'title', x.headline, '') AS title,
       coalesce(x.main_text, '') AS text
  FROM messor.extractions x
 WHERE x.domain_id = $1 AND x.page_id > $3 AND x.snapshot_id IS NOT NULL
   AND x.page_type IS DISTINCT FROM 'error'
   AND NOT EXISTS (SELECT FROM messor.page_flags f
                    WHERE f.page_id = x.page_id AND f.vertical = $2)
 ORDER BY x.page_id LIMIT $4
"""


class FlagRequest(msgspec.Struct):
    """The job's payload."""

    domain: UUID
    vertical: str


async def request_flags(connection: Connection, domain_id: UUID, vertical: str) -> bool:
    """Enqueue the job if the domain has extracted pages; returns whether it has."""
    if not await connection.fetchval(HAS_PAGES, domain_id):
        return False
    payload = {"domain": str(domain_id), "vertical": vertical}
    key = f"{JOB_TYPE}:{domain_id}:{vertical}:{new_id()}"
    await enqueue(connection, [NewJob(JOB_TYPE, key, "domain", domain_id, payload=payload)])
    return True


def register(handlers: Handlers, _: Settings, database: Database) -> None:
    """Register the job's handler in a process."""
    topics = Topics()

    @handlers.prepares(JOB_TYPE, limit_seconds=LONG_SECONDS)
    async def flag(job: Job) -> Effects:
        request = msgspec.convert(job.payload, FlagRequest)
        return partial(_report, await flag_backlog(database, topics, request))


async def flag_backlog(database: Database, topics: Topics, request: FlagRequest) -> int:
    """Judge the domain's unflagged pages in batches; returns how many."""
    done, last = 0, -1
    while True:
        async with database.transaction() as connection:
            wants = (await topics.of_domains(connection, [request.domain])).get(request.domain, [])
            want = next((one for one in wants if one.vertical == request.vertical), None)
            if want is None:  # it has another vertical by now
                return done
            judged = await _judge(connection, request.domain, want, last)
            await keep_flags(connection, judged)
        if not judged:
            return done
        done, last = done + len(judged), judged[-1].page_id


async def _judge(
    connection: Connection, domain_id: UUID, want: Want, last: int
) -> list[JudgedPage]:
    rows = await connection.fetch(UNFLAGGED, domain_id, want.vertical, last, BATCH)
    return [
        JudgedPage(
            row["page_id"],
            row["snapshot_id"],
            want.vertical,
            want.flagger.judge(PageText(row["title"], row["text"])),
            domain_id,
        )
        for row in rows
    ]


async def _report(pages: int, _: Connection) -> Result:
    return {"pages": pages}
