"""Cadences: what five fields mean, month ends, leap days, and what is refused."""

from __future__ import annotations

import contextlib
import itertools
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messor.errors import UsageError
from messor.schedule import cron


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def times(text: str, start: str, count: int) -> list[str]:
    moment, found = at(start), []
    for _ in range(count):
        moment = cron.parse(text).after(moment)
        found.append(f"{moment:%Y-%m-%d %H:%M}")
    return found


@pytest.mark.parametrize(
    "text, start, expected",
    [
        ("* * * * *", "2026-11-15 23:59:59", ["2026-11-16 00:00", "2026-11-16 00:01"]),
        ("* * * * *", "2026-11-15 12:00:00", ["2026-11-15 12:01"]),
        ("*/5 * * * *", "2026-11-15 12:57", ["2026-11-15 13:00", "2026-11-15 13:05"]),
        ("5/20 * * * *", "2026-11-15 12:00", ["2026-11-15 12:05", "2026-11-15 12:25"]),
        ("10-40/15 * * * *", "2026-11-15 12:00", ["2026-11-15 12:10", "2026-11-15 12:25"]),
        ("0 2 * * *", "2026-11-15 02:00", ["2026-11-16 02:00"]),
        ("0 2 * * *", "2026-11-15 01:59:59", ["2026-11-15 02:00"]),
        ("1,2,30 0,12 * * *", "2026-11-15 00:02", ["2026-11-15 00:30", "2026-11-15 12:01"]),
        # month ends
        ("0 0 31 * *", "2026-01-31 00:00", ["2026-03-31 00:00", "2026-05-31 00:00"]),
        ("0 0 30 * *", "2026-01-30 00:00", ["2026-03-30 00:00"]),
        ("59 23 31 12 *", "2026-12-31 23:59", ["2027-12-31 23:59"]),
        ("0 0 1 * *", "2026-12-31 23:59", ["2027-01-01 00:00"]),
        # leap days, with and without their century
        ("0 0 29 2 *", "2026-01-01", ["2028-02-29 00:00", "2032-02-29 00:00"]),
        ("0 0 29 2 *", "2096-02-29", ["2104-02-29 00:00"]),
        ("0 0 29 2 *", "1996-02-29", ["2000-02-29 00:00"]),
        # a leap day that is a Sunday: a star with a step restricts the week beside the month
        ("0 0 29 2 */7", "2026-01-01", ["2032-02-29 00:00", "2060-02-29 00:00"]),
        # names, in any case; Sunday at both ends of the week
        ("0 5 * * mon", "2026-11-15 00:00", ["2026-11-16 05:00", "2026-11-23 05:00"]),
        ("0 0 1 JAN,jul *", "2026-11-15", ["2027-01-01 00:00", "2027-07-01 00:00"]),
        ("0 0 * * 0", "2026-11-15 00:00", ["2026-11-22 00:00"]),
        ("0 0 * * 7", "2026-11-15 00:00", ["2026-11-22 00:00"]),
        ("0 0 * * SAT-SUN", "2026-11-15 00:00", ["2026-11-21 00:00", "2026-11-22 00:00"]),
        ("0 0 * * 5-7", "2026-11-15 00:00", ["2026-11-20 00:00", "2026-11-21 00:00"]),
        ("0 0 * * mon-fri", "2026-11-13 00:00", ["2026-11-16 00:00"]),
        # both kinds of day: either is enough
        (
            "0 0 13 * fri",
            "2026-11-01",
            ["2026-11-06 00:00", "2026-11-13 00:00", "2026-11-20 00:00"],
        ),
        ("0 0 1,20 * mon", "2026-11-15", ["2026-11-16 00:00", "2026-11-20 00:00"]),
        # but not where one of them begins with a star
        ("0 0 */10 * mon", "2026-11-01", ["2026-12-21 00:00"]),
        ("@hourly", "2026-11-15 12:30", ["2026-11-15 13:00"]),
        ("@daily", "2026-11-15 12:30", ["2026-11-16 00:00"]),
        ("@midnight", "2026-11-15 12:30", ["2026-11-16 00:00"]),
        ("@weekly", "2026-11-15 12:30", ["2026-11-22 00:00"]),
        ("@monthly", "2026-11-15 12:30", ["2026-12-01 00:00"]),
        (" @Yearly ", "2026-11-15 12:30", ["2027-01-01 00:00"]),
        ("@annually", "2026-11-15 12:30", ["2027-01-01 00:00"]),
        ("@every 90m", "2026-11-15 12:30", ["2026-11-15 14:00", "2026-11-15 15:30"]),
        ("@EVERY  2d", "2026-11-15 12:30", ["2026-11-17 12:30"]),
    ],
)
def test_when_it_runs(text: str, start: str, expected: list[str]) -> None:
    assert times(text, start, len(expected)) == expected


