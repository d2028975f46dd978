"""Requests of site owners: stop crawling, delete what is held, or a report of what was done.

A request counts once its sender has shown control over the domain, by a TXT record or a file on the
site. What follows is done at once, without a reviewer, and recorded.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args
from uuid import UUID

from messor.access.secret import Secret, fingerprint, new_token
from messor.core.ids import new_id
from messor.errors import ConflictError, NotFoundError, UsageError
from messor.governance import erasure, site_proofs
from messor.ledger.events import Event, record
from messor.registry import domains
from messor.registry.domains import Submission, checked
from messor.store.database import Connection, Database
from messor.web.suffixes import registrable_domain
from messor.web.urls import parse

Wish = Literal["opt_out", "erase", "report"]
WISHES: Mapping[str, str] = {
    "opt_out": "stop fetching the site",
    "erase": "stop fetching the site and delete what is held of it",
    "report": "a signed report of what was fetched, when and under which robots.txt",
}
VALID = timedelta(days=7)  # to show control
USABLE = timedelta(days=30)  # of a report, once shown
RECORD = "_messor-verify"
MAX_CONTACT = 320
MAX_OPEN = 20  # unproven requests for one domain

COLUMNS = """r.id, r.domain, r.wish, r.contact, r.challenge, r.method, r.asked_at, r.expires_at,
  r.proved_at, r.outcome, r.expires_at <= (SELECT messor.clock()) AS is_expired"""
OPEN = """
SELECT count(*) FROM messor.owner_requests
 WHERE domain = $1 AND proved_at IS NULL AND expires_at > messor.clock()
"""
ADD = """
INSERT INTO messor.owner_requests (id, domain, wish, contact, challenge, token_hash, source, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, messor.clock() + $8::interval)
"""
BY_TOKEN = f"SELECT {COLUMNS} FROM messor.owner_requests r WHERE r.token_hash = $1"
BY_ID = f"SELECT {COLUMNS} FROM messor.owner_requests r WHERE r.id = $1"
BY_CHALLENGE = f"""
SELECT {COLUMNS} FROM messor.owner_requests r
 WHERE r.domain = $1 AND r.challenge = $2 AND r.proved_at IS NULL AND r.expires_at > messor.clock()
"""
PROVE = """
UPDATE messor.owner_requests
   SET method = $2, proved_at = messor.clock(), expires_at = messor.clock() + $3::interval,
       outcome = $4
 WHERE id = $1 AND proved_at IS NULL AND expires_at > messor.clock() RETURNING id
