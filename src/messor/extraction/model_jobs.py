"""Model jobs: ask a model about a page, then store the flag, its records and what remains of
earlier ones.

No transaction is open while a model is asked. Reader processes parse the pages. Results are stored
in the job's own transaction, beside those of parsers, which are never touched; an unanswered
question removes nothing. A page whose site does not allow reading by a model is not given to one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from messor.ai.extract import AiReader, AiReading
from messor.ai.ledger import Subject
from messor.ai.model import Model
from messor.ai.model_page import ModelInput, ProvenAnswer
from messor.ai.reply import ABOUT_THE_TEXT, Reply, ReplyStatus
from messor.archive.storage import ArchiveSource, archive_at
from messor.extraction.enclosed_records import enclose
from messor.extraction.events import events_of
from messor.extraction.model_selection import JOB_TYPE, ModelQuestion
from messor.extraction.reader_pool import ReaderPool
from messor.extraction.reader_protocol import GetInput, Prove, ReadRequest, Recall
from messor.insight.relevance import Flagger, PageText
from messor.insight.relevance.store import JudgedPage, in_force, keep_flags
from messor.insight.relevance.topics import topic_of
from messor.jobs.faults import JobError
from messor.jobs.handlers import Effects, Handlers, Result
from messor.jobs.jobs import Job
from messor.ledger import errors, events
from messor.ledger.errors import LoggedError
from messor.parsers.page_findings import FoundRecord, found_records
from messor.records import model_store
from messor.records.changes import Sighting
from messor.records.model_store import ModelRecords
from messor.rights.release import Purpose, release
from messor.store.database import Connection, Database
from messor.verticals import verticals

METHOD = "model"
HELD = "The page was not given to a model: messor rights held --purpose model"
OUTDATED = {"outdated": "The page has changed, is gone, or may no longer be crawled."}

FACTS = """
SELECT p.url, p.url_hash, h.domain_id, d.domain, s.content_type, s.status_code,
       g.name AS segment, s.segment_offset, s.segment_length,
       coalesce(x.metadata ->> 'title', x.headline, '') AS title, coalesce(x.main_text, '') AS text
  FROM messor.extractions x JOIN messor.pages p ON p.id = x.page_id
  JOIN messor.hosts h ON h.id = p.host_id
  JOIN messor.domains d ON d.id = h.domain_id AND d.status = 'approved'
  JOIN messor.page_snapshots s ON s.id = x.snapshot_id
  JOIN messor.segments g ON g.id = s.segment_id
 WHERE x.page_id = $1 AND x.snapshot_id = $2
