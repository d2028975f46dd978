"""Domains: submission, listing, settings, notes and the review queue."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from messor.access.roles import Act
from messor.api import etags
from messor.api.context import DatabaseDep, PrincipalDep, TransactionDep, context_of
from messor.api.gate import GatedRoute, needs
from messor.api.listing import ListRequest, list_request
from messor.api.models.base import NO_NUL, DomainName
from messor.api.models.domains import (
    DomainVerticalIn,
    DomainVerticalOut,
    ImportIn,
    ImportOut,
    NoteIn,
    PreflightAskedOut,
    RescrapedOut,
    SubmissionIn,
    TermsIn,
)
from messor.errors import UsageError
from messor.governance import backfill, domain_terms, domain_vertical, intake, preflight
from messor.governance.notices import Notices
from messor.registry import domains as registry
from messor.registry import notes, review
from messor.registry.domains import Domain, Submission
from messor.registry.notes import Note
from messor.registry.queries import DOMAINS, DomainFilter
from messor.registry.review import Dossier
from messor.registry.review_queries import WAITING, WaitingDomain, WaitingFilter
from messor.registry.submissions import Submitted, Submitter
from messor.registry.terms import COLUMNS, Terms
from messor.store.database import Connection, Database
from messor.store.listing import ListPage

router = APIRouter(prefix="/domains", tags=["domains"], route_class=GatedRoute)
queue = APIRouter(prefix="/review", tags=["domains"], route_class=GatedRoute)

Contains = Annotated[
    str | None, Query(max_length=253, pattern=NO_NUL, description="Part of the name")
]


def name_of(given: str) -> str:
    """The registrable domain of a name or host."""
    return Submission.understand(given).domain


@router.get("")
@needs(Act.READ)
async def list_domains(
    database: DatabaseDep,
    asked: Annotated[ListRequest[Domain, DomainFilter], list_request(DOMAINS)],
) -> ListPage[Domain]:
    """List domains, filtered and ordered."""
    return await asked.read(database)


@router.post("", status_code=201, responses={200: {"model": Submitted}})
@needs(Act.DOMAINS_SUBMIT)
async def submit_domain(
    given: SubmissionIn, connection: TransactionDep, principal: PrincipalDep, response: Response
) -> Submitted:
    """Submit a domain: 201 when it is now pending review, otherwise 200 with its current state."""
    answer = await intake.submit_domain(
        connection,
        given.domain,
        Submitter.of(principal, given.contact),
        context=given.context,
        max_crawl_depth=given.max_crawl_depth,
        delay=given.delay,
        vertical=given.vertical,
        look=given.preflight,
    )
    response.status_code = 201 if answer.taken else 200
    response.headers["Location"] = f"/api/v1/domains/{answer.domain.domain}"
    return answer


@router.post("/import")
@needs(Act.DOMAINS_IMPORT, own_transactions=True)
async def import_domains(
    given: ImportIn, database: DatabaseDep, principal: PrincipalDep, request: Request
) -> ImportOut:
    """Import existing domains as approved, with a result per line."""
    found = backfill.approve_existing(
        database,
        given.lines,
        Submitter.of(principal),
        start=given.start,
        vertical=given.vertical,
        told=Notices.of(context_of(request).settings),
    )
    return ImportOut(lines=[line async for line in found])


@router.get("/{domain}")
@needs(Act.READ)
async def show_domain(domain: DomainName, database: DatabaseDep, response: Response) -> Domain:
    """Get a domain; its ETag can be used as If-Match of a decision."""
    found = await registry.get(database, name_of(domain))
    response.headers["ETag"] = etags.of_domain(found)
    return found


@router.patch("/{domain}")
@needs(Act.DOMAINS_CONFIGURE, precondition=True)
async def configure_domain(
    domain: DomainName,
    given: TermsIn,
    connection: TransactionDep,
    principal: PrincipalDep,
    *,
    request: Request,
    response: Response,
) -> Domain:
    """Change the crawl settings of a domain; only the given fields change.

    A null `delay`, `every_hours`, `crawl_hours` or `megabytes_per_day` restores the default. A shorter frequency makes scheduled pages due
    earlier.
    """
    terms: Terms = given.model_dump(exclude_none=True)  # type: ignore[assignment]  # the same names
    back = [name for name in COLUMNS if name in given.model_fields_set and name not in terms]
    if not terms and not back:
        raise UsageError("Specify at least one setting to change, such as delay.")
    found = await registry.lock(connection, name_of(domain))
    etags.require(request, found)
    changed = await domain_terms.change(
        connection, found, actor=principal.actor, reset=back, **terms
    )
    response.headers["ETag"] = etags.of_domain(changed)
    return changed


@router.get("/{domain}/vertical")
@needs(Act.READ)
async def show_domain_vertical(domain: DomainName, database: DatabaseDep) -> DomainVerticalOut:
    """Get the vertical of a domain, and a guess from its submissions and preflight."""
    return await _vertical_of(database, await registry.get(database, name_of(domain)))


@router.put("/{domain}/vertical")
@needs(Act.DOMAINS_REVIEW)
async def set_domain_vertical(
    domain: DomainName, given: DomainVerticalIn, connection: TransactionDep, principal: PrincipalDep
) -> DomainVerticalOut:
    """Set or clear the vertical of a domain; pages extracted before are judged by a job."""
    found = await registry.lock(connection, name_of(domain))
    changed = await domain_vertical.assign(connection, found, given.vertical, actor=principal.actor)
    return await _vertical_of(connection, changed)


async def _vertical_of(source: Connection | Database, domain: Domain) -> DomainVerticalOut:
    return DomainVerticalOut(
        domain=domain.domain,
        vertical=domain.vertical,
        verticals=await domain_vertical.of_domain(source, domain),
        guess=await domain_vertical.guess_for(source, domain),
    )


@router.get("/{domain}/dossier")
@needs(Act.READ)
async def show_dossier(domain: DomainName, database: DatabaseDep) -> Dossier:
    """Get everything a reviewer needs to decide on a domain."""
    return await review.dossier(database, name_of(domain))


@router.get("/{domain}/notes")
@needs(Act.READ)
async def list_notes(domain: DomainName, database: DatabaseDep) -> ListPage[Note]:
    """List the first two hundred notes of a domain."""
    found = await registry.get(database, name_of(domain))
    rows = await notes.of_domain(database, found)
    return ListPage(items=list(rows), next=None)


@router.post("/{domain}/notes", status_code=201)
@needs(Act.DOMAINS_REVIEW)
async def add_note(
    domain: DomainName, given: NoteIn, connection: TransactionDep, principal: PrincipalDep
) -> Note:
    """Add a note to a domain."""
    found = await registry.get(connection, name_of(domain))
    return await notes.add(connection, found, given.body, actor=principal.actor)


@router.post("/{domain}/preflight", status_code=202)
@needs(Act.DOMAINS_REVIEW)
async def ask_preflight(
    domain: DomainName, connection: TransactionDep, principal: PrincipalDep
) -> PreflightAskedOut:
    """Queue a preflight check of a pending domain: at most three requests."""
    found = await registry.lock(connection, name_of(domain))
    opened = await preflight.request_preflight(connection, found, actor=principal.actor)
    return PreflightAskedOut(domain=found.domain, preflight=opened)


@router.post("/{domain}/rescrape", status_code=202)
@needs(Act.CRAWL_CONTROL)
async def rescrape(
    domain: DomainName, connection: TransactionDep, principal: PrincipalDep
) -> RescrapedOut:
    """Make every page of an approved domain due now."""
    name = name_of(domain)
    return RescrapedOut(
        domain=name, pages=await intake.rescrape(connection, name, actor=principal.actor)
    )


@queue.get("")
@needs(Act.READ)
async def list_waiting(
    database: DatabaseDep,
    asked: Annotated[ListRequest[WaitingDomain, WaitingFilter], list_request(WAITING)],
) -> ListPage[WaitingDomain]:
    """List domains waiting for review."""
    return await asked.read(database)
