"""Extraction as a component of a command or process: reader processes and the model worker."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from messor.ai.model import Model
from messor.ai.options import model_settings
from messor.archive.storage import Archive
from messor.core.heartbeat import Heartbeat
from messor.core.metrics import Metrics
from messor.extraction.extract import Extractor, Tally
from messor.extraction.model_jobs import ModelJobs
from messor.extraction.model_selection import asking_plan
from messor.extraction.model_worker import ModelWorker
from messor.extraction.reader_pool import ReaderPool, wanted_kinds
from messor.settings import Settings
from messor.store.session import Session
from messor.store.space import Space

HANG_SECONDS = 600.0  # a batch may be read for two minutes, and stored after that


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The result of an extraction run."""

    tally: Tally
    asked: Counter[str]  # model jobs by outcome


class ExtractionComponent:
    """Extraction with its reader processes and model worker."""

    def __init__(
        self,
        settings: Settings,
        session: Session,
        *,
        processes: int | None = None,
        progress: Callable[[Tally], None] | None = None,
        space: Space | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        archive = Archive.of(settings)
        self.heartbeat = Heartbeat(HANG_SECONDS)
        found = model_settings(settings)
        self._model = None if found is None else Model(found, session.database)
        self._readers = ReaderPool(processes)
        self._extractor = Extractor(
            session.database,
            archive,
            self._readers,
            plan=asking_plan(settings),
            kinds=wanted_kinds(settings.record_kinds),
            progress=progress,
            repair=session.repair,
            space=space or Space.of(settings, session.database),
            heartbeat=self.heartbeat,
            metrics=metrics,
        )
        jobs = ModelJobs(session.database, archive, self._readers, self._model)
        self._asker = ModelWorker(
            session.database,
            jobs,
            repair=session.repair,
            heartbeat=self.heartbeat,
            metrics=metrics,
        )

    def stop(self) -> None:
        self._extractor.stop()
        self._asker.stop()

    async def run(self, *, follow: bool = True) -> ExtractionResult:
        """Run until stopped; without `follow`, until the queue is empty."""
        try:
            if follow:
                await self._follow()
            else:
                await self._extractor.run()
                await self._asker.run(follow=False)
        finally:
            await self._readers.close()
            if self._model is not None:
                await self._model.close()
        return ExtractionResult(self._extractor.tally, self._asker.outcomes)

    async def _follow(self) -> None:
        both = [
            asyncio.create_task(self._extractor.run(follow=True)),
            asyncio.create_task(self._asker.run()),
        ]
        try:
            await asyncio.gather(*both)
        finally:
            for each in both:
                each.cancel()
            await asyncio.wait(both)


class ExtractionFollower:
    """Extraction beside crawl workers: reads pages as they come in."""

    def __init__(
        self,
        settings: Settings,
        session: Session,
        *,
        processes: int = 1,
        space: Space | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._extraction = ExtractionComponent(
            settings, session, processes=processes, space=space, metrics=metrics
        )

    @property
    def heartbeat(self) -> Heartbeat:
        return self._extraction.heartbeat

    def stop(self) -> None:
        self._extraction.stop()

    async def run(self) -> None:
        await self._extraction.run()