"""


@dataclass(frozen=True, slots=True)
class ModelPageFacts:
    """The page of a job, as it was extracted."""

    url: str
    url_hash: bytes
    domain_id: UUID
    domain: str
    content_type: str | None
    status_code: int | None
    segment: str
    segment_offset: int
    segment_length: int
    title: str
    text: str


@dataclass(slots=True)
class ModelFindings:
    """The results of a job so far."""

    question: ModelQuestion
    facts: ModelPageFacts
    judged: list[JudgedPage] = field(default_factory=list)
    reading: ModelRecords = field(default_factory=ModelRecords)
    unverified: int = 0
    replies: list[Reply] = field(default_factory=list)
    model: Model | None = None  # none is configured, or the page may not be given to it
    is_held: bool = False

    @property
    def sighting(self) -> Sighting:
        question, facts = self.question, self.facts
        return Sighting(
            question.page_id,
            question.snapshot_id,
            facts.domain_id,
            facts.url,
            facts.url_hash,
            question.seen_at,
            question.cause,
        )


class ArchivedPage:
    """A page for a model, parsed by a reader process."""

    def __init__(self, readers: ReaderPool, request: ReadRequest) -> None:
        self._readers = readers
        self._request = request

    async def input(self, size: int, max_chunks: int) -> ModelInput:
        request = msgspec.structs.replace(self._request, get_input=GetInput(size, max_chunks))
        found = (await self._readers.answer(request)).model_input
        assert found is not None
        return found

    async def prove(self, version: str, answer: dict[str, Any]) -> ProvenAnswer:
        request = msgspec.structs.replace(self._request, prove=Prove(version, answer))
        proof = (await self._readers.answer(request)).proof
        assert proof is not None
        return proof

    async def still_holds(self, records: Sequence[FoundRecord]) -> list[FoundRecord]:
        """Return the records whose quotes are all on the page."""
        if not records:
            return []
        quotes = [model_store.quotes_of(record) for record in records]
        request = msgspec.structs.replace(self._request, recall=Recall(quotes))
        held = (await self._readers.answer(request)).recalled or []
        return [record for record, holds in zip(records, held, strict=True) if holds]


class ModelJobs:
    """Runs model jobs; without a model it only checks earlier records of one."""

    def __init__(
        self, database: Database, archive: ArchiveSource, readers: ReaderPool, model: Model | None
    ) -> None:
        self._database = database
        self._archive = archive_at(archive)
        self._readers = readers
        self._model = model

    def register(self, handlers: Handlers) -> None:
        handlers.prepares(JOB_TYPE)(self.prepare)

    async def prepare(self, job: Job) -> Effects:
        """Ask the model and return what to store; raises if the job must be retried."""
        question = msgspec.convert(job.payload, ModelQuestion, strict=False)
        row = await self._database.fetchrow(FACTS, question.page_id, question.snapshot_id)
        if row is None:
            return _outdated
        findings = ModelFindings(question, ModelPageFacts(**row))
        await self._choose_model(findings)
        await self._find(findings, Subject(findings.facts.domain, job.dedupe_key, question.page_id, question.snapshot_id))  # fmt: skip
        effects = partial(_store, findings=findings)
        failure = _failure(findings.replies)
        if failure is not None:
            async with self._database.transaction() as connection:
                await effects(connection)
            raise failure
        return effects

    async def _choose_model(self, findings: ModelFindings) -> None:
        """The model that may read the page, if there is one."""
        if self._model is None:
            return
        pages = [findings.question.page_id]
        if await release(self._database, Purpose.MODEL, pages, lambda page: page):
            findings.model = self._model
        else:
            findings.is_held = True

    async def _find(self, findings: ModelFindings, subject: Subject) -> None:
        page = ArchivedPage(
            self._readers, await enclose(self._archive, self._request(findings.facts))
        )
        known = await model_store.earlier(self._database, findings.question.page_id)
        held = await page.still_holds(known)
        turned_away = await self._judge(findings, subject)
        kinds = _kinds(findings.question, turned_away)
        reading = AiReading()
        if findings.model is not None and kinds:
            reading = await AiReader(findings.model).read(page, subject, kinds)
        findings.replies += reading.replies
        findings.unverified = len(reading.unverified)
        all_said = bool(reading.replies) and reading.is_complete and not reading.is_cut
        findings.reading = ModelRecords(
            found_records(reading.records), held, frozenset(kinds) if all_said else frozenset()
        )

    async def _judge(self, findings: ModelFindings, subject: Subject) -> set[str]:
        """Judge the page for verticals whose flag is undecided; returns those it is irrelevant to."""
        question, facts, away = findings.question, findings.facts, set[str]()
        if findings.model is None:
            return away
        for name in question.judge:
            applied = await verticals.find(self._database, name)
            if applied is None:
                continue
            topic = topic_of(applied.vertical)
            learnt = await in_force(self._database, topic)
            flagger = Flagger(topic, learnt=learnt, model=findings.model)
            flag, reply = await flagger.ask(PageText(facts.title, facts.text), subject)
            if reply is not None:
                findings.replies.append(reply)
            findings.judged.append(
                JudgedPage(question.page_id, question.snapshot_id, name, flag, facts.domain_id)
            )
            if flag.relevant is False:
                away.add(name)
        return away

    def _request(self, facts: ModelPageFacts) -> ReadRequest:
        return ReadRequest(
            folder=str(self._archive.folder),
            segment=facts.segment,
            offset=facts.segment_offset,
            length=facts.segment_length,
            content_type=facts.content_type,
            url=facts.url,
            status=facts.status_code or 200,
        )


async def _outdated(_: Connection) -> Result:
    return dict(OUTDATED)


def _kinds(question: ModelQuestion, turned_away: set[str]) -> list[str]:
    wanted = (
        kind
        for vertical, kinds in question.read.items()
        if vertical not in turned_away
        for kind in kinds
    )
    return list(dict.fromkeys(wanted))


def _failure(replies: Sequence[Reply]) -> JobError | None:
    """Return why a job is retried or given up; None if it is done."""
    rejected = next((r for r in replies if r.ending is ReplyStatus.REJECTED), None)
    if rejected is not None:
        return JobError(rejected.sentence, category="http", retryable=False)
    again = next((r for r in replies if r.is_retryable), None)
    if again is not None:
        return JobError(again.sentence, category="network", retryable=True)
    return None


async def _store(connection: Connection, *, findings: ModelFindings) -> Result:
    """Store the results; nothing if the page has changed meanwhile."""
    outcome = await model_store.store_reading(connection, findings.sighting, findings.reading)
    if outcome is None:
        return dict(OUTDATED)
    await keep_flags(connection, findings.judged)
    await events.record(connection, events_of([outcome], method=METHOD))
    faults = [_fault(findings, r) for r in findings.replies if r.ending in ABOUT_THE_TEXT]
    if faults:
        await errors.log(connection, faults)
    changes = outcome.changes
    return {
        "records": len(changes.new) + len(changes.changed) + len(changes.same),
        "new": len(changes.new),
        "removed": len(changes.removed),
        "unverified": findings.unverified,
        "flags": {each.vertical: each.flag.relevant for each in findings.judged},
        "endings": dict(Counter(str(reply.ending) for reply in findings.replies)),
        "messages": [
            *sorted({r.sentence for r in findings.replies if r.sentence}),
            *([HELD] if findings.is_held else []),
        ],
    }


def _fault(findings: ModelFindings, reply: Reply) -> LoggedError:
    detail = {
        "url": findings.facts.url,
        "snapshot_id": findings.question.snapshot_id,
        "step": METHOD,
    }
    name = f"Model{str(reply.ending).title().replace('_', '')}"
    return LoggedError(
        "validation", name, reply.sentence, None, findings.question.page_id, None, detail
    )
