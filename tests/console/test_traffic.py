"""The halt in the console: its form, the notice on every page, and who may lift it."""

from __future__ import annotations

from messor.access.roles import Role
from tests.console.conftest import Enter

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
