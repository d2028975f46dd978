"""Friction and risk over whole crawls: how unwelcome we are, and what follows from it."""

from __future__ import annotations

import itertools
import json
from datetime import timedelta
from pathlib import Path

import pytest

from messor.politeness import lanes, risk
from messor.politeness.lease import WorkerLease
from messor.store.database import Database
from simweb.answers import Request, SimResponse, plain, redirect
from simweb.documents import HTML
from tests.crawling import admit, at_work, crawl, idle, later, outcomes, until
from tests.faults.scenes import count, crawl_later, holds, paper, raw
from tests.held_lanes import lease, make_domain, make_lanes
from tests.little_web import LAG, LittleWeb, Room

HOME = "http://one.test/"
CHALLENGE = (
    "<html><head><title>Just a moment...</title></head><body><p>Checking your browser before"
    " accessing the site.</p><script src='/cdn-cgi/challenge-platform/x.js'></script></body></html>"
)
BLANK = raw("<html><head><title></title></head><body></body></html>")


def challenge(status: int) -> SimResponse:
    headers = (("Content-Type", HTML), ("cf-mitigated", "challenge"))
    return SimResponse(status, headers, CHALLENGE.encode())


async def risk_of(database: Database, host: str = "one.test") -> float:
    score: float = await database.fetchval(
        """SELECT messor.risk_at(risk_score, risk_at, messor.clock()) FROM messor.hosts
            WHERE host = $1""",
        host,
    )
    return score


async def signals(database: Database, host: str) -> list[tuple[str, float]]:
    rows = await database.fetch(
        """SELECT f.signal, f.points FROM messor.friction_log f JOIN messor.hosts h
             ON h.id = f.host_id WHERE h.host = $1 ORDER BY f.occurred_at, f.score""",
        host,
    )
    return [(row["signal"], row["points"]) for row in rows]


ANSWERS: dict[str, tuple[SimResponse, list[tuple[str, float]]]] = {
    "s403": (plain(403, "no"), [("403", 20.0)]),
    "s429": (plain(429, "slow"), [("429", 30.0)]),
    "s503": (plain(503, "down"), [("503", 15.0)]),
    "blank": (BLANK, [("empty", 10.0)]),
    "nothing": (SimResponse(200, (("Content-Type", HTML),)), [("empty", 10.0)]),
    "challenge": (challenge(200), [("challenge:cloudflare", 25.0)]),
    "both403": (challenge(403), [("403", 20.0), ("challenge:cloudflare", 25.0)]),
    "both503": (challenge(503), [("503", 15.0), ("challenge:cloudflare", 25.0)]),
    "fine": (paper("fine"), []),
    "s404": (plain(404, "none"), []),
    "s500": (plain(500, "broken"), []),
    "short": (raw("<p>Short, and a page all the same.</p>"), []),
}


async def test_each_answer_adds_its_points(database: Database, tmp_path: Path) -> None:
    """The arithmetic of the specification; what comes of it is logged and told."""
    hosts: dict[str, dict[str, Room]] = {
        f"{name}.test": {"/": answer} for name, (answer, _) in ANSWERS.items()
    }
    async with LittleWeb(tmp_path, hosts) as web:
        for host in hosts:
            await admit(database, f"http://{host}/", delay=0.01)
        await crawl(web.settings(), database)
    for name, (_, expected) in ANSWERS.items():
        host, total = f"{name}.test", sum(points for _, points in expected)
        assert await signals(database, host) == expected, name
        assert await risk_of(database, host) == pytest.approx(total, abs=0.01), name
        told = await database.fetch(
            "SELECT data FROM messor.events WHERE type = 'friction.detected' AND data ->> 'host' = $1",
            host,
        )
        said = [
            (json.loads(row["data"])["signals"], json.loads(row["data"])["risk"]) for row in told
        ]
        assert said == ([([signal for signal, _ in expected], total)] if expected else []), name
        shown = await database.fetchrow(
            "SELECT * FROM messor.domain_risk WHERE hostname = $1", host
        )
        assert shown is not None
        assert shown["risk_score"] == total
        assert len(json.loads(shown["friction_events"])) == len(expected)


@pytest.mark.parametrize("hours", [0, 12, 24, 48, 240])
async def test_a_tenth_goes_each_day(dsn: str, hours: int) -> None:
    async with Database(dsn) as database:
        domain = await make_domain(database)
        await make_lanes(database, domain)
        await database.fetch("UPDATE messor.hosts SET risk_score = 60, risk_at = messor.clock()")
        host = await database.fetchval("SELECT host FROM messor.hosts")
    async with Database(later(dsn, timedelta(hours=hours))) as database:
        assert await risk_of(database, host) == pytest.approx(60 * 0.9 ** (hours / 24), abs=0.05)


