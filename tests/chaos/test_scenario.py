"""One short crawl under harm, for real: the long ones are `make chaos`."""

import pytest
from chaos.crew import find_faketime
from chaos.scenarios import play
from chaos.stage import Plan

from messor.errors import UnavailableError

pytestmark = pytest.mark.alone


async def test_a_short_crawl_under_kills_and_a_stall() -> None:
    plan = Plan(
        "politeness",
        seed=3,
        hosts=12,
        workers=2,
        kills=2,
        stalls=1,
        pages=8,
        lease=1.5,
        seconds=60.0,
    )
    report = await play(plan)
    assert [check for check in report.checks if not check.ok] == [], report.said


@pytest.mark.wide
async def test_a_short_crawl_of_shared_addresses() -> None:
    plan = Plan(
        "addresses",
        seed=3,
        hosts=8,
        workers=2,
        kills=1,
        pages=4,
        addresses=1,
        concurrency=4,
        visit=3.0,
        delay=0.5,
        lease=1.5,
        seconds=60.0,
    )
    report = await play(plan)
    assert [check for check in report.checks if not check.ok] == [], report.said


async def test_a_short_crawl_by_workers_cut_off_from_the_database() -> None:
    plan = Plan(
        "cuts", seed=3, hosts=8, workers=2, cuts=1, pages=8, delay=0.4, lease=1.5, seconds=60.0
    )
    report = await play(plan)
    assert [check for check in report.checks if not check.ok] == [], report.said


@pytest.mark.wide
async def test_a_short_crawl_while_the_databases_clock_is_wrong() -> None:
    plan = Plan(
        "steps", seed=3, hosts=3, workers=2, steps=1, step_seconds=6.0, pages=120, delay=0.1,
        lease=10.0, seconds=120.0,
    )  # fmt: skip
    report = await play(plan)
    assert [check for check in report.checks if not check.ok] == [], report.said
    assert "clock went ahead by 3,600 s" in report.said
    assert "clock went back by 3,600 s" in report.said


@pytest.mark.wide
async def test_a_short_crawl_by_workers_whose_clocks_are_wrong() -> None:
    try:
        find_faketime()
    except UnavailableError as error:
        pytest.skip(str(error))
    plan = Plan(
        "clocks", seed=3, hosts=8, workers=2, kills=1, pages=8, skew=3600.0, lease=3.0, seconds=90.0
    )
    report = await play(plan)
    assert [check for check in report.checks if not check.ok] == [], report.said
