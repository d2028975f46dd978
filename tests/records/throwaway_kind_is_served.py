"""Run with the plugin `throwaway_kind`: what every part of Messor makes of a kind it was told of."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from messor.access.passwords import Passwords
from messor.access.roles import Role
from messor.ai.questions import answer_schema, described
from messor.cli.main import cli
from messor.console.app import make_console
from messor.content.records import Record
from messor.content.schemas.files import schema_files
from messor.content.validation import validated
from messor.extraction.events import events_of
from messor.extraction.reader_pool import wanted_kinds
from messor.parsers.page_findings import found_page
from messor.parsers.page_reading import read_records
from messor.records.changes import Sighting
from messor.records.store import store
from messor.settings import Settings
from messor.store.database import Database
from messor.verticals import files
from tests.api.conftest import api_over, client_of, session_of
from tests.harvested import open_harvest
from tests.records.throwaway_kind import KIND

PAGE = (
    "<!doctype html><title>Bike</title><h1>Bike</h1><script type='application/ld+json'>"
    '{"@context":"https://schema.org","@type":"Bicycle","frameNumber":"FN-77","color":"%s"}'
    "</script>"
)


def test_it_is_published_asked_for_and_chosen() -> None:
    schema = json.loads(schema_files()[f"{KIND}.json"])
    assert schema["properties"]["kind"] == {"const": KIND}
    asked = answer_schema([KIND])["properties"][KIND]["items"]["properties"]
    assert list(asked) == ["frame_number"]
    assert described([KIND]) == "- bicycle: a bicycle by its frame number"
    assert wanted_kinds([KIND]) == frozenset((KIND,))
    source = files.shipped("products").source
    given = source.replace("record_kinds = [", f'record_kinds = ["{KIND}", ')
    assert given != source
    assert KIND in files.understand(given, "mine.toml").vertical.record_kinds


def test_it_is_checked_by_its_fields() -> None:
    good, rejected = validated([Record(KIND, 0.9, "p", "1", {})])
    assert not good
    assert rejected[0].kind == KIND


async def test_it_is_read_stored_listed_and_eventful(
    database: Database, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest = await open_harvest(database)
    page_id = await harvest.see("/bike", PAGE % "red")
    record_id = await harvest.record_id(KIND, "/bike")
    url = f"https://{harvest.name}/bike"
    row = await database.fetchrow("SELECT * FROM messor.records WHERE id = $1", record_id)
    assert row is not None
    assert row["identity"] == "FN-77"

    page = found_page(read_records(PAGE % "blue", url))
    sighting = Sighting(
        page_id, row["snapshot_id"], harvest.domain.id, url, b"", harvest.now, "page"
    )
    async with database.transaction() as connection:
        told = events_of(await store(connection, [(sighting, page)]))
    changed = [event.data for event in told if event.type == "record.changed"]
    assert [data and data["kind"] for data in changed] == [KIND]

    settings = Settings(data_dir=tmp_path, database_url=dsn)
    cookies = {"messor_session": await session_of(database, Role.ADMIN)}
    api = api_over(settings, database)
    async with client_of(api, cookies=cookies) as client:
        items = (await client.get("/api/v1/records", params={"kind": KIND})).json()["items"]
    await api.state.context.close()
    assert [(item["id"], item["title"]) for item in items] == [(record_id, "FN-77")]

    async with client_of(make_console(settings, database, Passwords()), cookies=cookies) as client:
        shown = (await client.get("/records", params={"kind": KIND})).text
    assert f'<option value="{KIND}" selected' in shown
    assert "FN-77" in shown

    monkeypatch.setenv("MESSOR_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("MESSOR_DATABASE_URL", dsn)
    command = ["records", "list", "--kind", KIND, "--json"]
    ran = await asyncio.to_thread(CliRunner().invoke, cli, command)
    assert [item["id"] for item in json.loads(ran.stdout)] == [record_id]
