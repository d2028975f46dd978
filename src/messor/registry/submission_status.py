"""The state of a submission as its submitter may see it, found by an unguessable token.

Nothing about other people or inside reasons: a reason is shown of a rejection only.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from messor.errors import NotFoundError
from messor.store.database import Connection, Database

TOKEN_BYTES = 24

FIND = """
SELECT d.domain, d.status, s.created_at AS submitted_at, d.reviewed_at, d.rejection_reason, d.id
  FROM messor.domain_submissions s JOIN messor.domains d ON d.id = s.domain_id
 WHERE s.token = $1
"""
PAGES = """
SELECT count(*)::int AS pages,
       (SELECT count(*)::int FROM messor.records r
         WHERE r.domain_id = $1 AND r.state = 'current') AS records,
       (SELECT max(h.last_good_at) FROM messor.hosts h WHERE h.domain_id = $1) AS last_read_at
  FROM messor.extractions x WHERE x.domain_id = $1 AND x.snapshot_id IS NOT NULL
"""

PublicState = Literal["waiting", "approved", "rejected", "paused", "not_accepted"]
STATES: dict[str, PublicState] = {
    "pending_review": "waiting",
    "approved": "approved",
    "rejected": "rejected",
    "suspended": "paused",
    "blacklisted": "not_accepted",
}


@dataclass(frozen=True, slots=True)
class SubmissionStatus:
    """What a submitter is told."""

    domain: str
    state: PublicState
    submitted_at: datetime
    decided_at: datetime | None
    reason: str | None  # of a rejection
    pages: int  # read and available
    records: int
    last_read_at: datetime | None


def new_token() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


async def find(source: Connection | Database, token: str) -> SubmissionStatus:
    """The state of the submission with this token."""
    row = await source.fetchrow(FIND, token)
    if row is None:
        raise NotFoundError("There is no submission with this link.")
    state = STATES[row["status"]]
    read = await source.fetchrow(PAGES, row["id"]) if state == "approved" else None
    return SubmissionStatus(
        row["domain"],
        state,
        row["submitted_at"],
        None if state == "waiting" else row["reviewed_at"],
        row["rejection_reason"] if state == "rejected" else None,
        read["pages"] if read else 0,
        read["records"] if read else 0,
        read["last_read_at"] if read else None,
    )
