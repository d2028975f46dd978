"""A console on a real port, people of each role who are logged in, and a real Chromium."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from html import unescape
from pathlib import Path
from shutil import which
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect
from starlette.applications import Starlette

from messor.access import members, sessions
from messor.access.members import Member
from messor.access.origin import Origin
from messor.access.passwords import Passwords
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.access.sessions import Lifetimes
from messor.api.app import make_api
from messor.console import jinja
from messor.console.app import make_console
from messor.settings import Settings
from messor.store.database import Database
from tests.console import seeding
from tests.console.prompt_server import PromptServer
from tests.crawling import admit
from tests.listening import listen

HERE = Path(__file__).parent
CHROMIUM = which("chromium-headless-shell") or "/usr/bin/chromium"
PASSWORD = "correct horse battery"
expect.set_options(timeout=60_000)  # how long a page takes is the machine's affair
HIDDEN_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')


@dataclass
class Answer:
    """What came back, read to its end."""

    status: int
    headers: Any
    text: str

    @property
    def place(self) -> str:
        return str(self.headers.get("Location", ""))

    @property
    def said(self) -> str:
        """The text without markup, every run of white space as one space."""
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", self.text)).split())


@dataclass
class Visitor:
    """A browser without a window: keeps cookies, follows nothing by itself."""

    base: str
    session: aiohttp.ClientSession
    member: Member | None = None
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self._ask("GET", path, headers=headers)

    async def post(self, path: str, form: Any = (), *, csrf: str | None = None) -> Answer:
        fields = list(form.items() if isinstance(form, dict) else form)
        if csrf is not None:
            fields.append(("csrf", csrf))
        return await self._ask("POST", path, data=aiohttp.FormData(fields))

    async def send(self, page: str, path: str, form: Any = ()) -> Answer:
        """Load a page, and send a form with its token."""
        return await self.post(path, form, csrf=await self.token(page))

    async def token(self, page: str = "/") -> str:
        found = HIDDEN_TOKEN.search((await self.get(page)).text)
        assert found, f"{page} has no form"
        return unescape(found[1])

    async def _ask(self, method: str, path: str, **given: Any) -> Answer:
        url = f"{self.base}{path}"
        async with self.session.request(method, url, allow_redirects=False, **given) as response:
            text = (await response.read()).decode("utf-8", "replace")
            return Answer(response.status, response.headers.copy(), text)


Enter = Callable[..., Awaitable[Visitor]]
Serve = Callable[..., Awaitable[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of a process run in one loop here: to it the browser belongs that they share."""
    for item in items:
        if HERE in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(loop_scope="session")
async def database(dsn: str) -> AsyncIterator[Database]:
    async with Database(dsn) as opened:
        yield opened


@pytest.fixture(scope="session", autouse=True)
def templates_are_compiled_once() -> Iterator[None]:
    """Every console has the same ones, and tests start one each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jinja, "environment", cache(jinja.environment))
        yield


@cache
def api_document() -> dict[str, Any]:
    return make_api(Settings(), Database("postgresql://nowhere")).openapi()


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """Real Argon2id at the least cost it has."""
    cheap = Passwords(memory_kib=8, passes=1)
    yield cheap
    cheap.close()


@pytest_asyncio.fixture(loop_scope="session")
async def serve(database: Database, passwords: Passwords, tmp_path: Path) -> AsyncIterator[Serve]:
    """Starts a console; answers where it is."""
    running: list[PromptServer] = []
    apps: list[Starlette] = []

    async def start(settings: Settings | None = None, **options: Any) -> str:
        options.setdefault("api_document", api_document)
        app = make_console(settings or Settings(data_dir=tmp_path), database, passwords, **options)
        apps.append(app)
        sock = listen()
        running.append(PromptServer(app))
        await running[-1].open(sock)
        return f"http://127.0.0.1:{sock.getsockname()[1]}"

    yield start
    for server in running:
        await server.close()
    for app in apps:
        await app.state.full_text.close()


@pytest_asyncio.fixture(loop_scope="session")
async def console(serve: Serve) -> str:
    return await serve()


@pytest.fixture
def joined(database: Database, passwords: Passwords) -> Callable[..., Awaitable[Member]]:
    async def join(role: Role = Role.REVIEWER, email: str | None = None) -> Member:
        email = email or f"{role}@example.org"
        hashed = await passwords.hash(PASSWORD, email=email, name=f"The {role}")
        async with database.transaction() as connection:
            return await members.create(
                connection,
                email=email,
                name=f"The {role}",
                role=role,
                password=hashed,
                by=LOCAL_ADMIN,
            )

    return join


@pytest_asyncio.fixture(loop_scope="session")
async def enter(
    database: Database, joined: Callable[..., Awaitable[Member]]
) -> AsyncIterator[Enter]:
    """Comes to a console as somebody of a role, or as nobody."""
    opened: list[aiohttp.ClientSession] = []

    async def come(base: str, role: Role | None = None) -> Visitor:
        session = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        opened.append(session)
        visitor = Visitor(base, session)
        if role is not None:
            visitor.member = await joined(role)
            async with database.transaction() as connection:
                login = await sessions.open_session(
                    connection,
                    visitor.member,
                    opened_by="password",
                    origin=Origin("127.0.0.1"),
                    lifetimes=Lifetimes(),
                )
            session.cookie_jar.update_cookies({"messor_session": login.token.reveal()})
        return visitor

    yield come
    for session in opened:
        await session.close()


@pytest_asyncio.fixture(loop_scope="session")
async def reviewer(console: str, enter: Enter) -> Visitor:
    return await enter(console, Role.REVIEWER)


@pytest_asyncio.fixture(loop_scope="session")
async def admin(console: str, enter: Enter) -> Visitor:
    return await enter(console, Role.ADMIN)


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def one_chromium() -> AsyncIterator[Browser]:
    """The installed Chromium; it reaches loopback and nothing else.

    Its shell without windows, where that is installed: a page costs it two thirds of the CPU.
    """
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=CHROMIUM,
            chromium_sandbox=os.getuid() != 0,
            timeout=180_000,
            args=["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
        )
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def chromium(one_chromium: Browser) -> AsyncIterator[Browser]:
    """A browser without contexts: cookies, storage and caches are theirs, and end with the test."""
    assert one_chromium.contexts == []
    yield one_chromium
    for context in one_chromium.contexts:
        await context.close()


@pytest_asyncio.fixture(loop_scope="session")
async def filled(database: Database) -> list[str]:
    """The address of every page, each with something on it."""
    await seeding.ask_for(database, "foodbank.org", "help")
    await seeding.ask_for(database, "foodbanks.org")
    domain = await admit(database, "shop.example", delay=3)
    page = await seeding.add_page(database, domain, "https://shop.example/a")
    old = await seeding.add_snapshot(database, page, "A", "one", timedelta(days=1))
    new = await seeding.add_snapshot(database, page, "A", "two")
    base = "/domains/shop.example"
    return [
        "/", "/review", "/review?at=foodbank.org", "/submit", "/domains", "/domains?view=approved&q=a",
        base, f"{base}/pages", f"{base}/pages?as=tree", f"{base}/courtesy", f"{base}/fetches",
        f"{base}/settings", f"/pages/{page}", f"/pages/{page}/snapshots/{new}", f"/pages/{page}/why",
        f"/pages/{page}/difference?older={old}&newer={new}", "/why?url=shop.example/b",
    ]  # fmt: skip
