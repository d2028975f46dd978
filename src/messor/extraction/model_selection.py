"""Selects the extracted pages to ask a model about, and queues them as jobs.

A job names the page, the content it was extracted from, the verticals whose flag is undecided, and
the record kinds of each vertical. A page with earlier records of a model is checked again even if
nothing is asked: they stay only while the page contains their words. `extraction.model_jobs` runs
the jobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal

import msgspec

from messor.ai.extract import W5_KINDS, version_of
from messor.ai.options import model_settings
from messor.ai.questions import KINDS
from messor.content import kinds as content
from messor.extraction.reader_pool import wanted_kinds
from messor.extraction.relevance_flags import ERROR, Flagged
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.records.store import StoredOutcome
from messor.settings import Settings
from messor.store.database import Connection

JOB_TYPE = "extract_ai"
ATTEMPTS = 8  # over an hour: an overloaded endpoint recovers
PRIORITY = 6
# Products have their own rows, derived from parser results.
ASKED = frozenset(name for name in KINDS if content.KINDS[name].find)
NO_VERTICAL = ""


class ModelQuestion(msgspec.Struct, frozen=True):
    """The questions of a job."""

    page_id: int
    snapshot_id: int
    seen_at: datetime
    cause: str
    judge: list[str] = []  # verticals whose flag is undecided
    read: dict[str, list[str]] = {}  # record kinds by vertical


@dataclass(frozen=True, slots=True)
class AskingPlan:
    """Whether there is a model, and which pages it reads."""

    version: str | None = None
    model: str | None = None
    pages: Literal["verticals", "all", "none"] = "verticals"
    kinds: frozenset[str] | None = None  # record kinds to read; None: all

    def may_read(self, kind: str) -> bool:
        return self.kinds is None or kind in self.kinds


NO_MODEL = AskingPlan()


def asking_plan(settings: Settings) -> AskingPlan:
    found = model_settings(settings)
    if found is None:
        return NO_MODEL
    kinds = wanted_kinds(settings.record_kinds)
    return AskingPlan(version_of(found.model), found.model, settings.ai_pages, kinds)


async def ask(
    connection: Connection,
    plan: AskingPlan,
    outcomes: Sequence[StoredOutcome],
    flagged: Mapping[int, Sequence[Flagged]],
) -> int:
    """Queue model jobs for pages that were just stored; returns how many."""
    if plan.version is None and not any(outcome.by_model for outcome in outcomes):
        return 0
    wanted = [
        _job(plan, question)
        for outcome in outcomes
        if (question := _question(plan, outcome, flagged.get(outcome.sighting.page_id, ())))
    ]
    return len(await jobs.enqueue(connection, wanted))


def _question(
    plan: AskingPlan, outcome: StoredOutcome, flagged: Sequence[Flagged]
) -> ModelQuestion | None:
    page, sighting = outcome.page, outcome.sighting
    if page is None or sighting.snapshot_id is None:
        return None
    judge: list[str] = []
    read: dict[str, list[str]] = {}
    if plan.version is not None and page.is_read and page.page_type != ERROR:
        judge = [each.want.vertical for each in flagged if each.flag.relevant is None]
        read = _reads(plan, flagged)
    if not (judge or read or outcome.by_model):
        return None
    return ModelQuestion(
        sighting.page_id, sighting.snapshot_id, sighting.seen_at, sighting.cause, judge, read
    )


def _reads(plan: AskingPlan, flagged: Sequence[Flagged]) -> dict[str, list[str]]:
    """Return the kinds to read for each vertical; none for one the page is irrelevant to."""
    if plan.pages == "none":
        return {}
    wanted = {
        each.want.vertical: [kind for kind in each.want.kinds if kind in ASKED]
        for each in flagged
        if each.flag.relevant is not False
    }
    if not flagged and plan.pages == "all":
        wanted[NO_VERTICAL] = list(W5_KINDS)
    wanted = {name: list(filter(plan.may_read, kinds)) for name, kinds in wanted.items()}
    return {vertical: kinds for vertical, kinds in wanted.items() if kinds}


def _job(plan: AskingPlan, question: ModelQuestion) -> NewJob:
    payload = msgspec.json.encode(question)
    # The same snapshot is asked about once, unless the question differs.
    mark = sha256(payload + (plan.version or "").encode()).hexdigest()[:16]
    return NewJob(
        JOB_TYPE,
        f"{JOB_TYPE}:{question.page_id}:{question.snapshot_id}:{mark}",
        "page",
        payload=msgspec.json.decode(payload),
        prompt_version=(plan.version or "").partition(":")[0] or None,
        model=plan.model,
        priority=PRIORITY,
        max_attempts=ATTEMPTS,
    )
