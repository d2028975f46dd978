"""Exports in the console: the button of a list, the form, the list of exports, the download."""

from __future__ import annotations

from pathlib import Path

from messor.access.roles import Role
from messor.exports import queries, requests
from messor.exports.run import Folders, run
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Enter, Serve, Visitor
from tests.exports.seeding import seed


async def test_a_list_is_exported_from_its_button(
    reviewer: Visitor, database: Database, tmp_path: Path
) -> None:
    await seed(database, pages=6)
    listed = await reviewer.get("/products?domain=shop1.example")
    assert '/exports/new?domain=shop1.example&amp;noun=products"' in listed.text
    form = await reviewer.get("/exports/new?domain=shop1.example&noun=products")
    assert "shop1.example" in form.said
    wanted = {"noun": "products", "format": "csv", "domain": "shop1.example", "bom": "1"}
    await reviewer.send("/exports/new?noun=products", "/exports", wanted)
    page = await reviewer.get("/exports")
    assert "queued" in page.said
    name = await database.fetchval("SELECT id FROM messor.exports")
    folder = requests.folder_of(Settings(data_dir=tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    await run(database, Folders(folder, folder), name)
    assert (await queries.get(database, name)).rows == 3
    file = await reviewer.get(f"/exports/{name}/file")
    assert file.status == 200
    assert file.text.count("sku-") == 3


async def test_a_wrong_export_says_so_and_keeps_the_form(reviewer: Visitor) -> None:
    wanted = {"noun": "products", "format": "csv", "q": "tea", "since_when": "soon"}
    page = await reviewer.send("/exports/new?noun=products", "/exports", wanted)
    assert page.status == 422
    assert "neither an export nor a time" in page.said
    assert 'value="tea"' in page.text


async def test_an_export_is_cancelled(reviewer: Visitor, database: Database) -> None:
    await reviewer.send("/exports/new", "/exports", {"noun": "pages", "format": "jsonl"})
    name = await database.fetchval("SELECT id FROM messor.exports")
    await reviewer.send("/exports", f"/exports/{name}/cancel")
    assert "cancelled" in (await reviewer.get("/exports")).said


async def test_a_standing_export_is_added_switched_off_and_removed(
    database: Database, tmp_path: Path, serve: Serve, enter: Enter
) -> None:
    base = await serve(Settings(data_dir=tmp_path, export_places={"lake": str(tmp_path)}))
    admin, reviewer = [await enter(base, role) for role in (Role.ADMIN, Role.REVIEWER)]
    at = "/exports/standing"
    wanted = {"name": "shops", "what": "products", "format": "csv", "cadence": "soon", "place": "lake",
              "filters": "domain=shop.example"}  # fmt: skip
    page = await admin.send(at, at, wanted)
    assert (page.status, "soon" in page.said) == (422, True)
    await admin.send(at, at, {**wanted, "cadence": "@daily"})
    page = await reviewer.get(at)
    assert "domain=shop.example" in page.said
    assert "Switch off" not in page.text  # admins change it
    await admin.send(at, f"{at}/shops", {"act": "off"})
    assert not await database.fetchval("SELECT is_active FROM messor.standing_exports")
    await admin.send(at, f"{at}/shops", {"act": "remove"})
    assert "No standing exports" in (await reviewer.get(at)).said
