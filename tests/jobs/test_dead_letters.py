"""Dead letters: found by what is known of them, revived and purged in bulk."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from messor.jobs import dead_letters, jobs, leases, outcomes
from messor.jobs.dead_letter_queries import DEAD_LETTERS, DeadLetterFilter
from messor.jobs.jobs import NewJob
from messor.ledger.errors import LoggedError
from messor.store.database import Database
from tests.jobs.conftest import Later


@pytest.fixture
async def dead(database: Database) -> dict[str, NewJob]:
    """Four letters by their keys."""
    faults = {
        "route-1": LoggedError("network", "OSError", "no route to 10.0.0.1:80", None),
        "route-2": LoggedError("network", "OSError", "no route to 10.0.0.2:8080", None),
        "odd": LoggedError("parse", "DecodeError", "odd byte at 17", None),
        "export": LoggedError("network", "TimeoutError", "took longer than 30 s", None),
    }
    made = {key: NewJob("export" if key == "export" else "score", key, "page") for key in faults}
    async with database.transaction() as connection:
        await jobs.enqueue(connection, list(made.values()))
    for job in await leases.claim(database, "w", ["score", "export"], 10, 60):
        async with database.transaction() as connection:
            await outcomes.fail(connection, job, faults[job.dedupe_key], retryable=False)
    return made


async def keys(database: Database, choice: DeadLetterFilter) -> set[str]:
    return {letter.dedupe_key for letter in (await DEAD_LETTERS.read(database, choice)).items}


@pytest.mark.parametrize(
    "choice, found",
    [
        (DeadLetterFilter(), {"route-1", "route-2", "odd", "export"}),
        (DeadLetterFilter(job_type="export"), {"export"}),
        (DeadLetterFilter(category="network"), {"route-1", "route-2", "export"}),
        (DeadLetterFilter(category="network", job_type="score"), {"route-1", "route-2"}),
        (DeadLetterFilter(pattern="no route to <n>"), {"route-1", "route-2"}),
        (DeadLetterFilter(pattern="no route to 10.9.9.9:1"), {"route-1", "route-2"}),
        (DeadLetterFilter(pattern="byte at"), {"odd"}),
        (DeadLetterFilter(pattern="%"), set()),
        (DeadLetterFilter(job_ids=[]), set()),
        (DeadLetterFilter(older_than=timedelta(hours=1)), set()),
        (DeadLetterFilter(older_than=timedelta()), {"route-1", "route-2", "odd", "export"}),
    ],
)
async def test_letters_are_chosen(
    database: Database, dead: dict[str, NewJob], choice: DeadLetterFilter, found: set[str]
) -> None:
    assert await keys(database, choice) == found
    assert await DEAD_LETTERS.count(database, choice) == len(found)


async def test_by_id_and_by_age(database: Database, dead: dict[str, NewJob], later: Later) -> None:
    ids = [dead["odd"].id, dead["export"].id]
    assert await keys(database, DeadLetterFilter(job_ids=ids)) == {"odd", "export"}
    after = await later("2 hours")
    assert await DEAD_LETTERS.count(after, DeadLetterFilter(older_than=timedelta(hours=1))) == 4


async def test_a_letter_tells_why(database: Database, dead: dict[str, NewJob]) -> None:
    (letter,) = (
        await DEAD_LETTERS.read(database, DeadLetterFilter(job_ids=[dead["odd"].id]))
    ).items
    assert (letter.category, letter.error_type) == ("parse", "DecodeError")
    assert (letter.reason, letter.attempts) == ("odd byte at 17", 1)


async def test_requeued_letters_have_all_attempts_and_no_reason(
    database: Database, dead: dict[str, NewJob]
) -> None:
    assert (
        await dead_letters.requeue(database, DeadLetterFilter(category="network"), actor="ann") == 3
    )
    revived = await leases.claim(database, "w", ["score", "export"], 10, 60)
    assert {(job.attempts, job.token) for job in revived} == {(1, 2)}
    rows = await database.fetch("SELECT dead_reason, finished_at FROM messor.jobs WHERE state = 'running'")  # fmt: skip
    assert {tuple(row) for row in rows} == {(None, None)}
    assert await keys(database, DeadLetterFilter()) == {"odd"}


async def test_bulk_acts_go_in_batches_and_are_recorded(
    database: Database, dead: dict[str, NewJob]
) -> None:
    choice = DeadLetterFilter(category="network")
    assert await dead_letters.requeue(database, choice, actor="ann", batch=2) == 3
    assert await dead_letters.purge(database, DeadLetterFilter(), actor="bob") == 1
    assert await dead_letters.purge(database, DeadLetterFilter(), actor="bob") == 0
    rows = await database.fetch("SELECT type, actor, (data->>'jobs')::int, data->>'category' FROM messor.events ORDER BY id")  # fmt: skip
    assert [tuple(row) for row in rows] == [
        ("jobs.requeued", "ann", 2, "network"),
        ("jobs.requeued", "ann", 1, "network"),
        ("jobs.purged", "bob", 1, None),
    ]


async def test_live_jobs_are_never_taken_for_letters(database: Database) -> None:
    job = NewJob("score", "a", "page")
    async with database.transaction() as connection:
        await jobs.enqueue(connection, [job])
    assert await dead_letters.purge(database, DeadLetterFilter(job_ids=[job.id]), actor="ann") == 0
    assert (
        await dead_letters.requeue(database, DeadLetterFilter(job_ids=[job.id]), actor="ann") == 0
    )
    assert await jobs.counts(database) == {"score": {"queued": 1}}


def test_choices_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValidationError, match="category"):
        DeadLetterFilter.model_validate({"category": "wild"})
    with pytest.raises(ValidationError, match="empty pattern"):
        DeadLetterFilter(pattern=" ")