@pytest.mark.parametrize(
    "text, word",
    [
        ("", "not a cadence"),
        ("* * * *", "not a cadence"),
        ("* * * * * *", "not a cadence"),
        ("@reboot", "not a cadence"),
        ("@daily @daily", "not a cadence"),
        ("60 * * * *", "bad minute"),
        ("* 24 * * *", "bad hour"),
        ("* * 0 * *", "bad day-of-month"),
        ("* * 32 * *", "bad day-of-month"),
        ("* * * 13 *", "bad month"),
        ("* * * 0 *", "bad month"),
        ("* * * * 8", "bad day-of-week"),
        ("*/0 * * * *", "bad minute"),
        ("30-10 * * * *", "bad minute"),
        ("* * * * fri-mon", "bad day-of-week"),
        ("mon * * * *", "bad minute"),
        ("* * * monday *", "bad month"),
        ("-1 * * * *", "bad minute"),
        ("1- * * * *", "bad minute"),
        ("*-5 * * * *", "bad minute"),
        ("1,,2 * * * *", "bad minute"),
        ("1.5 * * * *", "bad minute"),
        ("٣ * * * *", "bad minute"),
        ("99999999999 * * * *", "bad minute"),
        ("0 0 30 2 *", "bad day-of-month"),
        ("0 0 31 4,6,9,11 *", "bad day-of-month"),
        ("@every", "write @every 30s"),
        ("@every 0m", "write @every 30s"),
        ("@every 5", "write @every 30s"),
        ("@every -5m", "write @every 30s"),
        ("@every 999999999w", "write @every 30s"),
        ("* " * 200, "at most 200 characters"),
        ("\x00 * * * *", "bad minute"),
    ],
)
def test_what_is_no_cadence(text: str, word: str) -> None:
    with pytest.raises(UsageError) as refused:
        cron.parse(text)
    assert word in str(refused.value)


def fields(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    ranges = st.tuples(number, number).map(lambda ends: f"{min(ends)}-{max(ends)}")
    steps = st.tuples(ranges | st.just("*"), st.integers(1, 9)).map(lambda s: f"{s[0]}/{s[1]}")
    part = number.map(str) | ranges | steps
    return st.just("*") | st.lists(part, min_size=1, max_size=3).map(",".join)


@given(
    fields(0, 59),
    fields(0, 23),
    fields(1, 28),
    fields(0, 7),
    st.datetimes(datetime(2024, 2, 1), datetime(2028, 12, 31)),  # noqa: DTZ001
)
def test_it_is_the_first_minute_after_a_time(
    minute: str, hour: str, day: str, weekday: str, start: datetime
) -> None:
    cadence = cron.parse(f"{minute} {hour} {day} * {weekday}")
    moment = start.replace(tzinfo=UTC)
    following = cadence.after(moment)
    assert moment < following == following.replace(second=0, microsecond=0)
    assert cadence.after(following - timedelta(microseconds=1)) == following
    assert cadence.after(moment + (following - moment) / 2) == following


@given(st.text(max_size=30))
def test_hostile_text_raises_nothing_else(text: str) -> None:
    with contextlib.suppress(UsageError):  # and nothing else
        cron.parse(text)


def test_times_of_other_zones_are_understood_and_answered_in_utc() -> None:
    moment = datetime(2026, 11, 15, 1, 30, tzinfo=timezone(timedelta(hours=2)))  # 23:30 UTC
    assert cron.parse("0 0 * * *").after(moment) == at("2026-11-15 00:00")


def test_the_text_is_kept_in_one_form() -> None:
    assert cron.parse("  0   5 * *  MON ").text == "0 5 * * mon"


@pytest.mark.parametrize(
    "text, until, count",
    [
        ("0 * * * *", "2026-11-15 12:59", 1),
        ("0 * * * *", "2026-11-15 15:00", 4),
        ("* * * * *", "2028-11-15 12:00", 1000),
        ("0 12 * * *", "2026-12-15 12:00", 31),
    ],
)
def test_missed_runs_are_counted_up_to_a_limit(text: str, until: str, count: int) -> None:
    assert cron.missed(cron.parse(text), at("2026-11-15 12:00"), at(until)) == count


def test_a_year_of_days_has_every_day_once() -> None:
    days = times("0 2 * * *", "2027-12-31 12:00", 366)
    assert (days[0], days[-1]) == ("2028-01-01 02:00", "2028-12-31 02:00")
    assert all(a < b for a, b in itertools.pairwise(days))
