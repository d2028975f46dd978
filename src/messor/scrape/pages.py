"""One page, now: from the archive if what it holds is recent enough, else by a task and a wait.

A caller who stops waiting loses nothing: the page is fetched when its lane allows, and the same
request sent again continues where the first one stopped.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from messor.access import key_policies
from messor.core import clock
from messor.core.ids import new_id
from messor.errors import NotFoundError
from messor.politeness import traffic
from messor.registry.domains import Domain
from messor.rights.release import Purpose, release
from messor.scrape import archived, requests
from messor.scrape.archived import SnapshotPage
from messor.scrape.caller import Caller, admit, note, require_open
from messor.scrape.refusals import (
    DomainClosedError,
    NotArchivedError,
    PageFailedError,
    RightsWithheldError,
    StillWaitingError,
)
from messor.scrape.requests import AskedState
from messor.store.database import TRY_AGAIN, Connection, Database
from messor.web.urls import Url

Result = TypeVar("Result")

TWO_DAYS = timedelta(days=2).total_seconds()
MOST_HOPS = 5
MEMORY = timedelta(minutes=30)  # in which a repeated request continues the first one
FIRST_POLL, LONGEST_POLL = 0.05, 0.5  # seconds
ATTEMPTS = 5
# Longer than this nobody waits for a paced lane within one request.
PATIENCE = 60.0

NEVER = frozenset({"rejected", "blacklisted"})  # what of their pages is archived stays inside
OPEN = """
SELECT j.id, j.created_at, o.page_id FROM messor.scrape_jobs j
  JOIN messor.scrape_job_pages o ON o.job_id = j.id
 WHERE j.actor = $1 AND j.fingerprint = $2 AND j.kind = 'scrape' AND j.ended_at IS NULL
   AND j.created_at > messor.clock() - $3::interval
 ORDER BY j.created_at DESC LIMIT 1
"""
BEGIN = """
WITH made AS (
  INSERT INTO messor.scrape_jobs (id, kind, actor, key_id, url, domain_id, fingerprint, audit,
                                  expires_at, kept_until)
  VALUES ($1, 'scrape', $2, $3, $4, $5, $6, $7, messor.clock() + $8::interval,
          messor.clock() + $8::interval)
  RETURNING id, created_at
), page AS (
  INSERT INTO messor.scrape_job_pages (job_id, url, page_id) SELECT id, $4, $9 FROM made
)
SELECT created_at FROM made
"""
FINISH = """
WITH ended AS (
  UPDATE messor.scrape_jobs SET status = $2, code = $3, ended_at = messor.clock()
   WHERE id = $1 AND ended_at IS NULL RETURNING id
)
UPDATE messor.scrape_job_pages o SET done_at = messor.clock(), snapshot_id = $4
  FROM ended e WHERE o.job_id = e.id
