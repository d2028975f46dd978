"""Cadence: when a page is due again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from messor.errors import UsageError
from messor.frontier import cadence
from messor.frontier.cadence import CrawlFrequency, Schedule
from messor.frontier.tasks import TRACK_LEVELS, Task
from messor.store.database import Database

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


@pytest.mark.parametrize("retries, wait", [(0, 60.0), (1, 240.0), (3, 60.0)])
def test_failures_are_retried_further_and_further_apart(retries: int, wait: float) -> None:
    task = replace(TASK, retry_count=retries)
    again = cadence.after_failure(task, None)
    assert (again.status, again.retry_count) == ("pending", retries % 3 + 1)
    assert again.due_in is not None
    assert wait <= again.due_in <= wait * 1.1


def test_what_failed_together_does_not_come_back_together() -> None:
    tasks = [replace(TASK, page_id=page_id) for page_id in range(100)]
    assert len({cadence.after_failure(task, None).due_in for task in tasks}) == 100


@pytest.mark.parametrize("rounds, due_in", [(0, DAY), (3, DAY), (4, None), (5, None)])
def test_the_third_try_is_the_last_of_a_round_and_the_fifth_round_of_a_page(
    rounds: int, due_in: float | None
) -> None:
    task = replace(TASK, retry_count=2, rounds=rounds)
    expected = Schedule("failed", due_in, 3, rounds=min(rounds + 1, 5))
    assert cadence.after_failure(task, None) == expected
    assert cadence.after_failure(replace(TASK, rounds=rounds), None).rounds == rounds
    for kind in ("sitemap", "image"):  # these lead to pages, or are part of them
        assert cadence.after_failure(replace(task, kind=kind), None).due_in == DAY
    assert cadence.after_failure(task, None, recurs=False).due_in is None


@pytest.mark.parametrize("retries", [0, 2])
def test_retry_after_is_never_undercut(retries: int) -> None:
    task = replace(TASK, retry_count=retries)
    assert cadence.after_failure(task, None, 7 * DAY).due_in == 7 * DAY
    due_in = cadence.after_failure(task, None, 1.0).due_in
    assert due_in is not None
    assert due_in > 1.0


def test_a_page_that_is_gone_is_looked_for_seldom() -> None:
    assert cadence.after_gone() == Schedule("completed", 7 * DAY, 0)


@pytest.mark.parametrize(
    "own, level, domain, expected",
    [
        (None, "A", 3600.0, DAY),
        (None, "B", None, 7 * DAY),
        (None, "C", None, 30 * DAY),
        (None, "D", 3600.0, 91 * DAY),
        (timedelta(hours=2), "D", 3600.0, 7200.0),
        (None, None, 3600.0, 3600.0),
    ],
)
def test_the_first_rhythm_that_is_set_counts(
    own: timedelta | None, level: str, domain: float | None, expected: float
) -> None:
    task = replace(TASK, crawl_frequency=own, track_level=level)
    assert cadence.frequency(task, domain) == expected


async def test_the_database_reckons_the_same_base(database: Database) -> None:
    for own in (None, timedelta(hours=2)):
        for level in (None, *TRACK_LEVELS):
            for hours in (None, 5):
                seconds = await database.fetchval(
                    "SELECT extract(epoch FROM messor.base_frequency($1, $2, $3))::float8",
                    own,
                    level,
                    hours,
                )
                own_seconds = own.total_seconds() if own else None
                domain = hours * 3600.0 if hours else None
                assert seconds == CrawlFrequency(own_seconds, level, domain).base


def history(*looks: int) -> int:
    made = 1
    for changed in looks:
        made = cadence.remember(made, changed=bool(changed))
    return made


def test_a_history_keeps_the_last_sixteen_looks() -> None:
    assert history() == 1
    assert history(1, 0, 1) == 0b1101
    long = history(*[1] * 20, *[0] * 15)
    assert (cadence.checks(long), cadence.changes(long)) == (16, 1)
    assert long < 1 << 17


def test_a_page_that_never_changes_comes_later_and_later_up_to_the_bound() -> None:
    factors = [cadence.factor(history(*[0] * n)) for n in range(20)]
    assert factors[0] == 1.0
    assert factors == sorted(factors)
    assert factors[1] < 1.5, "one look is no proof"
    assert factors[-1] == cadence.FACTOR


def test_a_page_that_always_changes_comes_sooner_and_sooner_up_to_the_bound() -> None:
    factors = [cadence.factor(history(*[1] * n)) for n in range(20)]
    assert factors == sorted(factors, reverse=True)
    assert factors[-1] == 1 / cadence.FACTOR


@pytest.mark.parametrize("seen", range(1, 17))
def test_more_changes_never_make_a_page_come_later(seen: int) -> None:
    factors = [
        cadence.factor(history(*[1] * changed, *[0] * (seen - changed)))
        for changed in range(seen + 1)
    ]
    assert factors == sorted(factors, reverse=True)
    assert all(1 / cadence.FACTOR <= factor <= cadence.FACTOR for factor in factors)


def test_a_look_moves_the_next_turn_unless_the_rhythm_was_set_for_the_task() -> None:
    task = replace(TASK, history=history(*[1] * 15))
    first = cadence.after_success(task, None)
    again = cadence.after_check(first, task, None, changed=True)
    assert again == Schedule("completed", DAY / 4, 0, history(*[1] * 16))
    fixed = replace(task, crawl_frequency=timedelta(hours=3))
    again = cadence.after_check(cadence.after_success(fixed, None), fixed, None, changed=True)
    assert again.due_in == 3 * 3600.0


def test_a_look_makes_nothing_due_that_is_not() -> None:
    asked = Schedule("completed", None, 0)
    assert cadence.after_check(asked, TASK, None, changed=True) == Schedule("completed", None, 0, 3)


@pytest.mark.parametrize(
    "rhythm, sentence",
    [
        (
            CrawlFrequency(None, None, None),
            "crawled every 1 d (the default); no change history yet",
        ),
        (
            CrawlFrequency(7200.0, "A", 3600.0, 7),
            "crawled every 2 h (set for this page), exactly",
        ),
        (
            CrawlFrequency(None, "B", None, history(*[0] * 16)),
            (
                "crawled every 28 d: 7 d (track level B), and 0 of the last 16 checks found a change; "
                "bounds 1 d 18 h to 28 d"
            ),
        ),
        (
            CrawlFrequency(None, None, 4 * 3600.0, history(*[1] * 16)),
            (
                "crawled every 1 h: 4 h (set for its domain), and 16 of the last 16 checks found a "
                "change; bounds 1 h to 16 h"
            ),
        ),
    ],
)
def test_a_rhythm_is_explained_in_one_sentence(rhythm: CrawlFrequency, sentence: str) -> None:
    assert cadence.explain(rhythm) == sentence


@pytest.mark.parametrize(
    "text, expected",
    [
        ("30m", timedelta(minutes=30)),
        (" 12H ", timedelta(hours=12)),
        ("1.5 days", timedelta(hours=36)),
        ("2 weeks", timedelta(days=14)),
        ("45 min", timedelta(minutes=45)),
        ("Monthly", timedelta(days=30)),
    ],
)
def test_frequencies_as_people_write_them(text: str, expected: timedelta) -> None:
    assert cadence.parse_interval(text) == expected


@pytest.mark.parametrize(
    "text", ["", "often", "12", "0h", "-1d", "5s", "1e9d", "9999999w", "1d1h", "inf d", "٣d"]
)
def test_frequencies_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"is not a frequency|is out of range"):
        cadence.parse_interval(text)


def test_the_intervals_of_the_specifications() -> None:
    written = ("hourly", "daily", "weekly", "monthly", "quarterly")
    days = [cadence.parse_interval(name) / timedelta(days=1) for name in written]
    assert days == [1 / 24, 1, 7, 30, 91]
    assert cadence.frequency(TASK, None) == DAY


def test_a_first_failure_is_retried_after_a_minute() -> None:
    failures = [cadence.after_failure(replace(TASK, retry_count=n), None) for n in range(2)]
    waits = [(failure.due_in or 0.0) / cadence.spread(TASK.page_id) for failure in failures]
    assert waits == pytest.approx([60.0, 240.0])
