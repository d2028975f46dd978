"""Cadence: when a page is due again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from messor.frontier import cadence
from messor.frontier.cadence import Schedule
from messor.frontier.tasks import Task

DAY = 86_400.0
TASK = Task(
    page_id=1,
    host_id=1,
    kind="page",
    priority=5,
    url="http://one.test/",
    depth=0,
    hops=0,
    retry_count=0,
    max_retries=3,
    crawl_frequency=None,
    outcome=None,
    snapshot_id=None,
    raw_hash=None,
    etag=None,
    last_modified=None,
    refusal=None,
)


@pytest.mark.parametrize(
    "own, domain, expected",
    [
        (None, None, DAY),
        (None, 3600.0, 3600.0),
        (timedelta(minutes=5), 3600.0, 300.0),
        (timedelta(days=90), None, 90 * DAY),
    ],
)
def test_the_tasks_own_rhythm_comes_before_the_domains(
    own: timedelta | None, domain: float | None, expected: float
) -> None:
    task = replace(TASK, crawl_frequency=own)
    assert cadence.after_success(task, domain) == Schedule("completed", expected, 0)


@pytest.mark.parametrize("retries, wait", [(0, 60.0), (1, 240.0), (2, 960.0)])
def test_failures_are_retried_further_and_further_apart(retries: int, wait: float) -> None:
    task = replace(TASK, retry_count=retries)
    again = cadence.after_failure(task, None)
    assert (again.status, again.retry_count) == ("pending", retries + 1)
    assert again.due_in is not None
    assert wait <= again.due_in <= wait * 1.1


def test_what_failed_together_does_not_come_back_together() -> None:
    tasks = [replace(TASK, page_id=page_id) for page_id in range(100)]
    assert len({cadence.after_failure(task, None).due_in for task in tasks}) == 100


def test_after_three_retries_it_is_a_failure_in_the_usual_rhythm() -> None:
    task = replace(TASK, retry_count=3)
    assert cadence.after_failure(task, None) == Schedule("failed", DAY, 0)


@pytest.mark.parametrize("retries", [0, 3])
def test_retry_after_is_never_undercut(retries: int) -> None:
    task = replace(TASK, retry_count=retries)
    assert cadence.after_failure(task, None, 7 * DAY).due_in == 7 * DAY
    due_in = cadence.after_failure(task, None, 1.0).due_in
    assert due_in is not None
    assert due_in > 1.0


def test_a_page_that_is_gone_is_looked_for_seldom() -> None:
    assert cadence.after_gone() == Schedule("completed", 7 * DAY, 0)