"""


@dataclass(frozen=True, slots=True)
class WantedPage:
    """A page as a program asks for it; ages in seconds."""

    url: Url
    max_age: float = TWO_DAYS  # of what the archive may answer with; 0: fetch it
    min_age: float | None = None  # only what is at least so old, from the archive
    archive_only: bool = False
    timeout: float = 30.0

    @property
    def fingerprint(self) -> bytes:
        """By which a repeated request is recognised."""
        text = f"{self.url.href}\n{self.max_age}\n{self.min_age}"
        return hashlib.sha256(text.encode()).digest()


@dataclass(frozen=True, slots=True)
class GivenPage:
    """A page as it is given."""

    page: SnapshotPage
    is_cached: bool  # nothing was fetched for it
    job_id: UUID | None = None


@dataclass(slots=True)
class _Wait:
    """A page that a caller waits for."""

    job_id: UUID
    page_id: int
    since: datetime


class Scraper:
    """Gives pages to programs; `closing` says when to stop waiting."""

    def __init__(self, database: Database, closing: Callable[[], bool] = lambda: False) -> None:
        self._database = database
        self._closing = closing

    async def give(self, caller: Caller, wanted: WantedPage) -> GivenPage:
        """The page, or a refusal that says why not."""
        found = await self._archived(wanted)
        if found is None:
            found = await self._fetched(caller, wanted)
        passed = await release(
            self._database,
            Purpose.AGENT,
            [found],
            lambda given: given.page.page_id,
            caller.uses,
        )
        if not passed:
            raise RightsWithheldError(
                f"What {wanted.url.host} says about use keeps {wanted.url.href} from leaving. "
                f"See: messor rights {wanted.url.href}"
            )
        return found

    async def _archived(self, wanted: WantedPage) -> GivenPage | None:
        page = None
        if wanted.min_age is not None:
            page = await archived.before(self._database, wanted.url, wanted.min_age)
        elif wanted.max_age > 0 or wanted.archive_only:
            page = await archived.newest(self._database, wanted.url)
        if page is not None and (page.age <= wanted.max_age or wanted.archive_only):
            if page.domain_status in NEVER:
                raise DomainClosedError(f"{page.domain} is {page.domain_status}.")
            return GivenPage(page, is_cached=True)
        if wanted.archive_only or wanted.min_age is not None:
            raise NotArchivedError(
                f"The archive holds nothing of {wanted.url.href} of that age, and only the archive "
                "was asked."
            )
        return None

    async def _fetched(self, caller: Caller, wanted: WantedPage) -> GivenPage:
        deadline = clock.now() + min(wanted.timeout, PATIENCE)
        # The archive answers whatever the key's policy says, so that it is read here.
        caller = await Caller.of(self._database, caller.principal, caller.on_behalf_of)
        waiting = await self._begin(caller, wanted)
        state = await self._wait(waiting, deadline)
        for _ in range(MOST_HOPS):
            target = state.target
            if target is None:
                break
            page_id = await self._transact(
                lambda held, to=target: self._follow(held, caller, to)  # type: ignore[misc]
            )
            state = await self._wait(_Wait(waiting.job_id, page_id, waiting.since), deadline)
        refusal = None if state.is_good else state.refusal()
        await self._finish(waiting, state, None if refusal is None else refusal.code)
        if refusal is not None:
            raise refusal
        assert state.snapshot_id is not None
        pages = await archived.by_ids(self._database, [state.snapshot_id])
        if not pages:
            raise PageFailedError(f"{wanted.url.href} was erased meanwhile.")
        return GivenPage(pages[0], is_cached=False, job_id=waiting.job_id)

    async def _begin(self, caller: Caller, wanted: WantedPage) -> _Wait:
        row = await self._database.fetchrow(OPEN, caller.actor, wanted.fingerprint, MEMORY)
        if row is not None:  # sent again: it continues
            return _Wait(row["id"], row["page_id"], row["created_at"])
        try:
            domain, waiting = await self._transact(lambda held: self._request(held, caller, wanted))
        except NotFoundError as error:  # an unknown domain, and the caller may not submit any
            raise DomainClosedError(str(error)) from error
        require_open(domain)
        assert waiting is not None
        return waiting

    async def _request(
        self, connection: Connection, caller: Caller, wanted: WantedPage
    ) -> tuple[Domain, _Wait | None]:
        await traffic.require_running(connection)
        domain = await admit(connection, caller, wanted.url)
        if domain.status != "approved" or not domain.active:
            return domain, None
        await key_policies.take(connection, caller.policy, 1)
        page_id = await requests.add(connection, domain, wanted.url)
        await requests.make_due(connection, [wanted.url], [page_id])
        job_id = new_id()
        since = await connection.fetchval(
            BEGIN,
            job_id,
            caller.actor,
            caller.principal.key_id,
            wanted.url.href,
            domain.id,
            wanted.fingerprint,
            caller.on_behalf_of,
            MEMORY,
            page_id,
        )
        if caller.on_behalf_of:
            await note(connection, caller, domain, wanted.url)
        return domain, _Wait(job_id, page_id, since)

    async def _follow(self, connection: Connection, caller: Caller, target: Url) -> int:
        domain = await admit(connection, caller, target)
        require_open(domain)
        page_id = await requests.add(connection, domain, target)
        await requests.make_due(connection, [target], [page_id])
        return page_id

    async def _wait(self, waiting: _Wait, deadline: float) -> AskedState:
        pause = FIRST_POLL
        while True:
            states = await requests.states(self._database, [(waiting.page_id, waiting.since)])
            state = states.get(waiting.page_id)
            if state is None:
                raise PageFailedError("The page was erased meanwhile.")
            if state.is_decided:
                return state
            left = deadline - clock.now()
            if left <= 0 or state.wait > left or self._closing():
                raise StillWaitingError(
                    f"{state.url} waits for its turn: its host is visited politely.",
                    max(state.wait, 5.0),
                )
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, LONGEST_POLL)

    async def _finish(self, waiting: _Wait, state: AskedState, code: str | None) -> None:
        async def act(connection: Connection) -> None:
            status = "completed" if code is None else "failed"
            await connection.execute(FINISH, waiting.job_id, status, code, state.snapshot_id)
            await requests.settle(connection, sorted({waiting.page_id, state.page_id}))

        await self._transact(act)

    async def _transact(self, act: Callable[[Connection], Awaitable[Result]]) -> Result:
        return await transact(self._database, act)


async def transact(database: Database, act: Callable[[Connection], Awaitable[Result]]) -> Result:
    """Run `act` in a transaction, again where it conflicts with a flush."""
    for attempt in range(ATTEMPTS):
        try:
            async with database.transaction() as connection:
                return await act(connection)
        except TRY_AGAIN:
            if attempt == ATTEMPTS - 1:
                raise
            await asyncio.sleep(0.05 * 2**attempt)
    raise AssertionError("the last attempt returns or raises")