"""

TxtLookup = Callable[[str], Awaitable[list[str]]]


@dataclass(frozen=True, slots=True)
class OwnerRequest:
    """What somebody asks for a domain, and whether they have shown that it is theirs."""

    id: UUID
    domain: str
    wish: Wish
    contact: str | None
    challenge: str
    method: str | None  # dns or file, once shown
    asked_at: datetime
    expires_at: datetime
    proved_at: datetime | None
    outcome: str | None
    is_expired: bool

    @property
    def record_name(self) -> str:
        return f"{RECORD}.{self.domain}"

    @property
    def line(self) -> str:
        """The text of the record, and the line of the file."""
        return line_of(self.challenge)

    @property
    def state(self) -> str:
        if self.proved_at is not None:
            return "expired" if self.is_expired else "proved"
        return "expired" if self.is_expired else "waiting"

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> OwnerRequest:
        return cls(**row)


def line_of(challenge: str) -> str:
    return f"messor-verify={challenge}"


async def ask(
    connection: Connection, text: str, wish: str, *, contact: str | None, source: str
) -> tuple[OwnerRequest, Secret]:
    """Note a request; returns it with the token of its page, which is shown once."""
    if wish not in get_args(Wish):
        raise UsageError(f"Choose what you ask for: {', '.join(get_args(Wish))}.")
    name = Submission.understand(text).domain
    if await connection.fetchval(OPEN, name) >= MAX_OPEN:
        raise ConflictError(f"Too many requests for {name} wait for proof; try again in a week.")
    token, request_id = new_token(), new_id()
    await connection.execute(
        ADD, request_id, name, wish, checked(contact, "contact", MAX_CONTACT),
        secrets.token_hex(16), fingerprint(token.reveal()), source, VALID,
    )  # fmt: skip
    await record(connection, [Event("owner.asked", f"owner:{name}", data={"wish": wish})])
    return await get(connection, request_id), token


async def get(source: Connection | Database, request_id: UUID) -> OwnerRequest:
    row = await source.fetchrow(BY_ID, request_id)
    if row is None:
        raise NotFoundError("There is no such request. List them: messor owners list")
    return OwnerRequest.of(row)


async def find(source: Connection | Database, token: str) -> OwnerRequest:
    """The request of whoever has its link."""
    row = await source.fetchrow(BY_TOKEN, fingerprint(token))
    if row is None:
        raise NotFoundError("There is no such request; the link may be incomplete.")
    return OwnerRequest.of(row)


async def check_record(
    database: Database, request: OwnerRequest, lookup: TxtLookup
) -> OwnerRequest:
    """Look for the TXT record; what was asked for is done if it is there."""
    _require_waiting(request)
    if request.line not in {text.strip() for text in await lookup(request.record_name)}:
        raise ConflictError(
            f"The TXT record {request.record_name} does not hold {request.line} yet. Records can "
            "take an hour to become visible."
        )
    async with database.transaction() as connection:
        await _fulfil(connection, request, "dns")
        return await get(connection, request.id)


async def check_file(connection: Connection, request: OwnerRequest) -> None:
    """Have the file of the site fetched at the site's pace; the crawler judges it."""
    _require_waiting(request)
    row = await connection.fetchval(
        "SELECT status FROM messor.domains WHERE domain = $1", request.domain
    )
    if row != "approved":
        raise ConflictError(
            f"{request.domain} is not crawled at present, so no file of it is fetched; use the TXT record."
        )
    domain = await domains.lock(connection, request.domain)
    base = parse(domain.base_url)
    url = base and parse(f"{base.origin}{site_proofs.FILE}")
    assert url is not None
    await site_proofs.ask(connection, domain, url, expected=request.line, purpose="owner")


async def file_proved(connection: Connection, host: str, line: str) -> None:
    """A file of the site held the line of a request: do what was asked."""
    name = registrable_domain(host.partition(":")[0]) or ""
    row = await connection.fetchrow(BY_CHALLENGE, name, line.partition("=")[2])
    if row is not None:
        await _fulfil(connection, OwnerRequest.of(row), "file")


async def _fulfil(connection: Connection, request: OwnerRequest, method: str) -> None:
    outcome = await _act(connection, request, method)
    if await connection.fetchval(PROVE, request.id, method, USABLE, outcome) is None:
        raise ConflictError("This request has been settled or has expired.")
    actor = f"owner:{request.domain}"
    data = {"wish": request.wish, "method": method, "domain": request.domain}
    await record(connection, [Event("owner.proved", actor, data=data)])


async def _act(connection: Connection, request: OwnerRequest, method: str) -> str:
    actor = f"owner:{request.domain}"
    reason = f"its owner asked to {WISHES[request.wish]} (shown by {method})"
    if request.wish == "erase":
        erased = await erasure.erase_domain(connection, request.domain, actor=actor, reason=reason)
        return erased.message
    if request.wish == "opt_out":
        await _shut(connection, request.domain, actor, reason)
        return f"{request.domain} is not fetched any more."
    return "The report can be downloaded for 30 days."


async def _shut(connection: Connection, name: str, actor: str, reason: str) -> None:
    """Blacklist a domain, known or not."""
    submission = Submission.understand(name)
    await domains.submit(connection, submission, actor=actor, submitter_type="system")
    domain = await domains.lock(connection, submission.domain)
    if domain.status != "blacklisted":
        await domains.move(connection, domain, "blacklisted", actor=actor, reason=reason)


def _require_waiting(request: OwnerRequest) -> None:
    if request.state == "expired":
        raise ConflictError("This request has expired; send a new one.")
    if request.proved_at is not None:
        raise ConflictError("This request has been fulfilled.")


async def file_standing(
    source: Connection | Database, request: OwnerRequest
) -> tuple[str, str | None] | None:
    """What came of fetching the site's file; None if that was not asked for."""
    row = await source.fetchrow(
        "SELECT state, reason FROM messor.site_proofs WHERE expected = $1 AND purpose = 'owner'",
        request.line,
    )
    return None if row is None else (row["state"], row["reason"])
