"""Metrics of every process, seen by a real Prometheus after a crawl of the demo's web.

Every rule and every query of the dashboards has a value; faults that are caused raise their alert.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from messor.governance import admission
from messor.registry import domains
from messor.registry.domains import Submission
from messor.store.database import Database
from simweb import WorldProcess
from tests.crawling import eventually
from tests.ops.prometheus_server import (
    IS_INSTALLED,
    RULES,
    PrometheusServer,
    dashboard_queries,
    free_port,
    prometheus,
    recorded_values,
    values_of_alerts,
)

PATIENCE = 120.0
ROLES = {"supervisor", "server", "worker"}
CRAWLED = """
SELECT least(count(*), 50) AS fetched, count(*) FILTER (WHERE outcome = 'blocked') > 0 AS blocked,
       EXISTS (SELECT FROM messor.extractions) AS extracted,
       EXISTS (SELECT FROM messor.friction_log) AS friction,
       EXISTS (SELECT FROM messor.jobs WHERE state = 'done') AS jobs
  FROM messor.http_fetches
"""
# A job of a type that nobody handles; a host that turned risky; a parser that lost its records; a
# page that nobody extracts; a run of the schedule that did not come.
FAULTS = {
    "MessorJobsStuck": """
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, available_at)
VALUES (gen_random_uuid(), 'nobody', 'none', 'fault', messor.clock() - interval '2 hours')""",
    "MessorJobsDie": """
INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, state, finished_at)
VALUES (gen_random_uuid(), 'nobody', 'none', 'dead', 'dead', messor.clock())""",
    "MessorRiskSpike": "UPDATE messor.hosts SET risk_score = 95, risk_at = messor.clock()",
    "MessorAlarm": """
INSERT INTO messor.alarms (place, name, message, raised_at, seen_at)
VALUES ('elsewhere:1', 'disk', 'full', messor.clock(), messor.clock() + interval '25 seconds')""",
}


async def approve_all(database: Database, world: WorldProcess) -> None:
    async with database.transaction() as connection:
        for site in world.sites:
            submission = Submission.understand(site["start_url"])
            domain, new = await domains.submit(connection, submission, actor="tester")
            if new:
                await domains.configure(connection, domain, actor="tester", page_budget=8)
                await admission.approve(connection, domain, actor="tester")


class Running:
    """`messor up` in processes of its own."""

    def __init__(self, world: WorldProcess, dsn: str, folder: Path) -> None:
        self.console, self.metrics = free_port(), free_port()
        environment = {
            **os.environ,
            **world.settings_env(),
            "MESSOR_DATABASE_URL": dsn,
            "MESSOR_DATA_DIR": str(folder / "data"),
            "MESSOR_BROWSER": "off",
            "MESSOR_DEFAULT_DELAY": "0.02",
            "MESSOR_LISTEN_PORT": str(self.console),
            "MESSOR_METRICS_LISTEN": f"127.0.0.1:{self.metrics}",
        }
        with (folder / "messor.log").open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "messor", "up", "--workers", "1"],
                cwd=folder,
                env=environment,
                stderr=log,
            )

    async def status(self, port: int, path: str) -> int:
        def ask() -> int:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=15) as answer:
                    status: int = answer.status
                    return status
            except urllib.error.HTTPError as error:
                return error.code
            except OSError:
                return 0

        return await asyncio.to_thread(ask)

    async def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(self.process.wait, 60)


@pytest.mark.wide
@pytest.mark.skipif(not IS_INSTALLED, reason="needs Debian's prometheus")
async def test_every_process_is_scraped_and_every_rule_and_panel_has_data(
    demo_world: WorldProcess, database: Database, dsn: str, tmp_path: Path
) -> None:
    await approve_all(database, demo_world)
    await database.fetch(
        "INSERT INTO messor.jobs (id, job_type, target_kind, dedupe_key, payload) "
        """VALUES (gen_random_uuid(), 'audit', 'records', 'first', '{"subject": "records"}')"""
    )
    running = Running(demo_world, dsn, tmp_path)
    try:
        async with prometheus(tmp_path, f"127.0.0.1:{running.metrics}") as server:
            await _assert_health(running)
            await _assert_crawled(database)
            await _assert_values(server)
            await _assert_faults_are_told(server, database, running)
    finally:
        running.process.kill()
        running.process.wait(20)


async def _assert_crawled(database: Database) -> None:
    found: dict[str, object] = {}

    async def is_crawled() -> bool:
        row = await database.fetchrow(CRAWLED)
        assert row is not None
        found.update(row)
        return all(found.values()) and found["fetched"] == 50

    try:
        await eventually(is_crawled, PATIENCE)
    except TimeoutError as error:
        raise AssertionError(f"not crawled: {found}") from error


async def _assert_health(running: Running) -> None:
    async def is_up() -> bool:
        return await running.status(running.metrics, "/readyz") == 200

    await eventually(is_up, PATIENCE)
    assert await running.status(running.metrics, "/healthz") == 200
    assert await running.status(running.console, "/healthz") == 200
    assert await running.status(running.console, "/readyz") == 200
    assert await running.status(running.console, "/metrics") == 401  # it needs a key there


async def _assert_values(server: PrometheusServer) -> None:
    """Each query has a value, if not at once then after some more scrapes."""
    await eventually(server.is_ready, PATIENCE)
    wanted = [
        *recorded_values(),
        *values_of_alerts().values(),
        *(query for _, query in dashboard_queries()),
    ]
    missing = wanted

    async def all_there() -> bool:
        nonlocal missing
        missing = [query for query in missing if not await server.query(query)]
        return not missing

    try:
        await eventually(all_there, 60.0)
    except (TimeoutError, AssertionError) as error:
        raise AssertionError(f"without data: {missing}") from error
    processes = {row["metric"]["process"] for row in await server.query("messor_ready == 1")}
    assert {name.rpartition("-")[0] for name in processes} == ROLES


async def _assert_faults_are_told(
    server: PrometheusServer, database: Database, running: Running
) -> None:
    before = await server.firing()
    assert not before & {*FAULTS, "MessorDown", "MessorNoWorkers"}, before
    for sql in FAULTS.values():
        await database.fetch(sql)

    async def are_told() -> bool:
        return set(FAULTS) <= await server.firing()

    await eventually(are_told, 30.0)
    await running.stop()

    async def is_down() -> bool:
        return "MessorDown" in await server.firing()

    await eventually(is_down, 30.0)


@pytest.mark.skipif(not IS_INSTALLED, reason="needs Debian's prometheus")
def test_promtool_accepts_rules_and_configuration_and_the_rules_pass_their_tests() -> None:
    for words in (
        ["check", "rules", RULES.name],
        ["check", "config", "prometheus.yml"],
        ["test", "rules", "messor.rules.test.yml"],
    ):
        done = subprocess.run(
            ["promtool", *words], cwd=RULES.parent, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_has_a_case_in_which_it_fires() -> None:
    cases = (RULES.parent / "messor.rules.test.yml").read_text()
    assert {name for name in values_of_alerts() if f'alertname="{name}"' not in cases} == set()
