"""When scheduled work runs by itself, as the specifications ask."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from messor.schedule.cron import parse
from messor.schedule.standard import SERP, standard_registry
from messor.settings import Settings

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
CADENCES = {one.name: one.cadence for one in (*standard_registry(Settings()), SERP)}


def gaps(name: str, days: int = 30) -> set[timedelta]:
    """The times between runs within so many days."""
    cadence, moment, runs = parse(CADENCES[name]), BEGIN, []
    while moment < BEGIN + timedelta(days=days):
        moment = cadence.after(moment)
        runs.append(moment)
    return {later - earlier for earlier, later in itertools.pairwise(runs)}


def test_domains_are_scored_once_a_week() -> None:
    assert gaps("O-Score") == {timedelta(days=7)}


@pytest.mark.parametrize("name", ["O-Daily", "O-Keywords"])
def test_pages_and_keywords_are_looked_at_once_a_day(name: str) -> None:
    assert gaps(name) == {timedelta(days=1)}


@pytest.mark.parametrize("name", ["O-Robots", "O-SERP", "O-Classify"])
def test_robots_result_pages_and_classes_are_looked_at_hourly(name: str) -> None:
    assert gaps(name, days=2) == {timedelta(hours=1)}
