"""Every screen is on the tour and opens, whatever words are stored behind it; none of them runs."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest_asyncio
from playwright.async_api import Browser
from yarl import URL

from messor.access.roles import Role
from messor.settings import Settings
from messor.store.database import Database
from tests.console import test_candidates, test_xss, test_xss_reading, test_xss_running
from tests.console.conftest import Enter, Serve, Visitor
from tests.console.poisoning import poison
from tests.console.test_browser import WIDE
from tests.console.test_xss import CANARY, OWN, payloads, visit
from tests.console.touring import ELSEWHERE, as_admin, furnish, shown_tour, whole_tour


@pytest_asyncio.fixture(loop_scope="session")
async def tourist(serve: Serve, enter: Enter, database: Database, tmp_path: Path) -> Visitor:
    visitor = await enter(await serve(public_submission=True), Role.ADMIN)
    assert visitor.member is not None
    await furnish(database, as_admin(visitor.member.id), Settings(data_dir=tmp_path))
    return visitor


async def test_every_screen_opens(tourist: Visitor, database: Database) -> None:
    for path, place in (await whole_tour(database)).items():
        answer = await tourist.get(place)
        assert answer.status < 500, path
        if path not in ELSEWHERE:
            assert answer.status == 200, f"{path} at {place}: {answer.said[-300:]}"


async def shown_to(tourist: Visitor, chromium: Browser, places: list[str]) -> list[str]:
    """What runs, or tries to, while the places are seen in a browser."""
    context = await chromium.new_context(viewport=WIDE)
    told: list[str] = []
    await context.expose_function("__told", lambda what: told.append(str(what)))
    await context.add_init_script(CANARY)
    context.on("dialog", lambda dialog: told.append(f"dialog {dialog.message}"))
    context.on("request", lambda one: told.extend(_away(one.url, tourist.base)))
    cookies = tourist.session.cookie_jar.filter_cookies(URL(tourist.base))
    known = [
        {"name": name, "value": one.value, "url": tourist.base} for name, one in cookies.items()
    ]
    await context.add_cookies(known)  # type: ignore[arg-type]
    await visit(await context.new_page(), tourist.base, places, told)
    await context.close()
    return told


def _away(url: str, console: str) -> list[str]:
    return [] if url.startswith((console, "data:")) else [f"asked {url}"]


async def test_no_stored_word_runs_on_any_screen(
    tourist: Visitor, database: Database, chromium: Browser
) -> None:
    places = await shown_tour(database)
    taken = await poison(database, payloads())
    assert len(taken) > 100, "most columns take any words"
    assert await shown_to(tourist, chromium, places) == []


async def test_no_word_of_an_address_runs(tourist: Visitor, chromium: Browser) -> None:
    """All of the words at once; each by itself is tried by the wide tests."""
    words = "javascript:__ran()//" + " ".join(OWN)
    places = [
        f"{path}{'&' if '?' in path else '?'}{urlencode({name: words})}"
        for reflected in (
            test_xss.REFLECTED,
            test_xss_reading.REFLECTED,
            test_xss_running.REFLECTED,
            test_candidates.REFLECTED,
        )
        for path, name in reflected
    ]
    assert await shown_to(tourist, chromium, places) == []
