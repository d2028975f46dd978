"""Crawls and batches: start, status in pages, refusals, cancel, and what is active."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from messor.access.principal import Principal
from messor.access.roles import Act
from messor.api.context import PrincipalDep
from messor.api.firecrawl.answers import answer, base_of
from messor.api.firecrawl.hooks import sealed_hook
from messor.api.firecrawl.options import BatchScrapeIn, CrawlIn
from messor.api.firecrawl.route import FirecrawlRoute, ServicesDep
from messor.api.gate import needs
from messor.errors import UsageError
from messor.scrape import jobs
from messor.scrape.jobs import JobProgress, ScrapeJob
from messor.scrape.refusals import OptionRefusedError, PageRefusedError
from messor.scrape.services import ScrapeServices
from messor.scrape.shown import shown

router = APIRouter(route_class=FirecrawlRoute)

PAGE = 100  # documents of an answer
MOST_BYTES = 10_000_000
PATHS = {"crawl": "crawl", "batch": "batch/scrape"}

Skip = Annotated[int, Query(ge=0, le=2**31 - 1)]


@router.post("/v2/crawl")
@needs(Act.INGEST_RUN, own_transactions=True)
async def start_crawl(
    given: CrawlIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Start a crawl. Where the domain may not be visited, it ends at once with that refusal."""
    return await _start_crawl(given, request, services, principal, "v2")


