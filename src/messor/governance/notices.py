"""Notices: tells the submitters of a domain by mail what became of it.

The event `submitter.notice` is recorded beside, for webhooks; it names no address. Mails contain
nothing that a submitter wrote, so the form cannot be used to send one's words to strangers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Literal, Self

from messor.core.plurals import counted
from messor.ledger.events import Event, record
from messor.mail import outbox
from messor.mail.outbox import Mail, NewMail
from messor.registry.domains import Domain
from messor.settings import Settings
from messor.store.database import Connection

Kind = Literal["domain_approved", "domain_rejected", "pages_live"]
STATUS_PATH = "/ask/status/"  # followed by a submission's token
MOST = 200  # addresses told of one decision

# Whoever left an address, and members who submitted, but for the one who decides.
RECIPIENTS = """
SELECT DISTINCT ON (lower(address)) address, token FROM (
  SELECT coalesce(s.contact, m.email) AS address, s.token, s.created_at
    FROM messor.domain_submissions s
    LEFT JOIN messor.members m ON s.contact IS NULL AND m.disabled_at IS NULL
         AND s.submitted_by = 'member:' || m.id AND s.submitted_by <> $2
   WHERE s.domain_id = $1) found
 WHERE address IS NOT NULL ORDER BY lower(address), created_at DESC LIMIT $3
"""
TAKERS = """
SELECT count(*) FROM messor.webhooks
 WHERE is_active AND (types = '{}' OR 'submitter.notice' = ANY (types))
"""


@dataclass(frozen=True, slots=True)
class Notices:
    """Whether mail can be sent, and where its links lead."""

    is_on: bool = False
    status_url: str | None = None  # to be followed by a token; None if the public form is off

    @classmethod
    def of(cls, settings: Settings) -> Self:
        base = settings.public_url if settings.public_submission else None
        return cls(
            bool(settings.mail_host),
            f"{base.rstrip('/')}{STATUS_PATH}" if base else None,
        )


OFF = Notices()


async def tell(
    connection: Connection,
    notices: Notices,
    domain: Domain,
    kind: Kind,
    *,
    actor: str,
    **values: str,
) -> list[Mail]:
    """Write to the submitters of a domain, in the transaction of what they are told."""
    rows = await connection.fetch(RECIPIENTS, domain.id, actor, MOST)
    mails = [
        await outbox.post(
            connection,
            NewMail(
                kind,
                row["address"],
                *written(kind, {"domain": domain.domain, **values}, _status(notices, row["token"])),
                domain.id,
            ),
            is_on=notices.is_on,
        )
        for row in rows
    ]
    if mails or kind == "domain_rejected":
        data: dict[str, Any] = {
            "notice": kind,
            "submitted_by": domain.submitted_by,
            "submitter_type": domain.submitter_type,
            "reason": domain.rejection_reason,
        }
        await record(connection, [Event("submitter.notice", actor, domain.id, data=data)])
    return mails


def written(kind: Kind, values: Mapping[str, str], status: str | None) -> tuple[str, str]:
    """Subject and text of a notice."""
    line = f"\nIts state at any time: {status}\n" if status else ""
    text = Template(_template(kind)).substitute({**values, "status": line})
    subject, _, body = text.partition("\n")
    return subject.removeprefix("Subject: "), body.strip() + "\n"


@cache
def _template(kind: Kind) -> str:
    return files("messor.governance").joinpath("mails", f"{kind}.txt").read_text("utf-8")


def _status(notices: Notices, token: str | None) -> str | None:
    return f"{notices.status_url}{token}" if notices.status_url and token else None


async def sentence(connection: Connection, mails: Sequence[Mail]) -> str:
    """Who is told, and how, for the reviewer."""
    told = [_by_mail(mails)]
    takers: int = await connection.fetchval(TAKERS)
    if takers:
        has = "has" if takers == 1 else "have"
        told.append(f"The notice goes to {counted(takers, 'webhook')}, which {has} to deliver it.")
    elif not mails:
        told.append("No webhook receives the notice either.")
    return " ".join(told)


def _by_mail(mails: Sequence[Mail]) -> str:
    queued = sum(mail.state == "queued" for mail in mails)
    if not mails:
        return "Its submitter was not notified: nobody left an address."
    if queued == len(mails):
        return f"A mail goes to {counted(queued, 'submitter')}."
    rest = counted(len(mails) - queued, "submitter")
    sent = f"A mail goes to {counted(queued, 'submitter')}. " if queued else ""
    why = "not by mail" if queued else "no mail server is configured (MESSOR_MAIL_HOST)"
    return f"{sent}{rest} must be told by you: {why}; the text to send is on the domain's page."