LEVELS = [
    (0.0, "low", 0.0),
    (20.0, "low", 0.0),
    (20.1, "medium", 1.2),
    (50.0, "medium", 1.2),
    (50.1, "high", 2.0),
    (80.0, "high", 2.0),
    (80.1, "critical", 2.0),
]


async def test_levels_and_their_delays_agree_in_both_places(database: Database) -> None:
    for score, level, delay in LEVELS:
        assert (risk.level(score), risk.delay_of(score)) == (level, delay)
        row = await database.fetchrow("SELECT messor.risk_level($1), messor.risk_delay($1)", score)
        assert row is not None
        assert row[0] == level
        assert row[1] == pytest.approx(delay)


async def test_every_score_has_the_same_band_in_sql(database: Database) -> None:
    rows = await database.fetch(
        "SELECT n / 10.0::real AS score, messor.risk_level((n / 10.0)::real) AS level,"
        " messor.risk_delay((n / 10.0)::real) AS delay,"
        " messor.critical_until((n / 10.0)::real, messor.clock()) IS NOT NULL AS is_critical"
        " FROM generate_series(0, 1000) AS n"
    )
    assert len(rows) == 1001
    for row in rows:
        band = risk.band_of(float(row["score"]))
        assert (row["level"], row["delay"]) == (band.level, pytest.approx(band.delay)), band
        assert row["is_critical"] == (float(row["score"]) > risk.CRITICAL)


async def test_a_visit_is_stopped_after_three_signs(database: Database, tmp_path: Path) -> None:
    """And the host is left alone for an hour, though much is due."""
    links = [f"/{n}" for n in range(30)]
    rooms: dict[str, Room] = {"/": paper("home", *links), **dict.fromkeys(links, BLANK)}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
        assert len(set(web.paths("one.test")) & set(links)) == 3
    assert await count(database, "visits", "end_reason = 'friction'") == 1
    silent = await database.fetchval(
        "SELECT extract(epoch FROM ready_at - messor.clock())::float8 FROM messor.lanes"
    )
    assert 3500 < silent <= 3600


async def test_runners_side_by_side_stop_soon_too(database: Database, tmp_path: Path) -> None:
    """Without a delay several requests are under way; no more than those go on."""
    links = [f"/{n}" for n in range(60)]
    rooms: dict[str, Room] = {"/": paper("home", *links), **dict.fromkeys(links, plain(403, "no"))}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.0, max_concurrent_requests=5)
        await crawl(web.settings(address_slots=8), database)
        assert len(set(web.paths("one.test")) & set(links)) <= 3 + 5


async def test_the_second_sign_slows_the_lane_at_once(database: Database, tmp_path: Path) -> None:
    """Medium from 21: 1.2 s between requests, in this visit and the next."""
    rooms: dict[str, Room] = {
        "/": paper("home", "/no", "/a", "/b"),
        "/no": plain(403, "no"),
        "/a": challenge(200),
        "/b": paper("b"),
    }
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        await admit(database, HOME, delay=0.01)
        await database.fetch("UPDATE messor.hosts SET risk_score = 15, risk_at = messor.clock()")
        async with at_work(web.settings(), database):
            await holds(database, "friction_log", "true")
            await until(lambda: len(web.paths("one.test")) >= 5)
        asked = web.requests()
    first = next(n for n, r in enumerate(asked) if r.path in ("/no", "/a"))
    later_on = asked[first:]
    gaps = [(b.arrived_ns - a.arrived_ns) / 1e9 for a, b in itertools.pairwise(later_on)]
    assert gaps
    assert min(gaps) >= 1.2 - LAG


async def test_a_critical_host_is_skipped_until_it_has_decayed(dsn: str, tmp_path: Path) -> None:
    rooms: dict[str, Room] = {"/": paper("home")}
    async with LittleWeb(tmp_path, {"one.test": rooms}) as web:
        async with Database(dsn) as database:
            await admit(database, HOME)
            await database.fetch(
                "UPDATE messor.hosts SET risk_score = 90, risk_at = messor.clock()"
            )
            async with at_work(web.settings(), database):
                await holds(database, "lanes", "claim_at > messor.clock() + interval '1 day'")
        assert web.requests() == []
        # 90 decays to 80 in ln(80/90)/ln(0.9) = 1.12 days.
        async with (
            Database(later(dsn, timedelta(days=1))) as database,
            at_work(web.settings(), database),
        ):
            await holds(database, "worker_leases", "ended_at IS NULL")
        assert web.requests() == []
        await crawl_later(dsn, web.settings(default_delay=0.01), timedelta(days=1.2))
        assert "/" in web.paths("one.test")


async def test_a_crawl_ends_though_a_host_is_critical(database: Database, tmp_path: Path) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": paper("home")}}) as web:
        await admit(database, HOME)
        await database.fetch("UPDATE messor.hosts SET risk_score = 90, risk_at = messor.clock()")
        await crawl(web.settings(), database)


