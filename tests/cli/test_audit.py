"""`messor audit` as a person meets it."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import asyncpg
import pytest

from messor.cli.audit import parse_since
from messor.errors import UsageError
from tests.cli.conftest import Messor
from tests.ops.logs import BARE_SITE, many

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
CLEAN = "0 of 300 requests came early, and none was sent where it should not have been."


async def execute(dsn: str, *scripts: str) -> None:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        for script in scripts:
            await connection.execute(script)
    finally:
        await connection.close()


@pytest.fixture
def log(dsn: str) -> str:
    """300 requests to three lanes of `bulk.test`, thirty days ago."""
    asyncio.run(execute(dsn, BARE_SITE, many(300)))
    return dsn


EARLY = """
UPDATE messor.http_fetches SET waited_ms = 400
 WHERE id = (SELECT min(id) FROM messor.http_fetches WHERE host_id = 2 AND waited_ms > 0)
"""


def test_a_clean_log(messor: Messor, log: str) -> None:
    said = messor("audit", "politeness")
    assert (said.code, said.err) == (0, "")
    head, first, *_, total, blank, tolerance, verdict = said.out.splitlines()
    assert head.split()[:2] == ["LANE", "REQUESTS"]
    assert first.split()[:8] == ["h1.bulk.test", "100", "1,001", "ms", "1,000", "ms", "1.00", "0"]
    assert total.split() == ["total", "300", "-", "-", "-", "0", "0", "-"]
    assert blank == ""
    assert "5 ms" in tolerance
    assert verdict == CLEAN


def test_what_was_found_is_listed_and_exits_with_eight(messor: Messor, log: str) -> None:
    asyncio.run(execute(log, EARLY))
    said = messor("audit", "politeness")
    assert said.code == 8
    assert said.out.splitlines()[1].startswith("h2.bulk.test")  # the worst first
    assert "http://h2.bulk.test/page" in said.out
    assert "came 400 ms after the previous request; 1,000 ms were due" in said.out
    assert said.err.startswith("messor: 1 of 300 requests came early")
    assert len(said.err.splitlines()) == 1


def test_what_could_not_be_judged_is_told(messor: Messor, log: str) -> None:
    asyncio.run(
        execute(
            log,
            """UPDATE messor.http_fetches SET status_code = NULL, waited_ms = 0, robots_id = 99,
                      error_json = '{"type": "connect"}' WHERE visit_token = 1 AND host_id = 1""",
        )
    )
    said = messor("audit", "politeness")
    assert said.code == 0
    assert "50 requests got no response and may never have been sent" in said.out
    assert "50 requests were not checked against robots.txt" in said.out


def test_json_and_a_picture(messor: Messor, log: str, tmp_path: Path) -> None:
    asyncio.run(execute(log, EARLY))
    said = messor("audit", "politeness", "--json", "-o", "a.json", "--svg", "a.svg")
    assert (said.code, said.out) == (8, "")
    found = json.loads((tmp_path / "a.json").read_text())
    totals = found["totals"]
    assert (totals["found"]["early"], totals["requests"], totals["lanes"]) == (1, 300, 3)
    assert found["tolerance_ms"] == {"within_visit": 5.0, "across_visits": 50.0}
    assert sum(bar["gaps"] for bar in found["histogram"]) == totals["gaps"] == 300
    worst = found["lanes"][0]
    assert (worst["host"], worst["found"]["early"]) == ("h2.bulk.test", 1)
    assert worst["smallest"]["ratio"] == 0.4
    assert worst["robots"][0]["requests"] == 100
    (finding,) = found["findings"]
    assert (finding["kind"], finding["url"]) == ("early", "http://h2.bulk.test/page")
    assert finding["robots_id"] == worst["robots"][0]["robots_id"]
    assert ET.fromstring((tmp_path / "a.svg").read_text()).get("role") == "img"


def test_an_empty_log(messor: Messor) -> None:
    said = messor("audit", "politeness", "--svg", "empty.svg")
    assert (said.code, said.out) == (0, "The log holds no requests of this period.\n")
    assert messor("audit", "politeness", "--json").json["lanes"] == []


def test_a_period_and_a_domain(messor: Messor, log: str) -> None:
    assert "no requests" in messor("audit", "politeness", "--since", "24h").out
    assert CLEAN in messor("audit", "politeness", "--since", "31d").out
    assert CLEAN in messor("audit", "politeness", "--domain", "https://www.bulk.test/x").out


def test_an_unknown_domain(messor: Messor) -> None:
    said = messor("audit", "politeness", "--domain", "nobody.test")
    assert (said.code, len(said.err.splitlines())) == (4, 1)
    assert "Unknown domain nobody.test." in said.err


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--since", "yesterday"), "--since 'yesterday' is not a time"),
        (("--since", "999999w"), "is not a time"),
        (("--since", ""), "is not a time"),
        (("--since", "2999-01-01"), "is in the future"),
        (("--domain", "http://"), "is not a web address"),
        (("--svg", "no/such/folder/a.svg"), "cannot be written"),
    ],
)
def test_bad_input_gets_one_sentence(messor: Messor, words: tuple[str, ...], sentence: str) -> None:
    said = messor("audit", "politeness", *words)
    assert (said.code, said.out) == (2, "")
    assert len(said.err.splitlines()) == 1
    assert sentence in said.err


@pytest.mark.parametrize(
    "text, moment",
    [
        ("24h", NOW - timedelta(days=1)),
        (" 90m ", NOW - timedelta(minutes=90)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=UTC)),
        ("2026-11-01T06:00", datetime(2026, 11, 1, 6, tzinfo=UTC)),
        ("2026-11-01T06:00+02:00", datetime(2026, 11, 1, 4, tzinfo=UTC)),
    ],
)
def test_how_a_time_is_told(text: str, moment: datetime) -> None:
    assert parse_since(text, NOW) == moment


@pytest.mark.parametrize(
    "text", ["24", "h", "-1h", "1y", "٣h", "0001-01-01T00:00+14:00", "24h\x00"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageError):
        parse_since(text, NOW)
