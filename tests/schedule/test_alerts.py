"""Alerts: each rule speaks when its fault is there, once, and again when it is over."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import SecretStr

from messor.schedule.alert_rules import rules
from messor.schedule.alerts import alerting
from messor.schedule.orchestrators import RunPosition
from messor.settings import Settings
from messor.store.database import Database
from tests.crawling import submit

SETTINGS = Settings(
    alert_mail=["ops@example.org", "night@example.org"],
    mail_host="127.0.0.1",
    mail_password=SecretStr("x"),
    backup_to="/nowhere",
    firecrawl_monthly_budget=Decimal(10),
)
TOLD = "SELECT array_agg(type || ':' || (data ->> 'alert') ORDER BY id) FROM messor.events WHERE type LIKE 'alert.%'"
MAILS = "SELECT recipient, subject, body, state FROM messor.mails WHERE kind = 'alert' ORDER BY created_at, recipient"

FETCHES = """
INSERT INTO messor.http_fetches (fetched_at, page_id, host_id, visit_token, outcome, duration_ms, waited_ms, rule,
                                 policy_version)
SELECT messor.clock() - {ago}, n, 1, 1, CASE WHEN n <= {blocked} THEN 'blocked' ELSE 'fetched' END, 1, 1, 'x', 1
  FROM generate_series(1, 100) n
"""
FAULTS = {
    "parsers": """INSERT INTO messor.events (type, actor, domain_id, data)
                  SELECT 'parser.failing', 'x', id, '{"parser": "shop"}' FROM messor.domains""",
    "blocks": FETCHES.format(ago="interval '10 minutes'", blocked=20),
    "jobs": """INSERT INTO messor.jobs (id, job_type, dedupe_key, target_kind, available_at)
               VALUES (gen_random_uuid(), 'audit', 'k', 'log', messor.clock() - interval '2 hours')""",
    "budget": """INSERT INTO messor.provider_usage (provider, month, cost)
                 VALUES ('firecrawl', date_trunc('month', messor.clock() AT TIME ZONE 'UTC')::date, 9.5)""",
    "disk": """INSERT INTO messor.alarms (place, name, message, seen_at)
               VALUES ('m:1', 'disk', 'The disk is nearly full.', messor.clock())""",
    "components": """INSERT INTO messor.alarms (place, name, message, seen_at)
                     VALUES ('m:1', 'webhooks', 'Webhooks stopped.', messor.clock())""",
    "backup": """INSERT INTO messor.events (type, actor, occurred_at)
                 VALUES ('domain.submitted', 'x', messor.clock() - interval '2 days')""",
}
WELL = {
    "blocks": FETCHES.format(ago="interval '10 minutes'", blocked=9),
    "budget": FAULTS["budget"].replace("9.5", "8.9"),
    "jobs": FAULTS["jobs"].replace("2 hours", "50 minutes"),
    "disk": FAULTS["disk"].replace("messor.clock())", "messor.clock() - interval '1 minute')"),
}


async def look(database: Database, settings: Settings = SETTINGS) -> dict[str, int]:
    async with database.transaction() as connection:
        return (await alerting(settings).step(connection, RunPosition())).counts


async def messages(database: Database) -> dict[str, str]:
    async with database.connection() as connection:
        found = {rule.name: await rule.message(connection) for rule in rules(SETTINGS)}
    return {name: message for name, message in found.items() if message is not None}


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_raises_its_alert_and_no_other(database: Database, name: str) -> None:
    await submit(database, "http://shop.test/")
    assert await messages(database) == {}
    await database.fetch(FAULTS[name])
    found = await messages(database)
    assert list(found) == [name]
    assert found[name].endswith((".", "failing", "list", "blocked", "create")), found


@pytest.mark.parametrize("name", WELL)
async def test_what_is_below_its_threshold_raises_nothing(database: Database, name: str) -> None:
    await database.fetch(WELL[name])
    assert await messages(database) == {}


async def test_hosts_at_risk_raise_an_alert(database: Database) -> None:
    for number in range(5):
        await submit(database, f"http://shop{number}.test/")
    risky = "UPDATE messor.hosts SET risk_score = 95, risk_at = messor.clock()"
    if not await database.fetchval("SELECT count(*) FROM messor.hosts"):
        await database.fetch(
            "INSERT INTO messor.hosts (host, domain_id) SELECT domain, id FROM messor.domains"
        )
    await database.fetch(f"{risky} WHERE id IN (SELECT id FROM messor.hosts ORDER BY id LIMIT 4)")
    assert await messages(database) == {}
    await database.fetch(risky)
    assert "5 of 5 hosts" in (await messages(database))["risk"]


async def test_it_is_told_once_when_it_begins_and_once_when_it_is_over(database: Database) -> None:
    await database.fetch(FAULTS["budget"])
    assert await look(database) == {"alerts_raised": 1, "alerts_ended": 0}
    assert await look(database) == {"alerts_raised": 0, "alerts_ended": 0}
    await database.fetch("UPDATE messor.provider_usage SET cost = 1")
    assert await look(database) == {"alerts_raised": 0, "alerts_ended": 1}
    await database.fetch("UPDATE messor.provider_usage SET cost = 10")
    assert await look(database) == {"alerts_raised": 1, "alerts_ended": 0}
    assert await database.fetchval(TOLD) == [
        "alert.raised:budget", "alert.ended:budget", "alert.raised:budget",
    ]  # fmt: skip
    mails = await database.fetch(MAILS)
    assert len(mails) == 6
    assert {row["recipient"] for row in mails[:2]} == {"night@example.org", "ops@example.org"}
    assert mails[0]["subject"] == "Messor: budget needs attention"
    assert "9.50 of its monthly 10.00" in mails[0]["body"]
    assert mails[2]["subject"] == "Messor: budget is well again"
    assert {row["state"] for row in mails} == {"queued"}


async def test_an_alert_whose_setting_was_removed_ends(database: Database) -> None:
    await database.fetch(FAULTS["backup"])
    await look(database)
    await look(database, Settings())
    assert await database.fetchval(TOLD) == ["alert.raised:backup", "alert.ended:backup"]


async def test_a_failed_backup_says_why(database: Database) -> None:
    await database.fetch(FAULTS["backup"])
    await database.fetch(
        "INSERT INTO messor.backups (name, place, method, error) VALUES ('n', 'p', 'dump', 'Disk full.')"
    )
    assert "the last attempt failed: Disk full." in (await messages(database))["backup"]
    await database.fetch("UPDATE messor.backups SET finished_at = messor.clock()")
    assert await messages(database) == {}
