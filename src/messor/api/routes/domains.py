"""Domains: what may be harvested; asking for them, looking at them, and their notes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from messor.access.roles import Act
from messor.api import etags
from messor.api.cursors import CursorParam, Listing, Pager, PageSize
from messor.api.gate import GatedRoute, needs
from messor.api.house import Source, Unit, Who
from messor.api.models.base import NO_NUL, DomainName
from messor.api.models.domains import (
    DomainOut,
    DossierOut,
    ImportIn,
    ImportLineOut,
    ImportOut,
    NoteIn,
    NoteOut,
    PreflightAskedOut,
    Processing,
    RescrapedOut,
    Status,
    SubmissionIn,
    SubmittedOut,
    SubmitterType,
    TermsIn,
    WaitingOut,
)
from messor.errors import UsageError
from messor.governance import backfill, intake, preflight
from messor.registry import domains as registry
from messor.registry import notes, queries, review
from messor.registry.domains import Submission
from messor.registry.queries import DomainFilter, DomainPosition, Order
from messor.registry.submissions import Submitter
from messor.registry.terms import COLUMNS, Terms

router = APIRouter(prefix="/domains", tags=["domains"], route_class=GatedRoute)
queue = APIRouter(prefix="/review", tags=["domains"], route_class=GatedRoute)

Contains = Annotated[
    str | None, Query(max_length=253, pattern=NO_NUL, description="A part of the name")
]


def name_of(given: str) -> str:
    """The domain that is meant by a name or host."""
    return Submission.understand(given).domain


@router.get("")
@needs(Act.READ)
async def list_domains(
    source: Source,
    *,
    status: Status | None = None,
    processing: Processing | None = None,
    submitter_type: SubmitterType | None = None,
    trusted: bool | None = None,
    domain_class: Annotated[str | None, Query(max_length=100, pattern=NO_NUL)] = None,
    waiting: Annotated[bool | None, Query(description="For a reviewer")] = None,
    q: Contains = None,
    sort: Order = "created_at",
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[DomainOut]:
    """Domains, filtered and in an order."""
    wanted = DomainFilter(
        status, processing, submitter_type, trusted, q.lower() if q else None, domain_class, waiting
    )
    pager = Pager("domains", wanted, sort)
    after = pager.read(cursor, DomainPosition)
    rows = await queries.listing(source, wanted, order=sort, after=after, limit=limit + 1)
    return Listing(
        items=[DomainOut.model_validate(domain) for domain, _ in rows[:limit]],
        next=pager.next(rows, limit, lambda row: row[1]),
    )


@router.post("", status_code=201, responses={200: {"model": SubmittedOut}})
@needs(Act.DOMAINS_SUBMIT)
async def submit_domain(
    given: SubmissionIn, unit: Unit, who: Who, response: Response
) -> SubmittedOut:
    """Ask for a domain: 201 when it waits for review now, 200 with what stands otherwise."""
    answer = await intake.submit_domain(
        unit,
        given.domain,
        Submitter(who.actor, contact=given.contact),
        context=given.context,
        max_crawl_depth=given.max_crawl_depth,
        look=given.preflight,
    )
    response.status_code = 201 if answer.taken else 200
    response.headers["Location"] = f"/api/v1/domains/{answer.domain.domain}"
    return SubmittedOut.model_validate(answer)


@router.post("/import")
@needs(Act.DOMAINS_IMPORT, own_transactions=True)
async def import_domains(given: ImportIn, source: Source, who: Who) -> ImportOut:
    """Take existing domains over as approved; each line is told what became of it."""
    found = backfill.approve_existing(source, given.lines, actor=who.actor, start=given.start)
    return ImportOut(lines=[ImportLineOut.model_validate(line) async for line in found])


@router.get("/{domain}")
@needs(Act.READ)
async def show_domain(domain: DomainName, source: Source, response: Response) -> DomainOut:
    """One domain; its ETag is what a decision may name in If-Match."""
    found = await registry.get(source, name_of(domain))
    response.headers["ETag"] = etags.of_domain(found)
    return DomainOut.model_validate(found)


@router.patch("/{domain}")
@needs(Act.DOMAINS_CONFIGURE, precondition=True)
async def configure_domain(
    domain: DomainName,
    given: TermsIn,
    unit: Unit,
    who: Who,
    *,
    request: Request,
    response: Response,
) -> DomainOut:
    """Change the terms a domain is crawled by; only what is given changes.

    A delay or hours of null take back what was set: the usual holds again.
    """
    terms: Terms = given.model_dump(exclude_none=True)  # type: ignore[assignment]  # the same names
    back = [name for name in COLUMNS if name in given.model_fields_set and name not in terms]
    if not terms and not back:
        raise UsageError("Say what to change, such as delay.")
    found = await registry.lock(unit, name_of(domain))
    etags.require(request, found)
    changed = found
    if back:
        changed = await registry.restore(unit, changed, back, actor=who.actor)
    if terms:
        changed = await registry.configure(unit, changed, actor=who.actor, **terms)
    response.headers["ETag"] = etags.of_domain(changed)
    return DomainOut.model_validate(changed)


@router.get("/{domain}/dossier")
@needs(Act.READ)
async def show_dossier(domain: DomainName, source: Source) -> DossierOut:
    """All that a reviewer needs to decide on a domain."""
    return DossierOut.model_validate(await review.dossier(source, name_of(domain)))


@router.get("/{domain}/notes")
@needs(Act.READ)
async def list_notes(domain: DomainName, source: Source) -> Listing[NoteOut]:
    """What reviewers wrote about a domain: the first two hundred."""
    found = await registry.get(source, name_of(domain))
    rows = await notes.of_domain(source, found)
    return Listing(items=[NoteOut.model_validate(note) for note in rows], next=None)


@router.post("/{domain}/notes", status_code=201)
@needs(Act.DOMAINS_REVIEW)
async def add_note(domain: DomainName, given: NoteIn, unit: Unit, who: Who) -> NoteOut:
    """Keep a note with a domain."""
    found = await registry.get(unit, name_of(domain))
    return NoteOut.model_validate(await notes.add(unit, found, given.body, actor=who.actor))


@router.post("/{domain}/preflight", status_code=202)
@needs(Act.DOMAINS_REVIEW)
async def ask_preflight(domain: DomainName, unit: Unit, who: Who) -> PreflightAskedOut:
    """Have a worker take a first look at a domain that waits: three requests at most."""
    found = await registry.lock(unit, name_of(domain))
    opened = await preflight.request_preflight(unit, found, actor=who.actor)
    return PreflightAskedOut(domain=found.domain, preflight=opened)


@router.post("/{domain}/rescrape", status_code=202)
@needs(Act.CRAWL_CONTROL)
async def rescrape(domain: DomainName, unit: Unit, who: Who) -> RescrapedOut:
    """Make every page of an approved domain due now."""
    name = name_of(domain)
    return RescrapedOut(domain=name, pages=await intake.rescrape(unit, name, actor=who.actor))


@queue.get("")
@needs(Act.READ)
async def list_waiting(
    source: Source,
    *,
    submitter_type: SubmitterType | None = None,
    q: Contains = None,
    cursor: CursorParam = None,
    limit: PageSize = 50,
) -> Listing[WaitingOut]:
    """What waits for a reviewer, oldest first."""
    pager = Pager("review", submitter_type, q)
    rows = await review.queue(
        source,
        after=pager.read(cursor, tuple[datetime, UUID]),
        submitter_type=submitter_type,
        containing=q.lower() if q else None,
        limit=limit + 1,
    )
    return Listing(
        items=[WaitingOut.model_validate(row) for row in rows[:limit]],
        next=pager.next(rows, limit, lambda row: (row.created_at, row.id)),
    )
