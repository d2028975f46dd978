"""A reviewer's act on a candidate; transitions are in `scout.candidates`."""

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
    """Assign, approve or reject a candidate; a decision on an unassigned one assigns it first.

    `seen` is the status the reviewer saw; the act is refused if it has changed.
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
    """Raise an error for an invalid act before anything is written."""
    if act not in ACTS:
        raise UsageError(f"Choose an act: {', '.join(ACTS)}.")
    if seen is not None and seen != found.status:
        raise ConflictError(f"{found.url} was {seen} when you opened it and is {found.status} now.")
    if found.status in (APPROVED, REJECTED):
        raise ConflictError(f"{found.url} is already {found.status}.")
    if found.status not in (PENDING_REVIEW, IN_REVIEW):
        raise ConflictError(f"{found.url} is {found.status}: it does not await review.")
    if act == "take" and found.status == IN_REVIEW:
        raise ConflictError(f"{found.url} is already assigned.")
    if act == "reject" and not (reason or "").strip():
        raise UsageError("Give a reason for the rejection.")
