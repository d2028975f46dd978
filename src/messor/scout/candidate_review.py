"""What a reviewer does about a candidate in one act; its steps are those of `scout.candidates`."""

from __future__ import annotations

from uuid import UUID

from messor.errors import ConflictError, UsageError
from messor.scout import candidates
from messor.scout.candidates import APPROVED, IN_REVIEW, PENDING_REVIEW, REJECTED, Candidate
from messor.store.database import Connection

ACTS = ("take", "approve", "reject")


async def decide(
    connection: Connection,
    candidate_id: UUID,
    act: str,
    *,
    actor: str,
    reason: str | None = None,
    seen: str | None = None,
) -> Candidate:
    """Take a candidate up, approve or reject it; who decides on what nobody took up has taken it up.

    With `seen`, the status that was looked at, it is refused when that is no longer so.
    """
    found = await candidates.get(connection, candidate_id)
    _check(found, act, reason, seen)
    if found.status == PENDING_REVIEW or act == "take":
        found = await candidates.assign(connection, found, actor, actor=actor)
    if act == "approve":
        return await candidates.approve(connection, found, actor=actor, reason=reason)
    if act == "reject":
        return await candidates.reject(connection, found, actor=actor, reason=reason or "")
    return found


def _check(found: Candidate, act: str, reason: str | None, seen: str | None) -> None:
    """Raise a sentence for what cannot be done; before anything is written."""
    if act not in ACTS:
        raise UsageError(f"What can be done with a candidate: {', '.join(ACTS)}.")
    if seen is not None and seen != found.status:
        raise ConflictError(f"{found.url} was {seen} when you looked and is {found.status}.")
    if found.status in (APPROVED, REJECTED):
        raise ConflictError(f"{found.url} is {found.status} already.")
    if found.status not in (PENDING_REVIEW, IN_REVIEW):
        raise ConflictError(f"{found.url} is {found.status}: it does not wait for review.")
    if act == "take" and found.status == IN_REVIEW:
        raise ConflictError(f"{found.url} was taken up already.")
    if act == "reject" and not (reason or "").strip():
        raise UsageError("Say why: to reject needs a reason.")
