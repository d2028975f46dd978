"""Secrets planted wherever one could come to lie: settings, payloads, events, errors, addresses.

Each is told from the others by where it lies, so that a door that shows one says which.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import asyncpg
import msgspec
from pydantic import SecretStr

from messor.access.principal import Principal
from messor.access.saved_views import save
from messor.core.ids import new_id
from messor.fetch.proxies import registry as proxies
from messor.fetch.proxies.proxy import understand
from messor.fetch.proxies.seal import seal_for
from messor.jobs.jobs import NewJob, enqueue
from messor.ledger.events import Event, record
from messor.settings import EngineOptions, Settings
from messor.store.database import Database
from tests.console.filling import fill
from tests.console.poisoning import COLUMNS

MARK = re.compile(r"PLANTED[A-Za-z0-9]+")
# Columns that hold what went wrong, what is to be done and what came of it, in words of anybody.
TELLING = re.compile(
    r"error|reason|message|stack|detail|payload|result|outcome|^data$|headers|warning"
)
# Words of Messor's own, names of a fixed kind, what pages say, and what keeps a shape of its own.
OURS = {
    "jobs.dead_category",
    "http_fetches.outcome",
    "crawl_tasks.outcome",
    "error_logs.error_type",
    "keywords.tier_reason",
    "records.data",
    "entities.data",
    "ingestion_runs.result",
    "ingestion_runs.result_json",
}


def mark(where: str) -> str:
    return "PLANTED" + "".join(part.title() for part in re.split(r"\W|_", where))


def sentence(where: str) -> str:
    """What libraries say when something fails, in the forms that secrets take."""
    s = mark(where)
    return (
        f"Cannot connect to https://user:{s}@peer.example/path?q=1&api_key={s}&token={s} "
        f"with password={s} and Bearer {s}\nAuthorization: Bearer {s}"
    )


def planted_settings(folder: Path) -> Settings:
    """Every setting that is a secret, or a URL that may hold one."""
    given: dict[str, Any] = {"data_dir": folder}
    for name, field in Settings.model_fields.items():
        if SecretStr in (field.annotation, *get_args(field.annotation)):
            given[name] = mark(f"setting.{name}")
        elif name.endswith("_url") and name != "public_url":
            s = mark(f"setting.{name}")
            given[name] = f"https://user:{s}@peer.example/v1?key={s}&password={s}"
    s = mark("setting.engine")
    given["broker_url"] = f"amqp://guest:{mark('setting.broker_url')}@rabbit.example//"
    engine = EngineOptions(url=f"https://e.example/?api_key={s}", key=SecretStr(s))
    given["search_engines"] = {"searxng": engine}
    return Settings.model_construct(**{**dict(Settings()), **_typed(given)})


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    kinds = Settings.model_fields
    return {
        name: SecretStr(value)
        if SecretStr in (kinds[name].annotation, *get_args(kinds[name].annotation))
        else value
        for name, value in given.items()
    }


async def plant(database: Database, admin: Principal, folder: Path) -> list[str]:
    """Answers which columns took one."""
    async with database.transaction() as connection:
        await plant_work(connection, admin)
        proxy, password = understand(f"http://user:{mark('proxy.password')}@proxy.example:3128")
        await proxies.add(
            connection, seal_for(Settings(data_dir=folder)), proxy, password, actor="x"
        )
        await save(connection, admin, "domains", "mine", {"q": mark("view.filters")})
        await connection.execute(
            "UPDATE messor.webhooks SET url = 'https://hooks.example/' || $1 || '?token=' || $1",
            mark("webhook.url"),
        )
    columns = [row for row in await database.fetch(COLUMNS) if TELLING.search(row["column"])]
    await fill(database, sorted({row["name"] for row in columns} | {"monitors"}))
    taken = []
    for row in columns:
        where = f"{row['name']}.{row['column']}"
        if where not in OURS and await _put(database, row, where):
            taken.append(where)
    return taken


async def plant_work(connection: Any, admin: Principal) -> None:
    """Jobs with payloads and errors, and events of all kinds."""
    hook = await connection.fetchval("SELECT id FROM messor.webhooks LIMIT 1")
    url = f"https://hooks.example/{mark('event.path')}?token={mark('event.query')}"
    told = {"type": "session.opened", "id": "evt_1", "data": {"address": mark("audit.payload")}}
    jobs = [
        NewJob("webhook", f"webhook:{new_id()}", "webhook", target_id=hook,
               payload={"webhook": str(hook), "event": told}),
        NewJob("audit", f"audit:{new_id()}", "log", target_url=f"https://peer.example/?token={mark('job.target')}",
               payload={"since": "2026", "api_key": mark("payload.key"), "headers": {"Cookie": mark("payload.cookie")}}),
    ]  # fmt: skip
    await enqueue(connection, jobs)
    await connection.execute(
        """UPDATE messor.jobs SET state = 'dead', finished_at = messor.clock(), dead_category = 'http',
             dead_type = 'JobError', dead_reason = 'x', result_json = '{"a": "b"}' WHERE id = ANY ($1)""",
        [job.id for job in jobs],
    )
    for job in jobs:
        await connection.execute(
            """INSERT INTO messor.error_logs (job_id, category, error_type, error_message, stack_trace, detail)
               VALUES ($1, 'http', 'JobError', 'x', 'x', '{"a": "b"}')""",
            job.id,
        )
    await record(
        connection,
        [
            Event("session.opened", admin.actor, data={"address": mark("audit.session")}),
            Event("webhook.added", admin.actor, data={"webhook": str(hook), "url": url}),
            Event("proxy.added", admin.actor, data={"at": mark("audit.proxy")}),
            Event("schedule.failed", "schedule", data={"error": sentence("event.data")}),
        ],
    )


async def _put(database: Database, row: Any, where: str) -> bool:
    """The sentence in place of what a column holds, as far as its checks allow."""
    name, column = row["name"], row["column"]
    value = "$1::text"
    words = sentence(where)
    if row["kind"] == "_text":
        value = "ARRAY[$1::text]"
    if row["kind"] == "jsonb":
        told = {"type": "planted", "message": words, "error": words, "password": mark(where)}
        words = msgspec.json.encode(told).decode()
        value = f"CASE jsonb_typeof(coalesce(\"{column}\", '{{}}')) WHEN 'object' THEN coalesce(\"{column}\", '{{}}') || $1::jsonb ELSE \"{column}\" END"
    for rows in ("true", f'"{column}" IS NOT NULL'):
        try:
            async with database.transaction() as connection:
                done = await connection.execute(
                    f'UPDATE messor.{name} SET "{column}" = {value} WHERE {rows}', words
                )
        except asyncpg.PostgresError:
            continue
        if not done.endswith(" 0"):
            return True
    return False
