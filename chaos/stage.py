"""The stage: a simulated web, an embedded PostgreSQL and a crew, all gone when the run is over."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from chaos.crew import Crew, sweep
from chaos.gather import pages_of
from chaos.history import Fault, Page
from chaos.line import Line, open_line
from messor.core.terminal import say
from messor.crawl import progress
from messor.governance import admission
from messor.registry import domains
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.database import Database
from messor.store.session import Session, embedded_server, open_session
from simweb import World, WorldProcess
from simweb.conditions import Conditions

ACTOR = "chaos"
JITTER_MS = 30
PAUSE_MS = 800  # where addresses are shared: long enough for answers to overlap
PENDING = "SELECT count(*) FROM messor.crawl_tasks WHERE status = 'pending'"
HOLDERS = """
SELECT w.name FROM messor.worker_leases w
 WHERE w.ended_at IS NULL AND w.expires_at > messor.clock()
   AND EXISTS (SELECT FROM messor.lanes l WHERE l.worker_id = w.id)
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """How large a run is, and what is done to it."""

    name: str
    seed: int
    hosts: int
    workers: int
    kills: int = 0
    stalls: int = 0
    crashes: int = 0  # of PostgreSQL
    cuts: int = 0  # of the line to it
    steps: int = 0  # of the database's clock, an hour ahead and after a while back
    step_seconds: float = 25.0
    skew: float = 0.0  # seconds that workers' clocks are wrong, by turns ahead and behind
    pages: int | None = None  # per host; None draws 8 to 20
    addresses: int = 0  # that the hosts share; 0 gives each its own
    refusing: bool = False  # some pages answer 429 at first; every other kill follows a refusal
    concurrency: int = 128  # visits of a worker
    visit: float = 60.0
    delay: float = 0.5
    lease: float = 3.0
    seconds: float = 480.0

    @property
    def conditions(self) -> Conditions:
        pause_ms = PAUSE_MS if self.addresses else 0
        return Conditions(self.addresses, pause_ms=pause_ms, refusing=self.refusing)


class Stage:
    """What a scenario plays on."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        settings: Settings,
        web: WorldProcess,
        session: Session,
        line: Line | None,
    ) -> None:
        self.plan = plan
        self.line = line
        self.archive = settings.data_dir / "archive"
        self.session = session
        self.web = web
        world = World("chaos", plan.seed, hosts=plan.hosts, pages=plan.pages)
        self.expected: frozenset[Page] = pages_of(world)
        self.address_slots = settings.address_slots
        self.crew = Crew(
            folder,
            {
                **web.settings_env(),
                "MESSOR_DATA_DIR": str(settings.data_dir),
                "MESSOR_CONTACT": settings.contact,
                "MESSOR_WORKER_LEASE": str(plan.lease),
                "MESSOR_CONCURRENCY": str(plan.concurrency),
                "MESSOR_VISIT_SECONDS": str(plan.visit),
                "MESSOR_ADDRESS_SLOTS": str(settings.address_slots),
                **_given_server(plan, session, line),
            },
            skew=plan.skew,
        )
        self.faults: list[Fault] = []
        self._server = embedded_server(settings)

    @property
    def database(self) -> Database:
        return self.session.database

    async def share_done(self) -> float:
        """How much of the web was asked for, each host's robots.txt included."""
        counters = await asyncio.to_thread(self.web.counters)
        return counters["requests"] / (len(self.expected) + self.plan.hosts)

    @property
    def addresses(self) -> dict[str, str]:
        """Where hosts live, if they share addresses."""
        if not self.plan.addresses:
            return {}
        names = self.web.names.items()
        return {name.rpartition(":")[0]: place.rpartition(":")[0] for name, place in names}

    async def refusals(self) -> int:
        """How often the web answered 429."""
        return (await asyncio.to_thread(self.web.counters))["refusals"]

    async def is_finished(self) -> bool:
        """Nobody holds a lane, and no page waits."""
        standing = await progress.standing(self.database)
        return standing.idle and await self.database.fetchval(PENDING) == 0

    async def holders(self) -> list[int]:
        """Workers of the crew that hold lanes and are awake: in the middle of something."""
        rows = await self.database.fetch(HOLDERS)
        return sorted(self.crew.awake & {int(row["name"].rpartition("-")[2]) for row in rows})

    async def postmaster(self) -> int | None:
        return (await asyncio.to_thread(self._server.status)).pid


@contextlib.asynccontextmanager
async def open_stage(plan: Plan) -> AsyncIterator[Stage]:
    """Everything a run needs; on leaving, however that comes about, nothing of it is left."""
    with TemporaryDirectory(prefix="messor-chaos-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        web = WorldProcess(
            "chaos",
            plan.seed,
            hosts=plan.hosts,
            pages=plan.pages,
            jitter_ms=JITTER_MS,
            conditions=plan.conditions,
            log_file=folder / "requests.tsv",
        )
        settings = Settings(
            data_dir=folder / "data",
            database_url=None,
            contact="https://example.invalid/chaos",
            worker_lease=plan.lease,
        )
        try:
            with web:
                _prefer(web.pid)
                async with open_session(settings) as session, _line(plan, session) as line:
                    stage = Stage(plan, folder, settings, web, session, line)
                    try:
                        await _admit_all(stage)
                        yield stage
                    finally:
                        stage.crew.dismiss()
        finally:
            for pid in sweep(folder):
                say(f"Process {pid} was still there and was ended.")


def _given_server(plan: Plan, session: Session, line: Line | None) -> dict[str, str]:
    """Workers that are not to look after the server themselves are given it."""
    if line is not None:
        return {"MESSOR_DATABASE_URL": line.dsn}
    # Locks and files of the server would be stamped with a clock that is wrong.
    return {"MESSOR_DATABASE_URL": session.database.dsn} if plan.skew else {}


@contextlib.asynccontextmanager
async def _line(plan: Plan, session: Session) -> AsyncIterator[Line | None]:
    """The line to PostgreSQL, where it is to be cut."""
    if not plan.cuts:
        yield None
        return
    async with open_line(session.database.dsn) as line:
        yield line


def _prefer(pid: int) -> None:
    """The server's stamps must not wait for a busy machine: they are the measure of everything."""
    try:
        os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))
    except (OSError, AttributeError):  # not permitted, or a system without it
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, pid, -10)


async def _admit_all(stage: Stage) -> None:
    """Approve every domain, with the plan's delay as its own."""
    async with stage.database.transaction() as connection:
        for site in stage.web.sites:
            submission = Submission.understand(site["start_url"])
            domain, _ = await domains.submit(connection, submission, actor=ACTOR)
            domain = await domains.configure(
                connection, domain, actor=ACTOR, delay=stage.plan.delay, max_crawl_depth=100
            )
            await admission.approve(connection, domain, actor=ACTOR)
