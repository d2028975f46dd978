"""One short crawl under harm, for real: the long ones are `make chaos`."""

import pytest
from chaos.scenarios import play
from chaos.stage import Plan


@pytest.mark.xdist_group("chaos")
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


@pytest.mark.xdist_group("chaos")
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
