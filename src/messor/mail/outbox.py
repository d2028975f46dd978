"""The outbox: mails waiting for the server, sent, failed, or to be sent by a person.

A mail and the job that delivers it are written in the caller's transaction, so nobody is told of
what did not happen. Old mails are deleted: they hold addresses.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from messor.core.ids import new_id
from messor.jobs.jobs import NewJob, enqueue
from messor.mail.server import is_address
from messor.store.database import Connection, Database

JOB_TYPE = "mail"
ATTEMPTS = 12  # over about four hours
KEPT = timedelta(days=90)
MAX_SUBJECT = 300

State = Literal["queued", "sent", "failed", "manual"]

COLUMNS = "id, kind, recipient, subject, body, state, last_error, created_at, sent_at"
ADD = f"""
INSERT INTO messor.mails (id, kind, domain_id, recipient, subject, body, state)
VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING {COLUMNS}
"""
OF_DOMAIN = f"""
SELECT {COLUMNS} FROM messor.mails WHERE domain_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2
"""
FORGET = """
WITH gone AS (
  DELETE FROM messor.mails WHERE id = ANY (ARRAY(
    SELECT id FROM messor.mails WHERE created_at < (SELECT messor.clock()) - $2::interval
     ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1
)
SELECT count(*)::int FROM gone
"""


@dataclass(frozen=True, slots=True)
class NewMail:
    """A mail to write: plain text to one address."""

    kind: str  # what it is about, such as domain_approved
    recipient: str
    subject: str
    body: str
    domain_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail in the outbox."""

    id: UUID
    kind: str
    recipient: str
    subject: str
    body: str
    state: State
    last_error: str | None
    created_at: datetime
    sent_at: datetime | None


async def post(connection: Connection, mail: NewMail, *, is_on: bool) -> Mail:
    """Put a mail into the outbox; without a mail server, or an address, a person has to send it."""
    queued = is_on and is_address(mail.recipient)
    row = await connection.fetchrow(
        ADD,
        new_id(),
        mail.kind,
        mail.domain_id,
        mail.recipient,
        " ".join(mail.subject.split())[:MAX_SUBJECT],
        mail.body,
        "queued" if queued else "manual",
    )
    assert row is not None
    made = Mail(**row)
    if queued:
        payload = {"mail": str(made.id)}
        key = f"{JOB_TYPE}:{made.id}"
        job = NewJob(JOB_TYPE, key, "mail", made.id, payload=payload, max_attempts=ATTEMPTS)
        await enqueue(connection, [job])
    return made


async def of_domain(source: Connection | Database, domain_id: UUID, limit: int = 20) -> list[Mail]:
    """Mails about a domain, newest first."""
    return [Mail(**row) for row in await source.fetch(OF_DOMAIN, domain_id, limit)]


async def forget_old(connection: Connection, limit: int) -> int:
    """Delete mails past their time; returns how many."""
    deleted: int = await connection.fetchval(FORGET, limit, KEPT)
    return deleted
