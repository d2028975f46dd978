"""A secret in every setting, payload and error is looked for behind every door, role by role."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import httpx
import pytest_asyncio

from messor.access.roles import Role
from messor.store.database import Database
from tests.api.conftest import api_over, client_of, key_of
from tests.console.conftest import Enter, Serve, Visitor
from tests.console.planting import MARK, OURS, TELLING, mark, plant, planted_settings
from tests.console.poisoning import COLUMNS
from tests.console.touring import as_admin, furnish, whole_tour

# Doors at which a secret is at home: who manages webhooks must see where they lead.
HOMES = {mark("webhook.url"): re.compile(r"/webhooks"), mark("view.filters"): re.compile(r"/(views|domains|$)")}  # fmt: skip
AUDITED = {mark("audit.payload"), mark("audit.session"), mark("audit.proxy")}
# Columns of a fixed kind, as their checks say, and tables whose rows need more than a filler knows.
REFUSING = {
    "ingestion_runs.outcome", "retention_rules.outcome", "schedule_runs.outcome", "schedules.last_outcome",
    "serp_snapshots.outcome", "use_refusals.reason", "worker_leases.end_reason", "entity_pairs.reason",
}  # fmt: skip
IDS = {
    "domain": "SELECT 'kettles.example'", "name": "SELECT name FROM messor.verticals LIMIT 1",
    "slug": "SELECT slug FROM messor.orbits LIMIT 1",
    "trace_id": "SELECT trace_id FROM messor.ingestion_runs LIMIT 1",
    "page_id": "SELECT max(page_id) FROM messor.page_snapshots",
    "snapshot_id": "SELECT max(id) FROM messor.page_snapshots",
    "proxy_id": "SELECT max(id) FROM messor.proxies",
    "job_id": "SELECT id FROM messor.jobs WHERE job_type = $$webhook$$ AND state = $$dead$$ LIMIT 1",
}  # fmt: skip


@pytest_asyncio.fixture(loop_scope="session")
async def doors(
    serve: Serve, enter: Enter, database: Database, tmp_path: Path
) -> tuple[str, dict[Role, Visitor], list[str]]:
    settings = planted_settings(tmp_path)
    base = await serve(settings, public_submission=True)
    visitors = {role: await enter(base, role) for role in Role}
    member = visitors[Role.ADMIN].member
    assert member is not None
    admin = as_admin(member.id)
    await furnish(database, admin, settings)
    # The furniture's evidence and tiles are nonsense, which the API does not take.
    await database.fetch("UPDATE messor.ingestion_runs SET evidence = NULL, stage = 'done'")
    await database.fetch("DELETE FROM messor.tiles")
    taken = await plant(database, admin, tmp_path)
    return base, visitors, taken


def leaked(text: str, role: Role | None, place: str) -> set[str]:
    """Secrets that this door shows and should not."""
    found = set(MARK.findall(text))
    if role is Role.ADMIN:
        found -= AUDITED
        found -= {
            secret for secret, home in HOMES.items() if home.match(place.removeprefix("/api/v1"))
        }
    return found


def summary(shown: dict[str, set[str]]) -> str:
    """By secret: which doors show it."""
    by_secret: dict[str, list[str]] = {}
    for place, secrets in shown.items():
        for secret in secrets:
            by_secret.setdefault(secret, []).append(place)
    return "\n".join(f"{secret}: {places[:6]}" for secret, places in sorted(by_secret.items()))


async def unplanted(database: Database, taken: Sequence[str]) -> set[str]:
    """Columns that tell, and hold no secret: nothing would be found behind their doors."""
    columns = {f"{row['name']}.{row['column']}": row for row in await database.fetch(COLUMNS)}
    telling = {where for where, row in columns.items() if TELLING.search(row["column"])}
    return telling - OURS - set(taken)


async def test_no_screen_shows_one(
    doors: tuple[str, dict[Role, Visitor], list[str]], database: Database, enter: Enter
) -> None:
    base, visitors, taken = doors
    assert await unplanted(database, taken) <= REFUSING
    jobs = await database.fetch("SELECT id FROM messor.jobs WHERE state = 'dead'")
    tour = [*(await whole_tour(database)).values(), *(f"/jobs/{row['id']}" for row in jobs)]
    shown: dict[str, set[str]] = {}
    everybody: list[tuple[Role | None, Visitor]] = [*visitors.items(), (None, await enter(base))]
    for role, visitor in everybody:
        for place in tour:
            answer = await visitor.get(place)
            assert answer.status < 500, place
            if found := leaked(answer.text + str(answer.headers), role, place):
                shown[f"{role} {place}"] = found
    assert not shown, summary(shown)


async def test_the_admin_sees_what_is_theirs(
    doors: tuple[str, dict[Role, Visitor], list[str]], database: Database
) -> None:
    """The test would find a secret: one that is shown at home is found there."""
    _, visitors, _ = doors
    admin, viewer = visitors[Role.ADMIN], visitors[Role.VIEWER]
    assert mark("webhook.url") in (await admin.get("/webhooks")).text
    job = await database.fetchval(
        "SELECT id FROM messor.jobs WHERE job_type = 'webhook' AND state = 'dead' AND payload::text LIKE '%evt_1%'"
    )
    assert mark("audit.payload") in (await admin.get(f"/jobs/{job}")).text
    page = await viewer.get(f"/jobs/{job}")
    assert "visible only to members who may control jobs" in page.text
    assert mark("audit.proxy") in (await admin.get("/audit")).text


async def test_no_route_tells_one(
    doors: tuple[str, dict[Role, Visitor], list[str]], database: Database, tmp_path: Path
) -> None:
    app = api_over(planted_settings(tmp_path), database)
    ids = {name: await database.fetchval(sql) for name, sql in IDS.items()}
    others = {row["name"]: row["id"] for row in await _first_ids(database)}
    told: dict[str, set[str]] = {}
    asked = 0
    for role in Role:
        key = await key_of(database, role)
        async with client_of(app, headers={"Authorization": f"Bearer {key}"}) as client:
            for path, operations in app.openapi()["paths"].items():
                if "get" not in operations or path.endswith("/stream"):
                    continue
                place = re.sub(
                    r"\{(\w+)\}", lambda part: str(ids.get(part[1]) or others.get(part[1])), path
                )
                answer = await _ask(client, place)
                asked += answer.status_code == 200
                if found := leaked(answer.text + str(answer.headers), role, place):
                    told[f"{role} {place}"] = found
    await app.state.context.close()
    assert not told, summary(told)
    assert asked > 100


async def _ask(client: httpx.AsyncClient, place: str) -> httpx.Response:
    answer = await client.get(place)
    if answer.status_code == 422:
        answer = await client.get(
            place, params={"q": "a", "url": "https://kettles.example/", "query": "a"}
        )
    assert answer.status_code < 500, (place, answer.text)
    return answer


async def _first_ids(database: Database) -> Sequence[asyncpg.Record]:
    """An id of each table, under the name that paths have for it."""
    tables = {"webhook_id": "webhooks", "batch_id": "task_batches", "keyword_id": "keywords",
              "candidate_id": "candidates", "session_id": "discovery_sessions", "record_id": "records",
              "product_id": "products", "member_id": "members", "key_id": "api_keys",
              "view_id": "saved_views", "trial_id": "parser_trials", "organisation_id": "organisations"}  # fmt: skip
    parts = [f"SELECT '{name}' AS name, (SELECT id::text FROM messor.{table} LIMIT 1) AS id" for name, table in tables.items()]  # fmt: skip
    return await database.fetch(" UNION ALL ".join(parts))
