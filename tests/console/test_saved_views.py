"""Saved views of lists: kept, opened, shared, begun with and deleted; with scripts and without."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Browser, ViewportSize, expect

from messor.access import saved_views
from messor.access.roles import Role
from messor.store.database import Database
from tests.console import seeding
from tests.console.conftest import Enter, Visitor
from tests.console.test_browser import Joined, log_in, ways

FOOD = {
    "list": "domains",
    "name": "Food banks",
    "view": "pending",
    "q": "food",
    "sort": "-created_at",
}
PLACE = "/domains?view=pending&q=food&sort=-created_at"
NEW = re.compile(r"Save (this view|as view)")


async def save(visitor: Visitor, **changes: str) -> str:
    answer = await visitor.send("/domains?all=1", "/views", {**FOOD, **changes})
    assert answer.status == 303
    return answer.place


async def ids(database: Database) -> dict[str, str]:
    rows = await database.fetch("SELECT name, id FROM messor.saved_views")
    return {row["name"]: str(row["id"]) for row in rows}


async def test_a_view_is_kept_and_opened(reviewer: Visitor, database: Database) -> None:
    await seeding.ask_for(database, "foodbank.org")
    await seeding.ask_for(database, "shop.org")
    assert await save(reviewer) == PLACE
    page = await reviewer.get(PLACE)
    assert "The view Food banks was saved." in page.said
    assert "foodbank.org" in page.said
    assert "shop.org" not in page.said
    assert re.search(r'aria-current="page">\s*Food banks\s*</a>', page.text)
    managed = await reviewer.get("/views")
    assert "pending" in managed.said
    assert "yours" in managed.said


async def test_the_same_name_replaces(reviewer: Visitor, database: Database) -> None:
    await save(reviewer)
    assert await save(reviewer, q="", sort="") == "/domains?view=pending"
    assert await database.fetchval("SELECT count(*) FROM messor.saved_views") == 1


async def test_a_list_opens_with_its_default_until_everything_is_asked_for(
    reviewer: Visitor, database: Database
) -> None:
    await save(reviewer, default="1")
    assert (await reviewer.get("/domains")).place == PLACE
    everything = await reviewer.get("/domains?all=1")
    assert everything.status == 200
    assert 'href="/domains?all=1" aria-current="page"' in everything.text
    assert (await reviewer.get("/domains?view=all")).status == 200
    view = (await ids(database))["Food banks"]
    await reviewer.send("/views", f"/views/{view}", {"act": "plain"})
    assert (await reviewer.get("/domains")).status == 200
    await reviewer.send("/views", f"/views/{view}", {"act": "begin"})
    assert (await reviewer.get("/domains")).place == PLACE
    await reviewer.send("/views", f"/views/{view}", {"act": "delete"})
    assert (await reviewer.get("/domains")).status == 200


async def test_others_see_what_is_shared_and_cannot_change_it(
    console: str, enter: Enter, reviewer: Visitor, database: Database
) -> None:
    await save(reviewer)
    await save(reviewer, name="Ours", shared="1", q="ours")
    viewer = await enter(console, Role.VIEWER)
    page = await viewer.get("/domains?all=1")
    assert "Ours" in page.said
    assert "Food banks" not in page.said
    known = await ids(database)
    own = await viewer.send("/views", f"/views/{known['Food banks']}", {"act": "begin"})
    assert own.status == 404
    for act in ("delete", "unshare"):
        answer = await viewer.send("/views", f"/views/{known['Ours']}", {"act": act})
        assert answer.status == 403
        assert "belongs to The reviewer" in answer.said
    await viewer.send("/views", f"/views/{known['Ours']}", {"act": "begin"})
    assert "q=ours" in (await viewer.get("/domains")).place
    await reviewer.send("/views", f"/views/{known['Ours']}", {"act": "unshare"})
    assert (await viewer.get("/domains")).status == 200, "nobody begins with what is not shared"
    assert "Ours" not in (await viewer.get("/domains?all=1")).said
    await reviewer.send("/views", f"/views/{known['Ours']}", {"act": "share"})
    admin = await enter(console, Role.ADMIN)
    gone = await admin.send("/views", f"/views/{known['Ours']}", {"act": "delete"})
    assert gone.status == 303
    assert "Ours" not in await ids(database)


async def test_the_queue_and_the_tasks_have_views_too(
    console: str, enter: Enter, reviewer: Visitor, database: Database
) -> None:
    for name in ("foodbank.org", "foodbanks.org", "shop.org"):
        await seeding.ask_for(database, name)
    queue = {"list": "review", "name": "Food", "q": "food", "default": "1", "shared": "1"}
    assert (await reviewer.send("/review", "/views", queue)).place == "/review?q=food"
    page = await reviewer.get((await reviewer.get("/review")).place)
    assert "shop.org" not in page.said
    assert "/review?at=foodbank.org&amp;q=food" in page.text, "stepping through it keeps it"
    form = {"act": "approve", "back": "/review?q=food&at=foodbanks.org", "seen": "pending_review"}
    after = await reviewer.send("/review?q=food", "/domains/foodbank.org/decide", form)
    assert after.place == "/review?q=food&at=foodbanks.org"
    tasks = {"list": "tasks", "name": "Broken", "status": "failed", "default": "1"}
    assert (await reviewer.send("/tasks", "/views", tasks)).place == "/tasks?status=failed"
    assert (await reviewer.get("/tasks")).place == "/tasks?status=failed"
    assert (await reviewer.get("/tasks?all=1")).status == 200
    viewer = await enter(console, Role.VIEWER)
    assert "Review queue" not in (await viewer.get("/views")).said


async def test_what_cannot_be_kept_is_a_sentence(
    reviewer: Visitor, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for changes in ({"name": ""}, {"name": "x" * 61}, {"q": "x" * 301}):
        place = await save(reviewer, **changes)
        assert 'role="alert"' in (await reviewer.get(place)).text
    assert (await reviewer.send("/domains", "/views", {"list": "members"})).status == 422
    monkeypatch.setattr(saved_views, "MAX_VIEWS", 2)
    for number in range(3):
        place = await save(reviewer, name=f"view {number}")
    assert "You have 2 views of this list" in (await reviewer.get(place)).said
    assert await database.fetchval("SELECT count(*) FROM messor.saved_views") == 2
    token = await reviewer.token("/domains")
    for path in ("/views/x", "/views/00000000-0000-0000-0000-000000000001"):
        assert (await reviewer.post(path, {"act": "delete"}, csrf=token)).status == 404
    view = next(iter((await ids(database)).values()))
    assert (await reviewer.post(f"/views/{view}", {"act": "x"}, csrf=token)).status == 422


async def test_nobody_saves_a_view_of_a_list_they_may_not_open(console: str, enter: Enter) -> None:
    viewer = await enter(console, Role.VIEWER)
    answer = await viewer.send("/domains", "/views", {"list": "review", "name": "x", "q": "y"})
    assert answer.status == 422


@ways("wide-scripts", "narrow-plain")
async def test_in_a_browser(
    size: ViewportSize,
    scripts: bool,
    chromium: Browser,
    console: str,
    database: Database,
    joined: Joined,
) -> None:
    """With scripts the list follows what is typed, and the view that is kept follows the list."""
    await joined(Role.REVIEWER)
    for name in ("alpha.org", "beta.org"):
        await seeding.ask_for(database, name)
    context = await chromium.new_context(viewport=size, java_script_enabled=scripts)
    page = await context.new_page()
    await log_in(page, console)
    await page.goto(f"{console}/domains")
    await page.get_by_label("Part of the name").fill("alph")
    if not scripts:
        await page.get_by_role("button", name="Apply").click()
    rows = page.locator("#rows")
    await expect(rows.get_by_role("link", name="beta.org")).to_have_count(0)
    await rows.get_by_text(NEW).click()
    await rows.get_by_label("View name").fill("Alphas")
    await rows.get_by_label("Use as default").check()
    await rows.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("The view Alphas was saved.")).to_be_visible()
    await page.goto(f"{console}/domains")
    await expect(page).to_have_url(f"{console}/domains?q=alph")
    views = page.get_by_role("navigation", name="Saved views")
    await views.get_by_role("link", name="All", exact=True).click()
    await expect(rows.get_by_role("link", name="beta.org")).to_be_visible()
    await page.get_by_role("link", name="Manage saved views").click()
    await page.get_by_role("button", name="Delete").click()
    await expect(page.get_by_text("The view Alphas was deleted.")).to_be_visible()
    await context.close()
