"""The worker: a process that crawls what is due, one worker session after another, until stopped."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter

from messor import __version__
from messor.archive.segments import seal_abandoned
from messor.archive.storage import Archive
from messor.core.heartbeat import Heartbeat
from messor.core.memory import collect_rarely, keep_freed_memory
from messor.core.metrics import Metrics
from messor.crawl.sent_log import SentLog
from messor.crawl.session import (
    EVERYTHING,
    FINAL_LOG_SECONDS,
    SPACE_SECONDS,
    Repair,
    WorkerSession,
)
from messor.errors import LeaseLostError, UnavailableError
from messor.fetch.http import HttpFetcher
from messor.fetch.identity import keys as identity_keys
from messor.fetch.identity.signer import make_signer
from messor.fetch.providers import make_router
from messor.fetch.proxies.limiter import ProxyLimiter
from messor.fetch.proxies.pool import ProxyPool
from messor.fetch.proxies.probe import Prober
from messor.fetch.proxies.seal import seal_for
from messor.fetch.proxies.target import target_of
from messor.fetch.router import Router
from messor.frontier.seen import SeenFilter
from messor.governance.promotion import let_go
from messor.jobs.completion import patient
from messor.politeness.lanes import WorkScope
from messor.politeness.lease import WorkerLease
from messor.settings import Settings
from messor.store.database import LOST_CONNECTION, Database
from messor.store.space import Space

STARTING = "starting a session"
LAST_LOG_SECONDS = 8.0  # to log sent requests before the process ends


async def _nothing_to_repair() -> None:
    await asyncio.sleep(0)


class Worker:
    """Runs worker sessions until stopped."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        *,
        repair: Repair = _nothing_to_repair,
        errand: WorkScope = EVERYTHING,
        space: Space | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._metrics = metrics or Metrics()
        self._scope = errand
        self._settings = settings
        self._database = database
        self._repair = patient(repair)
        self._space = space or Space.of(settings, database)
        self._archive = Archive.of(settings)
        self._name = f"{socket.gethostname()}-{os.getpid()}"
        self._seen = SeenFilter()
        self._sent_log = SentLog()
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()
        self.outcomes: Counter[str] = Counter()
        self.shift: WorkerSession | None = None

    def stop(self) -> None:
        """Finish the pages in progress, flush, and return from `run`."""
        self._stop.set()

    async def run(self) -> None:
        collect_rarely()
        keep_freed_memory()
        signer = make_signer(self._settings)
        fetcher = HttpFetcher(self._settings, __version__, signer)
        router = make_router(self._settings, self._database, fetcher)
        prober = Prober(
            fetcher.guard,
            seconds=self._settings.connect_timeout,
            ca_file=self._settings.ca_file,
            target=target_of(self._settings),
        )
        limiter = ProxyLimiter(self._settings.proxy_requests_per_second)
        pool = ProxyPool(self._database, seal_for(self._settings), prober, limiter)
        try:
            while not self._stop.is_set():
                self.heartbeat.beat(STARTING)
                if self._space.is_low:
                    await asyncio.sleep(SPACE_SECONDS)
                    continue
                if not await self._sent_log.write(FINAL_LOG_SECONDS):
                    await self._repair()
                    continue
                try:
                    self.shift = await self._begin_session(fetcher, router, pool)
                    self.heartbeat.end(STARTING)
                    await self.shift.run()
                except LeaseLostError:
                    self._seen = SeenFilter()
                except UnavailableError:
                    await asyncio.sleep(SPACE_SECONDS)
                except LOST_CONNECTION:
                    await self._repair()
                    await asyncio.sleep(0.5)
        finally:
            self.shift = None
            await self._sent_log.write(LAST_LOG_SECONDS)
            await router.close()
            await fetcher.close()

    async def _begin_session(
        self, fetcher: HttpFetcher, router: Router, pool: ProxyPool
    ) -> WorkerSession:
        settings = self._settings
        lease = await WorkerLease.take(self._database, self._name, settings.worker_lease)
        try:
            await seal_abandoned(self._archive, self._database)
            await let_go(settings, self._database)
            if fetcher.signer is not None:
                await identity_keys.ensure(self._database, seal_for(settings))
                await identity_keys.refresh(fetcher.signer, self._database, seal_for(settings))
            return self._new_session(lease, fetcher, router, pool)
        except (OSError, UnavailableError):  # no archive; retried soon under a new lease
            async with self._database.transaction() as connection:
                await lease.end(connection)
            raise

    def _new_session(
        self, lease: WorkerLease, fetcher: HttpFetcher, router: Router, pool: ProxyPool
    ) -> WorkerSession:
        settings = self._settings
        return WorkerSession(
            settings,
            self._database,
            fetcher,
            lease,
            router=router,
            pool=pool,
            archive=self._archive,
            name=self._name,
            seen=self._seen,
            sent_log=self._sent_log,
            outcomes=self.outcomes,
            stop=self._stop,
            repair=self._repair,
            errand=self._scope,
            space=self._space,
            heartbeat=self.heartbeat,
            metrics=self._metrics,
        )
