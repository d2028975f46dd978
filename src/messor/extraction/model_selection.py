"""Asking: which extracted pages are put to a model, as jobs that extraction asks for.

A job names the page, the content it was extracted from, the verticals whose flag is undecided, and
the kinds of records each vertical wants. A page on which a model found records before is looked at
again even where nobody is asked any more: they stand only while the page holds their words. What a
job does is `extraction.model_jobs`.
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
from messor.extraction.reader_pool import wanted_kinds
from messor.extraction.relevance_flags import ERROR, Flagged
from messor.jobs import jobs
from messor.jobs.jobs import NewJob
from messor.records.store import StoredOutcome
from messor.settings import Settings
from messor.store.database import Connection

JOB_TYPE = "extract_ai"
ATTEMPTS = 8  # over an hour: an endpoint that is overloaded comes back
PRIORITY = 6
# What a page sells has rows of its own, which follow from what parsers read.
ASKED = frozenset(KINDS) - {"product"}
NO_VERTICAL = ""


class ModelQuestion(msgspec.Struct, frozen=True):
    """What a job is to find out."""

    page_id: int
    snapshot_id: int
    seen_at: datetime
    cause: str
    judge: list[str] = []  # verticals whose flag is undecided
    read: dict[str, list[str]] = {}  # kinds of records by vertical


@dataclass(frozen=True, slots=True)
class AskingPlan:
    """Whether there is a model, and which pages it reads."""

    version: str | None = None
    model: str | None = None
    pages: Literal["verticals", "all", "none"] = "verticals"
    kinds: frozenset[str] | None = None  # of records that are read; None: all

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
    """Ask for what a model can add to pages that were just stored; answers how many jobs that is."""
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
    """What is to be read of a page: nothing for a vertical that it is not about."""
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
    said = msgspec.json.encode(question)
    # The same sight of a page is asked about once, unless something else is asked.
    mark = sha256(said + (plan.version or "").encode()).hexdigest()[:16]
    return NewJob(
        JOB_TYPE,
        f"{JOB_TYPE}:{question.page_id}:{question.snapshot_id}:{mark}",
        "page",
        payload=msgspec.json.decode(said),
        prompt_version=(plan.version or "").partition(":")[0] or None,
        model=plan.model,
        priority=PRIORITY,
        max_attempts=ATTEMPTS,
    )
