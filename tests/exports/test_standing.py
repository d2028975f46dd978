"""Standing exports: made when due, delivered whole, continued from what was delivered, erased.

To a folder and to an object store alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pydantic import SecretStr

from messor.archive.objects import StoreOptions, open_store
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
from tests.archive import stores
from tests.exports.seeding import seed

DUE = "UPDATE messor.standing_exports SET next_run_at = messor.clock()"


@pytest.fixture(scope="module")
def moto() -> Iterator[StoreOptions]:
    with stores.moto() as options:
        yield options


@pytest.fixture(params=["folder", "bucket"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    if request.param == "folder":
        (tmp_path / "lake").mkdir()
        return Settings(data_dir=tmp_path / "data", export_places={"lake": str(tmp_path / "lake")})
    options: StoreOptions = request.getfixturevalue("moto")
    return Settings(
        data_dir=tmp_path / "data",
        export_places={"lake": stores.fresh(options).url},
        archive_endpoint=options.endpoint,
        archive_key_id=options.key_id,
        archive_secret=SecretStr(str(options.secret)),
    )


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
    files = _folder_files(settings) or _bucket_files(settings)
    assert all(name.startswith("shops/") for name in files)
    return [
        [msgspec.json.decode(line)["id"] for line in files[name].splitlines()]
        for name in sorted(files)
    ]


def _folder_files(settings: Settings) -> dict[str, bytes]:
    folder = Path(settings.export_places["lake"])
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def _bucket_files(settings: Settings) -> dict[str, bytes]:
    if (url := settings.export_places["lake"]).startswith("/"):
        return {}
    store = open_store(url, StoreOptions.of(settings))
    return {each.key: store.whole(each.key) for each in store.listed()}


def break_place(settings: Settings) -> Callable[[], None]:
    """Make it unusable; returns what mends it."""
    given = settings.export_places["lake"]
    folder = Path(given)
    if given.startswith("/"):
        folder.rmdir()
        return folder.mkdir
    settings.export_places["lake"] = "s3://nothing-is-here/x"
    return lambda: settings.export_places.update(lake=given)


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
    mend = break_place(settings)
    with pytest.raises(
        UnavailableError, match=r"is not a folder, or its share|bucket does not exist"
    ):
        await turn(database, settings)
    mend()
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


async def test_an_erasure_during_a_delivery_removes_it_afterwards(
    database: Database, settings: Settings
) -> None:
    await seed(database, pages=4)
    await add(database, settings)
    await database.fetch(DUE)
    await scheduled(database)
    handlers = Handlers()
    register(handlers, settings, database)
    (job,) = await claim(database, "test", [requests.JOB_TYPE], 10, 60.0)
    effects = await handlers.prepare(job)  # it is at its place, and that is not noted yet
    url = await database.fetchval("SELECT url FROM messor.pages WHERE id = 2")
    async with database.transaction() as connection:
        await erasure.erase_url(connection, url, actor="ann", reason="asked")
    folder, places = requests.folder_of(settings), Places.of_settings(settings)
    assert await requests.remove_outdated(database, folder, places) == 1
    assert delivered(settings) == []
    places.of("lake").put(_remade(tmp=folder), "shops/late.jsonl")  # the slower one of two workers
    async with database.transaction() as connection:
        await effects(connection)
    await database.fetch("UPDATE messor.exports SET delivered_as = 'shops/late.jsonl'")
    assert await requests.remove_outdated(database, folder, places) == 1
    assert delivered(settings) == []


def _remade(tmp: Path) -> Path:
    path = tmp / "late.jsonl"
    path.write_bytes(b'{"id": 2}\n')
    return path


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
        ({"place": "ftp"}, "neither a folder nor a URL such as s3://bucket/prefix"),
        ({"place": "moon"}, "not a place of MESSOR_EXPORT_PLACES; they are: ftp, lake"),
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
    settings.export_places["ftp"] = "ftp://files.example/lake"
    with pytest.raises(UsageError, match=words):
        await add(database, settings, **more)
    assert await database.fetchval("SELECT count(*) FROM messor.standing_exports") == 0


async def test_a_name_is_given_once(database: Database, settings: Settings) -> None:
    await add(database, settings)
    with pytest.raises(ConflictError, match="already a standing export shops"):
        await add(database, settings)
