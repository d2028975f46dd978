"""Exports through the API: requested, watched, downloaded in ranges, and one's own only."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from uuid import UUID

import httpx

from messor.access.roles import Role
from messor.exports import requests
from messor.exports.job import register
from messor.jobs.handlers import Handlers
from messor.jobs.leases import claim
from messor.settings import Settings
from messor.store.database import Database
from tests.api.conftest import AsRole, problem
from tests.exports.seeding import seed

E = "/api/v1/exports"


async def work(database: Database, settings: Settings) -> None:
    """What a worker does with the queued exports."""
    handlers = Handlers()
    register(handlers, settings, database)
    for job in await claim(database, "test", [requests.JOB_TYPE], 10, 60.0):
        effects = await handlers.prepare(job)
        async with database.transaction() as connection:
            await effects(connection)


async def started(client: httpx.AsyncClient, **wanted: object) -> str:
    answer = await client.post(E, json=wanted)
    assert answer.status_code == 202, answer.text
    assert answer.headers["Location"] == f"{E}/{answer.json()['id']}"
    name: str = answer.json()["id"]
    return name


async def test_an_export_is_made_by_a_worker_and_downloaded(
    as_role: AsRole, database: Database, settings: Settings
) -> None:
    await seed(database, pages=8)
    reviewer = await as_role(Role.REVIEWER)
    name = await started(
        reviewer, noun="products", format="csv", filters={"domain": "shop1.example"},
        columns=["id", "price"], bom=True,
    )  # fmt: skip
    problem(await reviewer.get(f"{E}/{name}/file"), 409, "conflict")
    await work(database, settings)
    shown = (await reviewer.get(f"{E}/{name}")).json()
    assert (shown["state"], shown["rows"]) == ("done", 4)
    answer = await reviewer.get(f"{E}/{name}/file")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="products.csv"' in answer.headers["content-disposition"]
    assert answer.content.startswith(b"\xef\xbb\xbfid,price\n")
    assert len(list(csv.reader(io.StringIO(answer.text)))) == 5
    assert [one["id"] for one in (await reviewer.get(E)).json()["items"]] == [name]


async def test_an_interrupted_download_continues(
    as_role: AsRole, database: Database, settings: Settings
) -> None:
    await seed(database, pages=8)
    reviewer = await as_role(Role.REVIEWER)
    name = await started(reviewer, noun="pages", format="jsonl")
    await work(database, settings)
    whole = await reviewer.get(f"{E}/{name}/file")
    tag, size = whole.headers["etag"], len(whole.content)
    part = await reviewer.get(f"{E}/{name}/file", headers={"Range": "bytes=100-", "If-Range": tag})
    assert part.status_code == 206
    assert part.headers["content-range"] == f"bytes 100-{size - 1}/{size}"
    assert whole.content[:100] + part.content == whole.content
    other = await reviewer.get(
        f"{E}/{name}/file", headers={"Range": "bytes=100-", "If-Range": '"another"'}
    )
    assert (other.status_code, len(other.content)) == (200, size)


async def test_exports_are_ones_own_and_viewers_have_none(
    as_role: AsRole, database: Database, settings: Settings
) -> None:
    reviewer, submitter = await as_role(Role.REVIEWER), await as_role(Role.SUBMITTER)
    name = await started(reviewer, noun="events", format="csv", filters={"with_audit": True})
    problem(await submitter.get(f"{E}/{name}"), 404, "not_found")
    problem(await submitter.get(f"{E}/{name}/file"), 404, "not_found")
    problem(await submitter.post(f"{E}/{name}/cancel"), 404, "not_found")
    assert (await submitter.get(E)).json()["items"] == []
    admin = await as_role(Role.ADMIN)
    shown = (await admin.get(f"{E}/{name}")).json()
    assert shown["filters"]["with_audit"] is False  # a reviewer may not read the audit log
    viewer = await as_role(Role.VIEWER)
    problem(await viewer.post(E, json={"noun": "pages"}), 403, "forbidden")
    assert (await reviewer.post(f"{E}/{name}/cancel")).json()["state"] == "cancelled"


async def test_a_wrong_request_is_a_sentence_and_starts_nothing(
    as_role: AsRole, database: Database
) -> None:
    reviewer = await as_role(Role.REVIEWER)
    for wanted, said in (
        ({"noun": "products", "columns": ["colour"]}, "has no column"),
        ({"noun": "products", "filters": {"colour": "red"}}, "colour"),
        ({"noun": "products", "format": "docx"}, "jsonl"),
        ({"noun": "products", "since": "soon"}, "neither an export nor a time"),
        ({"noun": "products", "since": str(UUID(int=7))}, "There is no export"),
    ):
        answer = await reviewer.post(E, json=wanted)
        assert answer.status_code in (404, 422)
        assert said in answer.text
    assert await database.fetchval("SELECT count(*) FROM messor.exports") == 0


def test_files_lie_in_the_data_folder(tmp_path: Path) -> None:
    assert requests.folder_of(Settings(data_dir=tmp_path)) == tmp_path / "exports"


async def test_standing_exports_are_made_by_admins(
    as_role: AsRole, database: Database, settings: Settings, tmp_path: Path
) -> None:
    settings.export_places = {"lake": str(tmp_path)}
    path = "/api/v1/standing-exports"
    wanted = {"name": "shops", "noun": "products", "cadence": "@daily", "place": "lake"}
    reviewer, admin = await as_role(Role.REVIEWER), await as_role(Role.ADMIN)
    problem(await reviewer.post(path, json=wanted), 403, "forbidden")
    made = await admin.post(path, json=wanted)
    assert (made.status_code, made.headers["Location"]) == (201, f"{path}/shops")
    problem(await admin.post(path, json=wanted), 409, "conflict")
    assert "moon" in (await admin.post(path, json={**wanted, "place": "moon"})).text
    assert [one["name"] for one in (await reviewer.get(path)).json()["items"]] == ["shops"]
    off = await admin.patch(f"{path}/shops", json={"is_active": False})
    assert (off.status_code, off.json()["is_active"]) == (200, False)
    assert (await admin.delete(f"{path}/shops")).status_code == 204
    problem(await reviewer.get(f"{path}/shops"), 404, "not_found")
