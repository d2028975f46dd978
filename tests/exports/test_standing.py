"""Standing exports: made when due, delivered whole, continued from what was delivered, erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from messor.errors import ConflictError, UnavailableError, UsageError
from messor.exports import requests
from messor.exports.job import register
from messor.exports.places import Places
from messor.governance import erasure
from messor.jobs.handlers import Handlers
from messor.jobs.leases import claim
from messor.schedule import standing_exports, standing_queries
from messor.schedule.orchestrators import RunPosition
from messor.schedule.standing_exports import EXPORTS, NewStandingExport
from messor.settings import Settings
from messor.store.database import Database
from tests.exports.seeding import seed

DUE = "UPDATE messor.standing_exports SET next_run_at = messor.clock()"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "lake").mkdir()
    return Settings(data_dir=tmp_path / "data", export_places={"lake": str(tmp_path / "lake")})


async def add(database: Database, settings: Settings, **more: Any) -> None:
    given = {
        "name": "shops", "noun": "products", "format": "jsonl", "cadence": "@daily", "place": "lake",
        "filters": {}, "is_incremental": True, **more,
    }  # fmt: skip
    async with database.transaction() as connection:
        await standing_exports.add(
            connection, NewStandingExport(**given), Places.of_settings(settings), actor="ann"
        )


async def scheduled(database: Database) -> None:
    """What O-Exports does when it runs."""
    place: RunPosition | None = RunPosition()
    while place is not None:
        async with database.transaction() as connection:
            place = (await EXPORTS.step(connection, place)).next


async def work(database: Database, settings: Settings) -> None:
    handlers = Handlers()
    register(handlers, settings, database)
    for job in await claim(database, "test", [requests.JOB_TYPE, requests.TIDY_JOB], 10, 60.0):
        effects = await handlers.prepare(job)
        async with database.transaction() as connection:
            await effects(connection)


async def turn(database: Database, settings: Settings) -> None:
    await database.fetch(DUE)
    await scheduled(database)
    await work(database, settings)


def delivered(settings: Settings) -> list[list[int]]:
    """The ids in each file, in the order of their names."""
    folder = Path(settings.export_places["lake"])
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert all(path.parent.name == "shops" for path in files)
    return [
        [msgspec.json.decode(line)["id"] for line in path.read_bytes().splitlines()]
        for path in files
    ]


async def test_each_one_continues_from_the_last_delivered(
    database: Database, settings: Settings
) -> None:
    await seed(database, pages=4)
    await add(database, settings)
    await scheduled(database)
    assert await database.fetchval("SELECT count(*) FROM messor.exports") == 0  # not due yet
    await turn(database, settings)
    assert delivered(settings) == [[1, 2, 3, 4]]
    await database.fetch("UPDATE messor.products SET price = 1 WHERE id = 3")
    await turn(database, settings)
    assert sorted(delivered(settings)) == [[1, 2, 3, 4], [3]]
    folder = requests.folder_of(settings)
    await turn(database, settings)
    assert len(list(folder.iterdir())) <= 1  # its copy goes with the next run
    events = await database.fetch(
        "SELECT actor FROM messor.events WHERE type = 'export.delivered' ORDER BY id"
    )
    assert [row["actor"] for row in events] == ["ann"] * 3
    found = await standing_queries.get(database, "shops")
    assert (found.last_state, found.last_rows, found.problem) == ("done", 0, None)


async def test_a_broken_place_loses_nothing(database: Database, settings: Settings) -> None:
    await seed(database, pages=3)
    await add(database, settings)
    folder = Path(settings.export_places["lake"])
    folder.rmdir()  # noqa: ASYNC240 - a test
    with pytest.raises(UnavailableError, match="is not a folder, or its share is not mounted"):
        await turn(database, settings)
    folder.mkdir()  # noqa: ASYNC240 - a test
    await database.fetch("UPDATE messor.products SET price = 1 WHERE id = 2")
    await turn(database, settings)
    assert delivered(settings) == [[1, 2, 3]]  # what was not delivered is no base


async def test_one_at_a_time(database: Database, settings: Settings) -> None:
    await seed(database, pages=3)
    await add(database, settings)
    for _ in range(2):
        await database.fetch(DUE)
        await scheduled(database)
    assert await database.fetchval("SELECT count(*) FROM messor.exports") == 1


async def test_an_erasure_removes_what_was_delivered(
    database: Database, settings: Settings
) -> None:
    await seed(database, pages=4)
    await add(database, settings)
    await turn(database, settings)
    url = await database.fetchval("SELECT url FROM messor.pages WHERE id = 2")
    async with database.transaction() as connection:
        await erasure.erase_url(connection, url, actor="ann", reason="asked")
    await scheduled(database)
    await work(database, settings)
    assert delivered(settings) == []
    await turn(database, settings)
    assert delivered(settings) == [[1, 3, 4]]  # whole again


async def test_it_is_switched_off_and_removed(database: Database, settings: Settings) -> None:
    await seed(database, pages=3)
    await add(database, settings)
    async with database.transaction() as connection:
        await standing_exports.switch(connection, "shops", on=False, actor="ann")
    await turn(database, settings)
    assert delivered(settings) == []
    async with database.transaction() as connection:
        await standing_exports.switch(connection, "shops", on=True, actor="ann")
    await turn(database, settings)
    async with database.transaction() as connection:
        await standing_exports.remove(connection, "shops", actor="ann")
    assert len(delivered(settings)) == 1


@pytest.mark.parametrize(
    "more, words",
    [
        ({"place": "moon"}, "not a place of MESSOR_EXPORT_PLACES; they are: lake"),
        ({"name": "../x"}, "lower-case letters"),
        ({"cadence": "whenever"}, "whenever"),
        ({"noun": "produkts"}, "choose from"),
        ({"filters": {"colour": "red"}}, "colour"),
        ({"format": "warc"}, "warc holds pages only"),
    ],
)
async def test_bad_input_gets_a_sentence(
    database: Database, settings: Settings, more: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        await add(database, settings, **more)
    assert await database.fetchval("SELECT count(*) FROM messor.standing_exports") == 0


async def test_a_name_is_given_once(database: Database, settings: Settings) -> None:
    await add(database, settings)
    with pytest.raises(ConflictError, match="already a standing export shops"):
        await add(database, settings)
