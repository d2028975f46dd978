"""The halt and the limits in the console: their forms, the notice on every page, and who may lift it."""

from __future__ import annotations

from messor.access.roles import Role
from messor.politeness import limits
from messor.registry import domains
from messor.store.database import Database
from tests.console.conftest import Enter
from tests.crawling import admit

NOTICE = "All traffic to sites is halted"


async def test_a_reviewer_halts_everybody_sees_it_and_an_admin_lifts_it(
    console: str, enter: Enter
) -> None:
    viewer, reviewer, admin = [
        await enter(console, role) for role in (Role.VIEWER, Role.REVIEWER, Role.ADMIN)
    ]
    assert NOTICE not in (await viewer.get("/")).said
    empty = await reviewer.send("/traffic", "/traffic/halt", {"reason": " "})
    assert (empty.status, "1 to 500 characters" in empty.said) == (422, True)
    done = await reviewer.send("/traffic", "/traffic/halt", {"reason": "<b>a complaint</b>"})
    assert (done.status, done.place) == (303, "/traffic")
    for path in ("/", "/domains", "/admin/orbits/health", "/traffic"):
        page = await viewer.get(path)
        assert NOTICE in page.said, path
        assert "by The reviewer: <b>a complaint</b>" in page.said
        assert "<b>a complaint</b>" not in page.text
    assert (await viewer.post("/traffic/halt", csrf=await viewer.token("/"))).status == 403
    assert (await reviewer.send("/", "/traffic/resume")).status == 403
    assert (await admin.send("/traffic", "/traffic/resume")).place == "/traffic"
    assert NOTICE not in (await viewer.get("/domains")).said


async def test_an_admin_limits_all_sites_and_a_reviewer_one(
    console: str, enter: Enter, database: Database
) -> None:
    reviewer, admin = [await enter(console, role) for role in (Role.REVIEWER, Role.ADMIN)]
    wrong = {"crawl_hours": "soon", "time_zone": "UTC", "megabytes_per_day": ""}
    said = await admin.send("/traffic", "/traffic/limits", wrong)
    assert (said.status, "two hours of the day" in said.said) == (422, True)
    given = {"crawl_hours": "22-6", "time_zone": "Europe/Berlin", "megabytes_per_day": "500"}
    assert (await reviewer.send("/", "/traffic/limits", given)).status == 403
    assert (await admin.send("/traffic", "/traffic/limits", given)).place == "/traffic"
    shown = await reviewer.get("/traffic")
    assert 'value="22-6"' in shown.text
    assert "0 MB of 500 MB" in shown.said
    empty = dict.fromkeys(given, "")
    assert (await admin.send("/traffic", "/traffic/limits", empty)).place == "/traffic"
    assert await limits.find(database) is None

    await admit(database, "https://shop.example/")
    place = "/domains/shop.example/settings"
    assert (await reviewer.send(place, place, given)).status == 303
    row = await domains.get(database, "shop.example")
    assert (row.crawl_hours, row.time_zone, row.megabytes_per_day) == ("22-6", "Europe/Berlin", 500)
    assert (await reviewer.send(place, place, empty)).status == 303
    row = await domains.get(database, "shop.example")
    assert (row.crawl_hours, row.megabytes_per_day) == (None, None)
