"""Decide: whether a page may be used for something, and why not.

A permission on file settles it. Otherwise a refusal, a price or a statement that cannot be
understood holds the page back; where the site permits or is silent, the approval decides.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from messor.rights.page_terms import PageTerms
from messor.rights.uses import GOVERNED_BY, UNNAMED, ApprovedUse
from messor.web.usage.statement import Answer, Statement, decide


class Reason(StrEnum):
    """Why something is held back."""

    REFUSED = "refused"
    LICENCE = "licence"
    UNCLEAR = "unclear"
    NOT_APPROVED = "not_approved"


SENTENCES = {
    Reason.REFUSED: "the site refuses this use",
    Reason.LICENCE: "the site asks for a paid licence",
    Reason.UNCLEAR: "the site's statement cannot be understood",
    Reason.NOT_APPROVED: "the domain is not approved for this use",
}
_HELD = {
    Answer.NO: Reason.REFUSED,
    Answer.PAID: Reason.LICENCE,
    Answer.UNKNOWN: Reason.UNCLEAR,
}


class Refusal(NamedTuple):
    """Why a page is held back, for the first use that it is held back for."""

    use: ApprovedUse
    reason: Reason
    by: Statement | None


def refusal_of(
    terms: PageTerms,
    declared: Collection[ApprovedUse],
    inherent: Collection[ApprovedUse] = (),
) -> Refusal | None:
    """Why a page may not be used so; None if it may.

    Without declared uses those of the domain count, all of them. `inherent` are uses that follow
    from the way itself: they need no approval of their own.
    """
    for use in declared or terms.uses or UNNAMED:
        refusal = _refusal(terms, use)
        if refusal is not None:
            return refusal
        if terms.uses and use not in terms.uses and use.value not in terms.permitted:
            return Refusal(use, Reason.NOT_APPROVED, None)
    return next(filter(None, (_refusal(terms, use) for use in inherent)), None)


def _refusal(terms: PageTerms, use: ApprovedUse) -> Refusal | None:
    if use.value in terms.permitted:
        return None
    decision = decide(terms.statements, GOVERNED_BY[use])
    reason = _HELD.get(decision.answer) if decision.answer is not None else None
    return None if reason is None else Refusal(use, reason, decision.by)
