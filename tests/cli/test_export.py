"""`messor export` as a person meets it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from messor.store.database import Database
from tests.cli.conftest import Messor
from tests.exports.seeding import seed


@pytest.fixture
def seeded(dsn: str) -> None:
    async def fill() -> None:
        async with Database(dsn) as database:
            await seed(database, pages=6)

    asyncio.run(fill())


@pytest.mark.usefixtures("seeded")
def test_a_list_is_exported_with_its_filters(messor: Messor, tmp_path: Path) -> None:
    said = messor("export", "products", "-o", "p.csv", "--domain", "shop1.example", "--json")
    assert said.code == 0, said.err
    assert (said.json["state"], said.json["rows"]) == ("done", 3)
    assert len((tmp_path / "p.csv").read_text().splitlines()) > 3
    since = messor("export", "products", "-o", "new.jsonl", "--since", said.json["id"])
    assert "0 rows were written" in since.err
    assert said.json["id"] in messor("export", "list").out
    assert messor("export", "cancel", said.json["id"]).code == 5
    assert (tmp_path / "p.csv").stat().st_mode & 0o077 == 0


def test_what_cannot_be_exported_is_one_sentence(messor: Messor) -> None:
    for words, code, said in (
        (("products", "-o", "p.xyz"), 2, "name the format"),
        (("products", "-o", "no/such/folder/p.csv"), 2, "not a folder"),
        (("products", "-o", "p.csv", "--columns", "colour"), 2, "has no column 'colour'"),
        (("products", "-o", "p.csv", "--since", "soon"), 2, "neither an export nor a time"),
        (("products", "-o", "p.csv", "--since", str(UUID(int=7))), 4, "There is no export"),
        (("cancel", str(UUID(int=7))), 4, "Unknown export"),
    ):
        answer = messor("export", *words)
        assert answer.code == code, answer
        assert said in answer.err
        assert "Traceback" not in answer.err


@pytest.mark.usefixtures("seeded")
def test_a_standing_export_is_added_switched_and_removed(
    messor: Messor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    monkeypatch.setenv("MESSOR_EXPORT_PLACES", f'{{"lake": "{lake}"}}')
    given = ("shops", "products", "--to", "lake", "--cadence", "@every 6h", "--incremental")
    assert "next runs at" in messor("export", "standing", "add", *given).err
    wrong = messor("export", "standing", "add", "x", "pages", "--to", "moon", "--cadence", "@daily")
    assert (wrong.code, "they are: lake" in wrong.err) == (2, True)
    assert "shops" in messor("export", "standing", "list", "--active").out
    assert messor("export", "standing", "off", "shops", "--json").json["is_active"] is False
    assert messor("export", "standing", "on", "shops").code == 0
    assert messor("export", "standing", "remove", "shops").code == 0
    assert messor("export", "standing", "remove", "shops").code == 4
