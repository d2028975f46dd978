"""axe-core finds nothing serious on any screen: in one look each, and widely in all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Browser, BrowserContext, Page

from messor.access.members import Member
from messor.access.roles import Role
from messor.settings import Settings
from messor.store.database import Database
from tests.console.conftest import Serve
from tests.console.test_browser import NARROW, WIDE, log_in
from tests.console.touring import as_admin, furnish, shown_tour

# The screens are shared out among tests, which run beside each other.
# Of the screens; a run looks at one share, a wide run at all.
SHARES = 4
OF_A_RUN = [0, *(pytest.param(share, marks=pytest.mark.wide) for share in range(1, SHARES))]
COLOURS = ["color-contrast", "link-in-text-block"]
# What has just changed its theme or size stands still first. Rules that cannot find anything serious
# are not run, nor is anything prepared that only they or the report of a fault would need: that
# halves the time. A rule without an impact of its own takes that of the check that failed.
AXE = """async ([rules, places]) => {
  const slight = axe._audit.rules.filter((rule) => ["minor", "moderate"].includes(rule.impact));
  const off = [...slight.map((rule) => rule.id), "color-contrast"];
  const how = rules ? {runOnly: {type: "rule", values: rules}}
    : {rules: Object.fromEntries(off.map((id) => [id, {enabled: false}]))};
  const where = places ? places.map((place) => window.looks[place]) : document;
  const results = await axe.run(where,
    {resultTypes: ["violations"], preload: false, selectors: false, ...how});
  return results.violations
    .filter((fault) => ["serious", "critical"].includes(fault.impact))
    .flatMap((fault) => fault.nodes.slice(0, 3).map((node) => fault.id + ": "
      + node.html.slice(0, 160) + " " + (node.any[0]?.message ?? "").slice(0, 160)));
}"""
# Contrast takes four fifths of axe's time, and follows from the colours of a text, its size and
# what lies behind it: each combination of these is judged once, wherever it is seen first.
LOOKS = """() => {
  for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
  const behind = new Map([[document, ""]]);
  const ground = (node) => {
    if (!behind.has(node)) {
      const {backgroundColor, backgroundImage, opacity, filter, mixBlendMode} = getComputedStyle(node);
      behind.set(node, ground(node.parentNode)
        + [backgroundColor, backgroundImage, opacity, filter, mixBlendMode].join(";"));
    }
    return behind.get(node);
  };
  const hasText = (node) => node.placeholder || node.value || [...node.childNodes].some(
    (one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  window.looks = {};
  for (const node of document.querySelectorAll("body *")) {
    if (!hasText(node) || !node.checkVisibility()) continue;
    const {color, fontSize, fontWeight, textShadow, textDecorationLine} = getComputedStyle(node);
    window.looks[[node.tagName, color, fontSize, fontWeight, textShadow, textDecorationLine,
      getComputedStyle(node.parentElement).color, node.matches(":disabled, [aria-disabled=true]"),
      ground(node)].join("|")] ??= node;
  }
  return Object.keys(window.looks);
}"""
Look = Callable[[], Awaitable[list[str]]]
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Examiner:
    """Looks at what a page shows, which is opened once; it begins in the light and wide."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._judged: set[str] = set()
        self._scheme: Literal["light", "dark"] = "light"
        self._seen_scheme: str = self._scheme
        self._size = self._seen_size = WIDE

    async def faults(self) -> list[str]:
        found = await self._contrasts()
        found += await self._page.evaluate(AXE, [None, None])
        return found + await self._width()

    async def every_look(self) -> list[str]:
        """Both sizes in both themes; what is not a matter of colours is examined once in each size.

        It begins with the size and the theme at which the page before was left: a change of either
        costs as much as an examination.
        """
        found = await self._in(self.faults)
        self._scheme = "dark" if self._scheme == "light" else "light"
        found += await self._in(self._contrasts)
        self._size = NARROW if self._size is WIDE else WIDE
        found += await self._in(self.faults)
        self._scheme = "dark" if self._scheme == "light" else "light"
        return found + await self._in(self._contrasts)

    async def turn(self) -> None:
        """To a small screen in the dark."""
        self._scheme, self._size = "dark", NARROW
        await self._in(self._width)

    async def _contrasts(self) -> list[str]:
        """What can be read badly, of all that looks as nothing did before."""
        looks = await self._page.evaluate(LOOKS)
        new = [look for look in looks if look not in self._judged]
        self._judged.update(new)
        return await self._page.evaluate(AXE, [COLOURS, new]) if new else []

    async def _width(self) -> list[str]:
        return ["wider than the screen"] if await self._page.evaluate(TOO_WIDE) > 0 else []

    async def _in(self, look: Look) -> list[str]:
        if self._scheme != self._seen_scheme:
            await self._page.emulate_media(color_scheme=self._scheme)
        if self._size is not self._seen_size:
            await self._page.set_viewport_size(self._size)
        self._seen_scheme, self._seen_size = self._scheme, self._size
        return [f"{self._scheme} {self._size['width']}: {fault}" for fault in await look()]


@dataclass
class Tourist:
    """Somebody who looks at every screen of a console with something on it."""

    page: Page
    examiner: Examiner
    console: str
    outside: list[str]
    inside: list[str]
    log_in: Callable[[], Awaitable[None]]

    async def tour(
        self, share: int, look: Look, halfway: Callable[[], Awaitable[None]] | None = None
    ) -> list[str]:
        """The faults of a share of the screens, those before the login first."""
        found = await self._see(self.outside[share::SHARES], look)
        await self.log_in()
        places = self.inside[share::SHARES]
        middle = len(places) // 2
        found += await self._see(places[:middle], look)
        if halfway is not None:
            await halfway()
        return found + await self._see(places[middle:], look)

    async def _see(self, places: list[str], look: Look) -> list[str]:
        found = []
        for path in places:
            await self.page.goto(f"{self.console}{path}")
            found += [f"{path} {fault}" for fault in await look()]
        return found


@pytest_asyncio.fixture(loop_scope="session")
async def tourist(
    chromium: Browser,
    serve: Serve,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
    tmp_path: Path,
) -> AsyncIterator[Tourist]:
    admin = await joined(Role.ADMIN)
    console = await serve(public_submission=True)
    context = await chromium.new_context(color_scheme="light", viewport=WIDE)
    page, examiner = await examining(context)
    more = await furnish(database, as_admin(admin.id), Settings(data_dir=tmp_path))
    places = list(dict.fromkeys([*await shown_tour(database), *more]))
    yield Tourist(
        page,
        examiner,
        console,
        ["/login", "/ask"],
        places,
        partial(log_in, page, console, Role.ADMIN),
    )
    await context.close()


async def examining(context: BrowserContext) -> tuple[Page, Examiner]:
    await context.add_init_script(Axe().axe_script)
    page = await context.new_page()
    return page, Examiner(page)


@pytest.mark.parametrize("share", OF_A_RUN)
async def test_every_screen_can_be_used_by_everybody(share: int, tourist: Tourist) -> None:
    """Each screen in one look: the tour begins light and wide, and ends on a dark phone."""
    found = await tourist.tour(share, tourist.examiner.faults, halfway=tourist.examiner.turn)
    assert found == [], "\n".join(found)


@pytest.mark.wide
@pytest.mark.parametrize("share", range(SHARES))
async def test_every_screen_in_every_look(share: int, tourist: Tourist) -> None:
    found = await tourist.tour(share, tourist.examiner.every_look)
    assert found == [], "\n".join(found)


async def test_the_examiner_sees(chromium: Browser, console: str) -> None:
    """What the tests here listen for is found when it is there, in the first look that has it."""
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
            + "@media (prefers-color-scheme: light) {#pale {color: #eee} #phone {color: #eed}}"
            + "@media (prefers-color-scheme: dark) {#dim {color: #eee} #desk {color: #eed}}"
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
        ("light 390", "pale"), ("light 390", "phone"), ("light 390", "image-alt"),
        ("light 390", "wider"), ("dark 390", "dim"), ("dark 1280", "desk"),
        ("dark 1280", "image-alt"),
    }  # fmt: skip
    await context.close()
