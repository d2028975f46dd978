"""Crawls and batches live: what is done so far, then each page as it is done, then the end.

The key comes in the header, or as the subprotocol, where browsers' clients put it. A session
cookie is not enough: any page could open a socket with it.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any
from uuid import UUID

import msgspec
from fastapi import APIRouter
from starlette.websockets import WebSocket, WebSocketDisconnect

from messor.access import keys
from messor.access.errors import UnauthenticatedError
from messor.access.principal import Principal, authorise
from messor.access.roles import Act
from messor.api.context import ApiContext
from messor.api.credentials import origin_of
from messor.api.firecrawl.crawls import MOST_BYTES, PAGE, status_of
from messor.api.gate import charge
from messor.errors import MessorError
from messor.runtime.server.hosts import link_base
from messor.scrape import jobs
from messor.scrape.jobs import ScrapeJob
from messor.scrape.services import ScrapeServices
from messor.scrape.shown import shown
from messor.store.database import LOST_CONNECTION, TRY_AGAIN

router = APIRouter()

LOOK_SECONDS = 0.5
KEY_SECONDS = 30.0  # after which the key is looked at again
REFUSED, AWAY = 1008, 1013  # closing codes: policy violation, try again later
_encode = msgspec.json.Encoder().encode


@router.websocket("/v2/crawl/{job_id}")
async def watch_crawl(socket: WebSocket, job_id: UUID) -> None:
    """A crawl, live."""
    await _serve(socket, job_id, "crawl")


@router.websocket("/v1/crawl/{job_id}")
async def watch_crawl_v1(socket: WebSocket, job_id: UUID) -> None:
    """The same for version 1."""
    await _serve(socket, job_id, "crawl")


@router.websocket("/v2/batch/scrape/{job_id}")
async def watch_batch(socket: WebSocket, job_id: UUID) -> None:
    """A batch, live."""
    await _serve(socket, job_id, "batch")


@router.websocket("/v1/batch/scrape/{job_id}")
async def watch_batch_v1(socket: WebSocket, job_id: UUID) -> None:
    """The same for version 1."""
    await _serve(socket, job_id, "batch")


async def _serve(socket: WebSocket, job_id: UUID, kind: str) -> None:
    context: ApiContext = socket.app.state.context
    offered = socket.scope.get("subprotocols") or [None]
    await socket.accept(subprotocol=offered[0])
    live = _Live(socket, context, socket.app.state.scrape, offered[0])
    listening = asyncio.create_task(_until_closed(socket))
    telling = asyncio.create_task(live.tell(job_id, kind))
    code = 1000
    try:
        await asyncio.wait([listening, telling], return_when=asyncio.FIRST_COMPLETED)
        if telling.done():
            code = await telling
    except MessorError as error:
        await live.send({"type": "error", "error": f"{error.code}: {error}"})
        code = REFUSED
    except (*LOST_CONNECTION, *TRY_AGAIN):
        code = AWAY
    except WebSocketDisconnect:
        return
    finally:
        for task in (listening, telling):
            task.cancel()
        await asyncio.gather(listening, telling, return_exceptions=True)
    with contextlib.suppress(RuntimeError):  # the client was faster
        await socket.close(code)


async def _until_closed(socket: WebSocket) -> None:
    """What the client sends is of no interest, but that it leaves."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        continue


class _Live:
    """One socket, and how far it was told."""

    def __init__(
        self, socket: WebSocket, context: ApiContext, services: ScrapeServices, offered: str | None
    ) -> None:
        self._socket = socket
        self._context = context
        self._services = services
        self._offered = offered
        self._base = link_base(context.settings, socket)
        self._reached = 0

    async def send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # closed meanwhile
            await self._socket.send_text(_encode(message).decode())

    async def tell(self, job_id: UUID, kind: str) -> int:
        """Tell a job until it has ended; returns the closing code."""
        principal = await self._principal()
        await charge(
            self._context, self._socket, f"api:{principal.actor}", self._context.limits.known
        )
        self._context.streams.require_room(principal.actor)
        with self._context.streams.holding(principal.actor):
            await self._tell(await self._job(principal, job_id, kind), kind)
        return AWAY if self._context.is_closing else 1000

    async def _tell(self, job: ScrapeJob, kind: str) -> None:
        looked = asyncio.get_running_loop().time()
        new, _ = await self._new(job)
        await self.send({"type": "catchup", "data": {**await self._status(job), "data": new}})
        while not self._context.is_closing:
            has_more = True
            while has_more:
                new, has_more = await self._new(job)
                for document in new:
                    await self.send({"type": "document", "data": document})
            if job.ended_at is not None:
                await self._end(job)
                return
            await asyncio.sleep(LOOK_SECONDS)
            principal = self._known
            if asyncio.get_running_loop().time() - looked > KEY_SECONDS:
                principal, looked = await self._principal(), asyncio.get_running_loop().time()
            job = await self._job(principal, job.id, kind)

    async def _end(self, job: ScrapeJob) -> None:
        status = await self._status(job)
        if status["status"] == "completed":
            await self.send({"type": "done", "data": {**status, "data": []}})
        else:
            error = job.error or f"The job was {job.status}."
            await self.send({"type": "error", "error": error, "data": {**status, "data": []}})

    async def _principal(self) -> Principal:
        """The holder of the key; raises if it is not, or no longer, valid."""
        scheme, _, key = self._socket.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            key = self._offered or ""
        if not key:
            raise UnauthenticatedError("Send an API key as Authorization: Bearer messor_…")
        known = await keys.recognise(self._context.database, key.strip(), origin_of(self._socket))
        self._known = authorise(known, Act.READ)
        return self._known

    async def _job(self, principal: Principal, job_id: UUID, kind: str) -> ScrapeJob:
        self._caller = await self._services.caller(principal)
        return await jobs.owned(self._services.database, self._caller, job_id, kind)

    async def _status(self, job: ScrapeJob) -> dict[str, Any]:
        return status_of(job, await jobs.progress(self._services.database, job))

    async def _new(self, job: ScrapeJob) -> tuple[list[dict[str, Any]], bool]:
        """A page of the documents that were not told yet, and whether there are more."""
        made, self._reached, has_more = await self._services.documents(
            self._caller, job, self._reached, limit=PAGE, most_bytes=MOST_BYTES
        )
        return [shown(each, self._base, cached=False) for each in made], has_more