@pytest.mark.parametrize("moved", [True, False], ids=["start-page-moved", "start-page-stays"])
async def test_the_whole_domain_is_skipped_while_its_main_host_is_critical(
    database: Database, tmp_path: Path, moved: bool
) -> None:
    main = "www.one.test" if moved else "one.test"
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {"/": redirect("http://www.one.test/") if moved else paper("home", "/a")},
        "www.one.test": {"/": paper("home")},
        "sub.one.test": {"/": paper("sub")},
    }
    hosts[main]["/"] = paper("home", "http://sub.one.test/")
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, HOME, delay=0.01)
        async with at_work(web.settings(), database):
            await until(lambda: "/" in web.paths("sub.one.test"))
            await idle(database)
        before = len(web.requests("sub.one.test"))
        await database.fetch(
            "UPDATE messor.hosts SET risk_score = 95, risk_at = messor.clock() WHERE host = $1",
            main,
        )
        await database.fetch("UPDATE messor.crawl_tasks SET due_at = messor.clock()")
        await database.fetch(
            "UPDATE messor.lanes SET due_at = messor.clock(), claim_at = messor.clock()"
        )
        async with at_work(web.settings(), database):
            await holds(
                database,
                "lanes l JOIN messor.hosts h ON h.id = l.host_id",
                "h.host = 'sub.one.test' AND l.claim_at > messor.clock() + interval '1 hour'",
            )
        assert len(web.requests("sub.one.test")) == before


async def test_a_critical_side_host_costs_only_itself(database: Database, tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Room]] = {
        "one.test": {"/": paper("home", "http://sub.one.test/", "/a"), "/a": paper("a")},
        "sub.one.test": {"/": challenge(403), **{f"/{n}": challenge(403) for n in range(5)}},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
        assert "/a" in web.paths("one.test")
    assert await risk_of(database, "one.test") == 0
    assert await risk_of(database, "sub.one.test") == pytest.approx(45, abs=0.1)


async def test_what_stands_in_a_pages_place_is_blocked_with_its_reason(
    database: Database, tmp_path: Path
) -> None:
    async with LittleWeb(tmp_path, {"one.test": {"/": challenge(200)}}) as web:
        await admit(database, HOME, delay=0.01)
        await crawl(web.settings(), database)
    assert (await outcomes(database))[HOME] == "blocked"
    row = await database.fetchrow(
        "SELECT error_json, quality_gate_failed, detail FROM messor.http_fetches"
        " WHERE outcome = 'blocked'"
    )
    assert row is not None
    assert "cloudflare" in row["error_json"]
    assert row["quality_gate_failed"]
    assert json.loads(row["detail"])["signals"] == ["challenge:cloudflare"]
    assert await count(database, "page_snapshots", "verdict IS NULL") == 0


# Slow hosts --------------------------------------------------------------------------------------


async def test_of_many_slow_hosts_few_are_claimed(database: Database) -> None:
    first = await make_domain(database, "first.test", cap=100)
    slow = await make_lanes(database, first, "first.test", count=20)
    second = await make_domain(database, "second.test", cap=100)
    fast = await make_lanes(database, second, "second.test", count=10)
    await database.fetch("UPDATE messor.lanes SET slow = true WHERE host_id = ANY ($1)", slow)
    holder: WorkerLease = await lease(database)
    claimed = await lanes.claim(database, holder, 32, 1.0, 100, slow_wanted=4)
    assert sum(lane.slow for lane in claimed) == 4
    assert {lane.host_id for lane in claimed if not lane.slow} == set(fast)
    assert [
        lane
        for lane in await lanes.claim(database, holder, 32, 1.0, 100, slow_wanted=0)
        if lane.slow
    ] == []


async def test_a_host_that_takes_long_is_known_as_slow(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """N3: after a while it is among the few; a fast one beside it is not."""
    monkeypatch.setattr(risk, "SLOW_SECONDS", 1.0)

    def silent(_: Request) -> SimResponse:
        return SimResponse(200, silent=True)

    hosts: dict[str, dict[str, Room]] = {
        "slow.test": {"/": silent},
        "fast.test": {"/": paper("home", "/a"), "/a": paper("a")},
    }
    async with LittleWeb(tmp_path, hosts) as web:
        for host in hosts:
            await admit(database, f"http://{host}/")
        await crawl(web.settings(total_timeout=2.5), database)
    rows = await database.fetch(
        "SELECT h.host, l.slow FROM messor.lanes l JOIN messor.hosts h ON h.id = l.host_id"
    )
    assert {row["host"]: row["slow"] for row in rows} == {"slow.test": True, "fast.test": False}


def test_the_score_ends_at_a_hundred() -> None:
    host = risk.HostRisk(score=95.0)
    assert host.add_signals(["429"]) == [("429", 30.0, 100.0)]
