"""Webhooks in the console: added through the guard, told by real workers, paused, sent again."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ViewportSize, expect

from messor.access.roles import Role
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Enter, Serve, Visitor
from tests.console.test_browser import Joined, log_in, ways
from tests.receiver import Receiver, happen, receiving, settled, working

SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]{40,}")


@pytest_asyncio.fixture(loop_scope="session")
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
def opened(tmp_path: Path, receiver: Receiver) -> Settings:
    """The receiver's port on loopback is open to us, and nothing else."""
    port = int(receiver.url.split(":")[2].partition("/")[0])
    networks = {"addresses": ["127.0.0.0/8"], "ports": [port]}
    return Settings.model_validate({"data_dir": tmp_path, "allowed_networks": networks})


@pytest_asyncio.fixture(loop_scope="session")
async def admin(serve: Serve, enter: Enter, opened: Settings) -> Visitor:
    return await enter(await serve(opened), Role.ADMIN)


async def _add(visitor: Visitor, url: str, *types: str) -> tuple[str, str]:
    """The new webhook's page, and its secret."""
    form = [("url", url), *(("type", one) for one in types)]
    page = await visitor.send("/webhooks", "/webhooks", form)
    assert page.status == 200, page.said
    secret = SECRET.search(page.said)
    assert secret
    found = re.search(r'action="(/webhooks/[0-9a-f-]{36})"', page.text)
    assert found
    return found[1], secret[0]


async def test_the_secret_is_shown_once(admin: Visitor, receiver: Receiver) -> None:
    path, secret = await _add(admin, receiver.url, "domain.approved")
    for place in (path, "/webhooks", "/audit"):
        page = await admin.get(place)
        assert page.status == 200
        assert secret not in page.text
    assert "domain.approved" in (await admin.get("/webhooks")).said


@pytest.mark.parametrize(
    "url", ["https://10.0.0.1/hook", "http://example.org/", "javascript:alert(1)", "", "x" * 3_000]
)
async def test_the_guard_says_why_not(admin: Visitor, url: str) -> None:
    page = await admin.send("/webhooks", "/webhooks", {"url": url, "others": "domain.kept"})
    assert page.status == 422
    assert 'role="alert"' in page.text
    assert 'value="domain.kept"' in page.text, "what was typed is still there"


async def test_types_that_are_none_are_refused(admin: Visitor, receiver: Receiver) -> None:
    form = {"url": receiver.url, "others": "domain.approved, <script>"}
    assert (await admin.send("/webhooks", "/webhooks", form)).status == 422
    path, _ = await _add(admin, receiver.url)
    page = await admin.send(path, path, {"act": "types", "others": "No.Type"})
    assert page.status == 422
    done = await admin.send(
        path,
        path,
        [("act", "types"), ("type", "domain.approved"), ("others", "domain.kept, url.erased")],
    )
    assert done.status == 303
    assert "domain.approved, domain.kept, url.erased" in (await admin.get("/webhooks")).said


async def test_deliveries_are_told_with_their_errors_and_sent_again(
    admin: Visitor, opened: Settings, receiver: Receiver, database: Database
) -> None:
    path, _ = await _add(admin, receiver.url, "page.flagged")
    receiver.answers = [500]
    async with working(opened, database):
        await happen(database, "page.flagged")
        await settled(database, done=1)
    page = await admin.get(path)
    assert "It returned 500." in page.said
    assert "2 of 12" in page.said
    assert "delivered" in page.said
    job = await database.fetchval("SELECT id FROM messor.jobs")
    sent = await admin.send(path, path, {"act": "redeliver", "delivery": str(job)})
    assert sent.status == 303
    async with working(opened, database):
        await settled(database, done=2)
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1


async def test_paused_resumed_tried_and_deleted(
    admin: Visitor, opened: Settings, receiver: Receiver, database: Database
) -> None:
    path, _ = await _add(admin, receiver.url, "tasks.stopped")
    assert (await admin.send(path, path, {"act": "pause"})).status == 303
    tried = await admin.send(path, path, {"act": "try"})
    assert tried.status == 422
    assert "activate it" in tried.said
    await admin.send(path, path, {"act": "resume"})
    await admin.send(path, path, {"act": "try"})
    async with working(opened, database):
        await settled(database, done=1)
    assert receiver.types == ["webhook.ping"]
    gone = await admin.send(path, path, {"act": "delete"})
    assert gone.place == "/webhooks"
    assert (await admin.get(path)).status == 404
    assert "No webhooks" in (await admin.get("/webhooks")).said


async def test_nonsense_is_a_sentence(admin: Visitor, receiver: Receiver) -> None:
    path, _ = await _add(admin, receiver.url)
    for form in ({"act": "explode"}, {"act": "redeliver"}):
        assert (await admin.send(path, path, form)).status == 422
    for delivery in ("x", "00000000-0000-0000-0000-000000000001"):
        answer = await admin.send(path, path, {"act": "redeliver", "delivery": delivery})
        assert answer.status == 404
    assert (await admin.get("/webhooks/nope")).status == 404
    assert (await admin.get(f"{path}?before=2020_x")).status == 200


@ways("wide-scripts", "narrow-plain")
async def test_in_a_browser(
    size: ViewportSize,
    scripts: bool,
    chromium: Browser,
    serve: Serve,
    opened: Settings,
    receiver: Receiver,
    database: Database,
    joined: Joined,
) -> None:
    await joined(Role.ADMIN)
    console = await serve(opened)
    context = await chromium.new_context(viewport=size, java_script_enabled=scripts)
    page = await context.new_page()
    await log_in(page, console, Role.ADMIN)
    await page.goto(f"{console}/webhooks")
    await page.get_by_label("URL").fill(receiver.url)
    await page.get_by_label("domain.approved").check()
    await page.get_by_role("button", name="Add").click()
    await expect(page.locator(".once")).to_contain_text("whsec_")
    await page.get_by_role("button", name="Send test event").click()
    await expect(page.get_by_text("A test event of type webhook.ping was queued")).to_be_visible()
    async with working(opened, database):
        await settled(database, done=1)
    await page.reload()
    await expect(page.get_by_role("link", name="webhook.ping")).to_be_visible()
    await expect(page.locator(".once")).to_have_count(0)
    await page.get_by_role("button", name="Resend webhook.ping").click()
    await expect(page.get_by_text("The delivery was queued again")).to_be_visible()
    await page.get_by_role("button", name="Pause").click()
    await expect(page.get_by_role("button", name="Resume")).to_be_visible()
    await page.get_by_role("button", name="Delete this webhook").click()
    await expect(page.get_by_text("No webhooks")).to_be_visible()
    await context.close()
