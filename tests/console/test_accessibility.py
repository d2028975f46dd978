"""axe-core finds nothing serious on any screen, in both themes and on a small screen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, BrowserContext, Page, ViewportSize

from messor.access.members import Member
from messor.access.roles import Role
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Serve
from tests.console.test_browser import NARROW, WIDE, log_in
from tests.console.touring import as_admin, furnish, shown_tour

# The screens are shared out among tests, which run beside each other.
SHARES = 3
COLOURS = ["color-contrast", "link-in-text-block"]
# What has just changed its theme or size stands still first. Rules that cannot find anything serious
# are not run, nor is anything prepared that only they or the report of a fault would need: that
# halves the time. A rule without an impact of its own takes that of the check that failed.
AXE = """async (rules) => {
  for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
  const slight = axe._audit.rules.filter((rule) => ["minor", "moderate"].includes(rule.impact));
  const how = rules ? {runOnly: {type: "rule", values: rules}}
    : {rules: Object.fromEntries(slight.map((rule) => [rule.id, {enabled: false}]))};
  const results = await axe.run(
    {resultTypes: ["violations"], preload: false, selectors: false, ...how});
  return results.violations
    .filter((fault) => ["serious", "critical"].includes(fault.impact))
    .flatMap((fault) => fault.nodes.slice(0, 3).map((node) => fault.id + ": "
      + node.html.slice(0, 160) + " " + (node.any[0]?.message ?? "").slice(0, 160)));
}"""
# What is shown that was not when this was asked before: each kind once, by names and classes.
SHOWN_ANEW = """() => {
  const kind = (node) => node === document.body ? "" : kind(node.parentElement) + " " + node.tagName
    + "." + (node.getAttribute("class") ?? "") + (node.getAttribute("aria-current") ?? "");
  const shown = [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility());
  const before = window.shownBefore ?? new Set(shown);
  window.shownBefore = new Set(shown);
  return [...new Set(shown.filter((one) => !before.has(one)).map(kind))];
}"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Examiner:
    """Looks at what a page shows, which is opened once."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._on_phones: set[str] = set()
        self._on_desks: set[str] = set()

    async def faults(self, rules: list[str] | None = None) -> list[str]:
        found: list[str] = await self._page.evaluate(AXE, rules)
        if await self._page.evaluate(TOO_WIDE) > 0:
            found.append("wider than the screen")
        return found

    async def every_look(self) -> list[str]:
        """Everything in the light and on a dark phone.

        A theme changes colours alone. What only one of the two sizes shows is seen in the other
        theme too, unless its like was before: menus and heads of tables come again and again.
        """
        found = await self._in("light", WIDE)
        await self._page.evaluate(SHOWN_ANEW)
        found += await self._in("dark", NARROW)
        if await self._shows_new(self._on_phones):
            found += await self._in("light", NARROW, COLOURS)
        await self._page.set_viewport_size(WIDE)
        if await self._shows_new(self._on_desks):
            found += await self._in("dark", WIDE, COLOURS)
        return found

    async def _shows_new(self, known: set[str]) -> bool:
        new = set(await self._page.evaluate(SHOWN_ANEW)) - known
        known |= new
        return bool(new)

    async def _in(
        self, scheme: Literal["light", "dark"], size: ViewportSize, rules: list[str] | None = None
    ) -> list[str]:
        await self._page.emulate_media(color_scheme=scheme)
        await self._page.set_viewport_size(size)
        return [f"{scheme} {size['width']}: {fault}" for fault in await self.faults(rules)]


async def examining(context: BrowserContext) -> tuple[Page, Examiner]:
    await context.add_init_script(Axe().axe_script)
    page = await context.new_page()
    return page, Examiner(page)


@pytest.mark.parametrize("share", range(SHARES))
async def test_every_screen_can_be_used_by_everybody(
    share: int,
    chromium: Browser,
    serve: Serve,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
    tmp_path: Path,
) -> None:
    admin = await joined(Role.ADMIN)
    console = await serve(public_submission=True)
    context = await chromium.new_context(color_scheme="light", viewport=WIDE)
    page, examiner = await examining(context)
    found: list[str] = []
    for path in ("/login", "/ask")[share : share + 1]:
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await examiner.every_look()]
    await log_in(page, console, Role.ADMIN)
    more = await furnish(database, as_admin(admin.id), Settings(data_dir=tmp_path))
    places = list(dict.fromkeys([*await shown_tour(database), *more]))
    for path in places[share::SHARES]:
        await page.goto(f"{console}{path}")
        found += [f"{path} {fault}" for fault in await examiner.every_look()]
    assert found == [], "\n".join(found)
    await context.close()


async def test_the_examiner_sees(chromium: Browser, console: str) -> None:
    """What the tests here listen for is found when it is there, in every look that has it."""
    context = await chromium.new_context(color_scheme="light", viewport=WIDE)
    page, examiner = await examining(context)
    await page.goto(f"{console}/login")
    assert await examiner.every_look() == []
    await page.evaluate(
        """() => {
          document.querySelector("main").insertAdjacentHTML("beforeend", "<p id=pale>pale</p>"
            + "<p id=dim>dim</p><p id=phone>phone</p><p id=desk>desk</p><img src=/static/messor.svg>");
          const sheet = new CSSStyleSheet();
          sheet.replaceSync("#pale, #dim, #phone, #desk {background: white; color: black}"
            + "@media (prefers-color-scheme: light) {#pale, #phone {color: #eee}}"
            + "@media (prefers-color-scheme: dark) {#dim, #desk {color: #eee}}"
            + "@media (width < 500px) {#desk {display: none} #pale {width: 900px}}"
            + "@media (width > 500px) {#phone {display: none}}");
          document.adoptedStyleSheets.push(sheet);
        }"""
    )
    found = await examiner.every_look()
    assert {
        (fault.split(":")[0], name)
        for fault in found
        for name in ("pale", "dim", "phone", "desk", "image-alt", "wider")
        if name in fault
    } == {
        ("light 1280", "pale"), ("light 390", "pale"), ("dark 390", "dim"), ("dark 1280", "dim"),
        ("light 390", "phone"), ("dark 1280", "desk"), ("light 1280", "image-alt"),
        ("dark 390", "image-alt"), ("dark 390", "wider"), ("light 390", "wider"),
    }  # fmt: skip
    await context.close()
