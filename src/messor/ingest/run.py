"""A run in progress: its requested pages, what its mode still allows, and the wait for them.

Caps are hard: every page made due counts, redirects included, and none is made due beyond the cap.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from messor.core import clock
from messor.crawl.progress import PATIENCE_SECONDS
from messor.frontier.sample import PageOrigin
from messor.ingest import page_requests, runs
from messor.ingest.page_requests import PageState, RunPace
from messor.ingest.progress import Progress, Watch
from messor.ingest.request import CheckedRequest
from messor.ingest.runs import RunKey
from messor.politeness.risk import HIGH
from messor.registry.domains import Domain
from messor.store.database import LOST_CONNECTION, TRY_AGAIN, Connection, Database, unanswered

POLL_SECONDS = 0.15
MINIMAL_PAGES = 4  # page requests at high risk: homepage, about, services, contact
OUTAGE_SECONDS = 60.0  # a database unavailable for longer ends the run

Result = TypeVar("Result")


async def retry_until_available(work: Callable[[], Awaitable[Result]]) -> Result:
    """Retry for a while until the database is back; everything here is idempotent."""
    until = clock.now() + OUTAGE_SECONDS
    while True:
        try:
            return await work()
        except TRY_AGAIN + LOST_CONNECTION as error:
            if clock.now() > until:
                raise unanswered(error) from error
            await asyncio.sleep(POLL_SECONDS)


@dataclass(frozen=True, slots=True)
class PageChoice:
    """A page to add to the plan."""

    page_id: int
    origin: PageOrigin
    reason: str  # for people


@dataclass(slots=True)
class PlannedPage:
    """A page of the plan and its result so far."""

    page_id: int
    position: int
    origin: PageOrigin
    reason: str
    cached: bool  # good content of the last day is available
    urgent: bool = False  # another page of the plan redirects here
    asked: bool = False  # made due by this run
    done: bool = False
    given_up: bool = False  # its host stopped responding
    state: PageState | None = None

    @property
    def costs(self) -> bool:
        """Whether it uses one of the requests the mode allows; a refusal does not."""
        return self.asked and not (self.done and self.state and not self.state.fetched)

    @property
    def waits(self) -> bool:
        return self.asked and not self.done and not self.given_up


class IngestionRun:
    """The state of one ingestion in this process."""

    def __init__(
        self,
        database: Database,
        checked: CheckedRequest,
        key: RunKey,
        domain: Domain,
        watch: Watch | None,
    ) -> None:
        self.database = database
        self.checked = checked
        self.key = key
        self.domain = domain
        self.began = clock.now()
        self.pages: dict[int, PlannedPage] = {}
        self.sitemaps: set[int] = set()  # requested, but not pages
        self.stage = "discovering"
        self.out_of_time = False
        self.is_minimal = False  # the risk is or was high: only the most important pages
        self.silent_hosts: set[int] = set()
        self._dropped: list[int] = []
        self._watch = watch
        self._reported: Progress | None = None
        self._deadline = self.began

    @property
    def pace(self) -> RunPace:
        may_assist = not self.checked.terms.discovers and self.checked.request.may_approve
        return RunPace(self.checked.terms.delay, may_assist)

    @property
    def is_limited(self) -> bool:
        """Whether risk limits the plan; pages that a person names are never too many."""
        return self.is_minimal and self.checked.terms.discovers

    @property
    def reads_whole_site(self) -> bool:
        """Whether its sample stands for the whole site."""
        return self.checked.terms.discovers and not self.is_minimal

    @property
    def cap(self) -> int:
        """Page requests that the mode and the domain's risk allow."""
        most = self.checked.terms.cap
        return min(most, MINIMAL_PAGES) if self.is_limited else most

    @property
    def free(self) -> int:
        """Page requests still allowed."""
        return self.cap - sum(page.costs for page in self.pages.values())

    @property
    def room(self) -> int:
        """Slots left in the plan."""
        return self.cap - len(self.pages)

    @property
    def waiting(self) -> list[PlannedPage]:
        return [page for page in self.pages.values() if page.waits]

    @property
    def only_requested(self) -> bool:
        return self.domain.harvest == "asked"

    def wait_at_most(self, seconds: float) -> None:
        self._deadline = clock.now() + seconds

    @property
    def remaining(self) -> float:
        return max(self._deadline - clock.now(), 0.0)

    async def plan(self, pages: Iterable[PageChoice], *, urgent: bool = False) -> list[PlannedPage]:
        """Add pages to the plan, as far as there is room."""
        wanted = [choice for choice in pages if choice.page_id not in self.pages]
        wanted = wanted[: max(self.room, 0)]
        if not wanted:
            return []
        known = await self._states([choice.page_id for choice in wanted])
        added = []
        for choice in wanted:
            state = known[choice.page_id]
            settled = state.is_cached or state.redirects
            position = len(self.pages) + len(self._dropped)
            page = PlannedPage(
                choice.page_id, position, choice.origin, choice.reason, settled, urgent,
                done=settled, state=state,
            )  # fmt: skip
            self.pages[page.page_id] = page
            added.append(page)
        rows = [
            (page.page_id, page.position, page.origin, page.reason, page.cached) for page in added
        ]
        await self.transact(lambda connection: runs.plan(connection, self.key, rows))
        return added

    async def request_pages(
        self, pages: Sequence[PlannedPage], sitemaps: Sequence[int] = ()
    ) -> None:
        """Request these pages from workers; no more than the mode still allows."""
        allowed = pages[: max(self.free, 0)]
        ids = [page.page_id for page in allowed] + list(sitemaps)
        if not ids:
            return
        self.sitemaps.update(sitemaps)
        requested = await self.transact(
            lambda connection: page_requests.request_pages(connection, ids, self.pace)
        )
        for page in allowed:
            page.asked = page.page_id in requested
        await self._take_from_cache([page for page in allowed if not page.asked])

    async def _take_from_cache(self, pages: Sequence[PlannedPage]) -> None:
        """Pages that another run fetched since the plan was made, or that may not be requested."""
        if not pages:
            return
        found = await self._states([page.page_id for page in pages])
        for page in pages:
            page.state = found[page.page_id]
            page.cached, page.done = page.state.is_cached, True

    async def poll(self) -> None:
        """Read what workers have done; give up pages whose host stopped responding."""
        waiting = self.waiting
        found = await self._states([page.page_id for page in waiting]) if waiting else {}
        done = []
        for page in waiting:
            page.state = found.get(page.page_id, page.state)
            if page.state is None or not page.state.pending:
                page.done = True
                done.append(page.page_id)
            elif page.state.silent:
                page.given_up = True
                self.silent_hosts.add(page.state.host_id)
        if done and self.only_requested:
            await self.transact(lambda connection: page_requests.settle(connection, done))
        self.report()

    async def note_silence(self) -> None:
        """Note hosts that stopped responding although no page of theirs was requested yet."""
        await self.refresh()
        states = [page.state for page in self.pages.values() if page.state is not None]
        self.silent_hosts |= {state.host_id for state in states if state.silent}

    async def wake(self, host_ids: Iterable[int]) -> None:
        """Have workers read what is due at these hosts, such as robots.txt."""
        ids = list(host_ids)
        await self.transact(lambda connection: page_requests.wake(connection, ids, self.pace))

    async def follow(self) -> list[PlannedPage]:
        """Follow redirects of completed pages, as far as the mode allows.

        Returns pages new to the plan.
        """
        sources = [
            (page, page.state.target)
            for page in self.pages.values()
            if page.done and page.state is not None and page.state.redirects
        ]
        targets = [(page, target) for page, target in sources if target is not None]
        found = await retry_until_available(
            lambda: page_requests.find_pages(self.database, [target for _, target in targets])
        )
        led = [
            PageChoice(
                target,
                PageOrigin.REDIRECT,
                f"{page.state.url if page.state else ''} redirects here",
            )
            for (page, _), target in zip(targets, found, strict=True)
            if target is not None and target not in self.pages
        ]
        if not led:
            return []
        last = [page for page in self.queue if not page.urgent][::-1]
        self.drop(last[: max(len(led) - self.room, 0)])
        return await self.plan(led, urgent=True)

    @property
    def queue(self) -> list[PlannedPage]:
        """Pages of the plan not yet requested; redirect targets come first."""
        left = [page for page in self.pages.values() if not page.asked and not page.done]
        return sorted(left, key=lambda page: (not page.urgent, page.position))

    def drop(self, pages: Iterable[PlannedPage]) -> None:
        """Remove pages from the plan that the mode no longer allows."""
        for page in pages:
            self._dropped.append(page.page_id)
            del self.pages[page.page_id]

    async def restore(self) -> None:
        """Leave nothing due that was due for this run only."""
        ids = [*(page.page_id for page in self.pages.values() if page.asked), *self.sitemaps]

        async def act(connection: Connection) -> None:
            await page_requests.restore(
                connection, self.domain.id, self.key.id, ids, only_requested=self.only_requested
            )
            await runs.drop(connection, self.key, self._dropped)

        await self.transact(act)

    async def set_stage(self, stage: str) -> None:
        self.stage = stage
        await self.transact(lambda connection: runs.set_stage(connection, self.key, stage))
        self.report()

    def report(self) -> None:
        """Report progress when it changed."""
        fetched = sum(page.done and page.costs for page in self.pages.values())
        now = Progress(self.key.trace_id, self.stage, len(self.pages), fetched, len(self.waiting))
        if self._watch is not None and now != self._reported:
            self._watch(now)
        self._reported = now

    async def pause(self) -> None:
        await asyncio.sleep(POLL_SECONDS)

    async def transact(self, act: Callable[[Connection], Awaitable[Result]]) -> Result:
        """One transaction, retried after a conflict or a server outage."""

        async def once() -> Result:
            async with self.database.transaction() as connection:
                return await act(connection)

        return await retry_until_available(once)

    async def _states(self, page_ids: Sequence[int]) -> dict[int, PageState]:
        found = await retry_until_available(
            lambda: page_requests.states(
                self.database,
                page_ids,
                since=self.key.started_at,
                patience=PATIENCE_SECONDS,
                deadline=self.remaining,
            )
        )
        self.is_minimal |= any(state.risk > HIGH for state in found.values())
        return found

    async def refresh(self) -> None:
        """Reload the state of every page of the plan."""
        found = await self._states(list(self.pages))
        for page in self.pages.values():
            page.state = found.get(page.page_id, page.state)