@router.post("/v1/crawl")
@needs(Act.INGEST_RUN, own_transactions=True)
async def start_crawl_v1(
    given: CrawlIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The same for version 1."""
    return await _start_crawl(given, request, services, principal, "v1")


async def _start_crawl(
    given: CrawlIn, request: Request, services: ScrapeServices, principal: Principal, version: str
) -> Response:
    order = given.order()
    caller = await services.caller(principal, given.on_behalf_of)
    hook = await sealed_hook(given.webhook, request, principal)
    job_id = await jobs.start_crawl(services.database, caller, order, hook)
    services.keeper.wake()
    url = f"{base_of(request)}/{version}/crawl/{job_id}"
    return answer({"success": True, "id": str(job_id), "url": url})


@router.post("/v2/crawl/params-preview")
@needs(Act.READ)
async def preview_crawl() -> Response:
    """Parameters from a prompt: no model is asked, so they are refused."""
    raise OptionRefusedError("prompt: no model chooses what is crawled; give paths.")


@router.get("/v2/crawl/active")
@needs(Act.READ)
async def list_active(services: ServicesDep, principal: PrincipalDep) -> Response:
    """The caller's crawls that are not done."""
    return await _list_active(services, principal)


@router.get("/v1/crawl/active")
@needs(Act.READ)
async def list_active_v1(services: ServicesDep, principal: PrincipalDep) -> Response:
    """The same for version 1."""
    return await _list_active(services, principal)


async def _list_active(services: ScrapeServices, principal: Principal) -> Response:
    caller = await services.caller(principal)
    found = await jobs.active(services.database, caller)
    listed = [
        {"id": str(job.id), "url": job.url, "created_at": job.created_at.isoformat(),
         "teamId": str(principal.member_id), "options": None}
        for job in found
    ]  # fmt: skip
    return answer({"success": True, "crawls": listed})


@router.post("/v2/batch/scrape")
@needs(Act.INGEST_RUN, own_transactions=True)
async def start_batch(
    given: BatchScrapeIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Start a batch; each URL that may not be fetched is listed with its reason."""
    return await _start_batch(given, request, services, principal, "v2")


@router.post("/v1/batch/scrape")
@needs(Act.INGEST_RUN, own_transactions=True)
async def start_batch_v1(
    given: BatchScrapeIn, request: Request, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The same for version 1."""
    return await _start_batch(given, request, services, principal, "v1")


async def _start_batch(
    given: BatchScrapeIn,
    request: Request,
    services: ScrapeServices,
    principal: Principal,
    version: str,
) -> Response:
    given.check()
    urls, invalid = given.understood()
    if not urls:
        raise UsageError("None of the URLs is a web address.")
    caller = await services.caller(principal, given.on_behalf_of)
    job_id = await jobs.start_batch(
        services.database,
        caller,
        urls,
        given.shape(),
        max_age=given.oldest(),
        append_to=given.append_to_id,
        hook=await sealed_hook(given.webhook, request, principal),
    )
    services.keeper.wake()
    url = f"{base_of(request)}/{version}/batch/scrape/{job_id}"
    return answer({"success": True, "id": str(job_id), "url": url, "invalidURLs": invalid})


@router.get("/v2/crawl/{job_id}")
@needs(Act.READ)
async def show_crawl(
    job_id: UUID, request: Request, services: ServicesDep, principal: PrincipalDep,
    skip: Skip = 0,
) -> Response:  # fmt: skip
    """How far a crawl is, with a page of its documents."""
    return await _show(job_id, "crawl", request, services, principal, skip=skip)


@router.get("/v1/crawl/{job_id}")
@needs(Act.READ)
async def show_crawl_v1(
    job_id: UUID, request: Request, services: ServicesDep, principal: PrincipalDep,
    skip: Skip = 0,
) -> Response:  # fmt: skip
    """The same for version 1."""
    return await _show(job_id, "crawl", request, services, principal, skip=skip)


@router.get("/v2/batch/scrape/{job_id}")
@needs(Act.READ)
async def show_batch(
    job_id: UUID, request: Request, services: ServicesDep, principal: PrincipalDep,
    skip: Skip = 0,
) -> Response:  # fmt: skip
    """How far a batch is, with a page of its documents."""
    return await _show(job_id, "batch", request, services, principal, skip=skip)


@router.get("/v1/batch/scrape/{job_id}")
@needs(Act.READ)
async def show_batch_v1(
    job_id: UUID, request: Request, services: ServicesDep, principal: PrincipalDep,
    skip: Skip = 0,
) -> Response:  # fmt: skip
    """The same for version 1."""
    return await _show(job_id, "batch", request, services, principal, skip=skip)


async def _show(
    job_id: UUID,
    kind: str,
    request: Request,
    services: ScrapeServices,
    principal: Principal,
    *,
    skip: int,
) -> Response:
    caller = await services.caller(principal)
    job = await jobs.owned(services.database, caller, job_id, kind)
    known = await jobs.progress(services.database, job)
    made, reached, more = await services.documents(
        caller, job, skip, limit=PAGE, most_bytes=MOST_BYTES
    )
    base = base_of(request)
    version = request.url.path.split("/")[1]
    here = f"{base}/{version}/{PATHS[kind]}/{job.id}"
    body = status_of(job, known)
    if more:
        body["next"] = f"{here}?skip={reached}"
    body["data"] = [shown(each, base, cached=False) for each in made]
    return answer(body)


def status_of(job: ScrapeJob, known: JobProgress) -> dict[str, Any]:
    """A job's status without its documents."""
    # Clients that poll for the end know no other word for a job that was stopped.
    status = "failed" if job.status == "cancelled" else job.status
    body = {
        "success": True,
        "status": status,
        "completed": known.completed,
        "total": known.total,
        "creditsUsed": known.completed,
        "expiresAt": job.expires_at.isoformat(),
        "next": None,
    }
    if job.status == "cancelled":
        body["error"] = "It was cancelled; what was fetched is kept."
    elif job.status == "failed":
        body["error"] = f"{job.code}: {job.error}"
    if job.error is not None:
        body["warning"] = f"{job.code}: {job.error}"
    elif known.refused:
        body["warning"] = (
            f"{known.refused} pages were refused or not read; their reasons are in the list of errors."
        )
    return body


@router.get("/v2/crawl/{job_id}/errors")
@needs(Act.READ)
async def show_crawl_errors(
    job_id: UUID, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Pages of a crawl that were refused or not read, with the reason."""
    return await _show_errors(job_id, "crawl", services, principal)


@router.get("/v1/crawl/{job_id}/errors")
@needs(Act.READ)
async def show_crawl_errors_v1(
    job_id: UUID, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The same for version 1."""
    return await _show_errors(job_id, "crawl", services, principal)


@router.get("/v1/batch/scrape/{job_id}/errors")
@needs(Act.READ)
async def show_batch_errors_v1(
    job_id: UUID, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The same for version 1."""
    return await _show_errors(job_id, "batch", services, principal)


@router.get("/v2/batch/scrape/{job_id}/errors")
@needs(Act.READ)
async def show_batch_errors(
    job_id: UUID, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Pages of a batch that were refused or not read, with the reason."""
    return await _show_errors(job_id, "batch", services, principal)


async def _show_errors(
    job_id: UUID, kind: str, services: ScrapeServices, principal: Principal
) -> Response:
    job = await jobs.owned(services.database, await services.caller(principal), job_id, kind)
    found = await jobs.refused(services.database, job)
    listed = [
        {"id": str(one.id), "timestamp": one.at.isoformat(), "url": one.url, "code": one.code,
         "error": one.error}
        for one in found
    ]  # fmt: skip
    denied = [one.url for one in found if one.code == PageRefusedError.code]
    return answer({"success": True, "errors": listed, "robotsBlocked": denied})


@router.delete("/v2/crawl/{job_id}")
@needs(Act.INGEST_RUN, own_transactions=True)
async def cancel_crawl(job_id: UUID, services: ServicesDep, principal: PrincipalDep) -> Response:
    """Stop a crawl; what was fetched is kept."""
    return await _cancel(job_id, "crawl", services, principal)


@router.delete("/v1/crawl/{job_id}")
@needs(Act.INGEST_RUN, own_transactions=True)
async def cancel_crawl_v1(job_id: UUID, services: ServicesDep, principal: PrincipalDep) -> Response:
    """The same for version 1."""
    return await _cancel(job_id, "crawl", services, principal)


@router.delete("/v2/batch/scrape/{job_id}")
@needs(Act.INGEST_RUN, own_transactions=True)
async def cancel_batch(job_id: UUID, services: ServicesDep, principal: PrincipalDep) -> Response:
    """Stop a batch; what was fetched is kept."""
    return await _cancel(job_id, "batch", services, principal)


@router.delete("/v1/batch/scrape/{job_id}")
@needs(Act.INGEST_RUN, own_transactions=True)
async def cancel_batch_v1(job_id: UUID, services: ServicesDep, principal: PrincipalDep) -> Response:
    """The same for version 1."""
    return await _cancel(job_id, "batch", services, principal)


async def _cancel(
    job_id: UUID, kind: str, services: ScrapeServices, principal: Principal
) -> Response:
    job = await jobs.owned(services.database, await services.caller(principal), job_id, kind)
    await jobs.cancel(services.database, job)
    return answer({"success": True, "status": "cancelled"})
