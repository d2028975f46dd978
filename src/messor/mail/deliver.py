"""Delivery: the job that hands one mail to the server, retried until it is taken or refused.

If a process dies between the server's answer and the commit, the mail is sent again with the same
Message-ID.
"""

from __future__ import annotations

import asyncio
from functools import partial
from uuid import UUID

import msgspec

from messor.errors import UsageError
from messor.jobs.faults import JobError
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ledger.errors import Category
from messor.ledger.events import Event, record
from messor.mail.message import message_of
from messor.mail.outbox import COLUMNS, JOB_TYPE, Mail
from messor.mail.server import MailError, MailServer
from messor.settings import Settings
from messor.store.database import Connection, Database

ACTOR = "mail"

FIND = f"SELECT domain_id, {COLUMNS} FROM messor.mails WHERE id = $1 AND state = 'queued'"
SENT = """
UPDATE messor.mails SET state = 'sent', sent_at = messor.clock(), last_error = NULL WHERE id = $1
"""
FAILED = """
UPDATE messor.mails SET last_error = left($2, 500), state = CASE WHEN $3 THEN 'failed' ELSE state END
 WHERE id = $1 AND state = 'queued'
"""


class MailRequest(msgspec.Struct):
    """The job's payload; the address stays in the outbox."""

    mail: UUID


def register(handlers: Handlers, settings: Settings, database: Database) -> None:
    """Register the job's handler in a process."""

    @handlers.prepares(JOB_TYPE)
    async def deliver(job: Job) -> Effects:
        row = await database.fetchrow(FIND, msgspec.convert(job.payload, MailRequest).mail)
        if row is None:
            return _nothing
        domain_id, *columns = row
        mail = Mail(*columns)
        try:
            server = _server(settings)
            await asyncio.to_thread(server.send, message_of(server, mail))
        except (MailError, UsageError, ValueError) as error:
            raise await _failure(database, job, mail, domain_id, error) from error
        return partial(_sent, mail, domain_id)


def _server(settings: Settings) -> MailServer:
    server = MailServer.of(settings)
    if server is None:
        raise MailError("This worker has no mail server: set MESSOR_MAIL_HOST.")
    return server


async def _failure(
    database: Database, job: Job, mail: Mail, domain_id: UUID | None, error: Exception
) -> JobError:
    """Store why it was not sent, whatever becomes of the job."""
    # Settings can be corrected meanwhile; a message that cannot be built stays so.
    retryable = isinstance(error, UsageError) or (isinstance(error, MailError) and error.retryable)
    is_last = not retryable or job.attempts >= job.max_attempts
    async with database.transaction() as connection:
        await connection.execute(FAILED, mail.id, str(error), is_last)
        if is_last:
            data = {"mail": str(mail.id), "kind": mail.kind, "reason": str(error)}
            await record(connection, [Event("mail.failed", ACTOR, domain_id, data=data)])
    category: Category = "network" if retryable else "validation"
    return JobError(str(error), category=category, retryable=retryable)


async def _sent(mail: Mail, domain_id: UUID | None, connection: Connection) -> Result:
    await connection.execute(SENT, mail.id)
    data = {"mail": str(mail.id), "kind": mail.kind}
    await record(connection, [Event("mail.sent", ACTOR, domain_id, data=data)])
    return {"kind": mail.kind}


async def _nothing(_: Connection) -> Result:
    return {"skipped": "the mail was sent, erased or is not to be sent"}
