"""Proof tasks: a file that shows control over a site is fetched and compared; nothing of it is kept."""

from __future__ import annotations

from messor.crawl.flush_queue import FlushQueue
from messor.crawl.page_result import PageResult
from messor.fetch.outcome import WITH_BODY, Fetched
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task
from messor.governance import owners, pushes, site_proofs
from messor.ledger.decisions import Decision
from messor.politeness.lanes import Lane
from messor.store.database import Database
from messor.web.urls import Url


class ProofReader:
    """Judges the files of proof tasks for one worker."""

    def __init__(self, database: Database, flush_queue: FlushQueue) -> None:
        self._database = database
        self._flush_queue = flush_queue

    async def read(self, lane: Lane, task: Task, decision: Decision, fetched: Fetched) -> None:
        """Store the verdict, and let what waited for it happen."""
        body, waiting = bytes(fetched.body), list[tuple[str, list[Url]]]()
        async with self._database.transaction() as connection:
            for proof in await site_proofs.answer(connection, task.page_id, fetched.status, body):
                if proof.purpose == "push":
                    urls = await pushes.key_proved(connection, proof.host, proof.expected)
                    waiting.append((proof.host, urls if proof.is_proved else []))
                elif proof.is_proved:
                    await owners.file_proved(connection, proof.host, proof.expected)
        if fetched.outcome in WITH_BODY:
            fetched.result = fetched.result.accepted()
        self._flush_queue.put(
            PageResult(lane, task, decision, Schedule("completed", None, 0), fetched)
        )
        for host, urls in waiting:
            await pushes.submit(self._database, host, urls)
