"""Domains: status, vertical, uses, trust and terms. Keys that a file leaves out stay as they are."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, create_model, field_validator

from messor.configuration.model import (
    ApplyContext,
    DeclaredObject,
    PlannedChange,
    Source,
    Values,
    fixed,
)
from messor.errors import ConflictError, UsageError
from messor.governance import decisions, domain_terms, domain_vertical, intake
from messor.registry import domains, notes
from messor.registry.domains import Submission
from messor.registry.life import NEEDS_REASON, TRANSITIONS, Status
from messor.registry.submissions import Submitter
from messor.registry.terms import COLUMNS, Terms, understand
from messor.rights import uses
from messor.store.database import Connection

DEFAULT = "default"  # of a term that a domain need not have of its own
TERMS = tuple(Terms.__annotations__)
CURRENT = f"""
SELECT d.domain, d.base_url AS start, d.status, d.rejection_reason AS reason,
       coalesce(d.vertical, '') AS vertical, coalesce(u.uses, '{{}}') AS uses,
       d.is_trusted_domain AS trusted,
       {", ".join(f"d.{COLUMNS.get(term, term)} AS {term}" for term in TERMS)}
  FROM messor.domains d LEFT JOIN messor.domain_uses u ON u.domain_id = d.id
 WHERE $1::text IS NULL OR d.domain = $1 ORDER BY d.domain
"""


class _Governed(DeclaredObject):
    start: str | None = Field(None, description="URL it is crawled from; for a new domain")
    status: Status | None = None
    reason: str | None = Field(None, description="Of a rejection, suspension or blacklisting")
    vertical: str | None = Field(None, description="Empty: none")
    uses: list[str] | None = None
    trusted: bool | None = None

    @field_validator("uses")
    @classmethod
    def _known(cls, given: list[str] | None) -> list[str] | None:
        return None if given is None else [each.value for each in uses.parsed(given)]

    @field_validator(*TERMS, check_fields=False)
    @classmethod
    def _allowed(cls, value: Any, info: Any) -> Any:
        if value == DEFAULT and info.field_name in COLUMNS:
            return value
        name = info.field_name
        understood = understand({name: value})  # type: ignore[misc]
        return _as_stored(understood[COLUMNS.get(name, name)])


_TYPES: dict[str, Any] = {
    "delay": float | Literal["default"],
    "every_hours": int | Literal["default"],
    "megabytes_per_day": int | Literal["default"],
    "verify_tls": bool,
    **dict.fromkeys(("max_concurrent_requests", "max_crawl_depth", "page_budget", "priority"), int),
}
# One key per term of the registry: a new term is a new key here.
DeclaredDomain: type[DeclaredObject] = create_model(
    "DeclaredDomain",
    __base__=_Governed,
    **{term: (_TYPES.get(term, str) | None, None) for term in TERMS},  # type: ignore[call-overload]
)


class Domains:
    """The section `domains`."""

    name = "domains"
    declared = DeclaredDomain
    is_partial = True
    how_removed = "suspended"

    def key(self, name: str) -> str:
        return Submission.understand(name).domain

    async def current(self, source: Source, how: ApplyContext) -> dict[str, dict[str, Any]]:
        del how
        return {row["domain"]: _file_form(row) for row in await source.fetch(CURRENT, None)}

    def check(self, name: str, before: Values | None, wanted: Values) -> None:
        fixed(self.name, name, "start", before, wanted)
        now, status = (before or {}).get("status", "pending_review"), wanted.get("status")
        if status is None or status == now:
            return
        if status in NEEDS_REASON and not wanted.get("reason"):
            raise UsageError(f"domains.{name}: give a reason why it becomes {status}.")
        is_possible = status in TRANSITIONS[now] or (before is None and status == "suspended")
        if not is_possible or (now == "rejected" and status == "pending_review"):
            raise ConflictError(
                f"domains.{name}: it is {now} and cannot become {status} by files; a rejected "
                f"domain is submitted anew: messor domains submit {name} --context WHY"
            )

    async def apply(self, connection: Connection, change: PlannedChange, how: ApplyContext) -> None:
        name, actor = change.name, how.actor
        if change.action == "remove":
            why = "not in the configuration"
            await decisions.suspend(connection, name, actor=actor, reason=why)
            return
        if change.action == "add":
            text = change.wanted.get("start", name)
            await intake.submit_domain(connection, text, Submitter(actor), look=False)
        row = await connection.fetchrow(CURRENT, name)
        assert row is not None
        before, wanted = _file_form(row), change.wanted
        # A new domain's terms are set by the file even where they equal the defaults of today.
        terms = TERMS if change.action == "add" else [f.key for f in change.fields]
        await _terms(connection, name, {key: wanted[key] for key in terms if key in wanted}, actor)
        await _govern(connection, name, before, wanted, actor)

    def goes(self, before: Values) -> bool:
        """Whether pruning does anything to it: only what is crawled is suspended."""
        return bool(before["status"] == "approved")


def _file_form(row: Any) -> dict[str, Any]:
    found = {
        key: _as_stored(value)
        for key, value in row.items()
        if key != "domain" and value is not None
    }
    return {**found, **{term: found.get(term, DEFAULT) for term in COLUMNS}}


def _as_stored(value: Any) -> Any:
    """Fractions with the digits that the database keeps."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


async def _terms(connection: Connection, name: str, given: Values, actor: str) -> None:
    """Set the terms, before the domain's first page is due."""
    terms = {key: value for key, value in given.items() if key in TERMS}
    reset = [key for key, value in terms.items() if value == DEFAULT]
    chosen: Any = {key: value for key, value in terms.items() if value != DEFAULT}
    if terms:
        domain = await domains.lock(connection, name)
        await domain_terms.change(connection, domain, actor=actor, reset=reset, **chosen)


async def _govern(
    connection: Connection, name: str, before: Values, wanted: Values, actor: str
) -> None:
    """Set vertical, status, uses and trust, in the order in which they depend on each other."""
    if wanted.get("vertical", before["vertical"]) != before["vertical"]:
        domain = await domains.lock(connection, name)
        await domain_vertical.assign(connection, domain, wanted["vertical"], actor=actor)
    if wanted.get("status", before["status"]) != before["status"]:
        await _move(connection, name, before["status"], wanted, actor)
    domain = await domains.lock(connection, name)
    if "uses" in wanted:
        await uses.name_uses(connection, domain.id, uses.parsed(wanted["uses"]), actor=actor)
    if "trusted" in wanted:
        await notes.trust(connection, domain, actor=actor, trusted=wanted["trusted"])


async def _move(connection: Connection, name: str, now: str, wanted: Values, actor: str) -> None:
    status, reason = wanted["status"], wanted.get("reason")
    if status == "approved" and now == "suspended":
        await decisions.resume(connection, name, actor=actor)
    elif status == "approved":
        named = wanted.get("uses")
        await decisions.approve(connection, name, actor=actor, uses=named, notify=False)
    elif status == "suspended":
        if now == "pending_review":
            await decisions.approve(connection, name, actor=actor, notify=False)
        await decisions.suspend(connection, name, actor=actor, reason=reason)
    elif status == "rejected":
        await decisions.reject(connection, name, actor=actor, reason=reason or "")
    elif status == "blacklisted":
        await decisions.blacklist(connection, name, actor=actor, reason=reason or "")
    else:
        why = reason or "as the configuration says"
        await decisions.review_again(connection, name, actor=actor, reason=why)
