"""Hostile words planted wherever strangers' words are kept: none of them runs on any page."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from playwright.async_api import Browser, Page

from messor.access.members import Member
from messor.access.roles import Role
from messor.frontier.page_queries import PAGES, PageFilter
from messor.frontier.scans import place_of
from messor.governance import decisions
from messor.registry import notes
from messor.registry.preflights import PreflightReport
from messor.store.database import Database
from tests.conftest import CORPORA
from tests.console import seeding
from tests.console.conftest import Enter
from tests.console.test_browser import WIDE, log_in
from tests.crawling import TESTER, admit, until

FILE = CORPORA / "xss_payloads.json"

# What a payload would call, replaced by something that tells; and its effects on the page.
CANARY = """
for (const name of ["alert", "confirm", "prompt", "print", "open", "__ran"])
  window[name] = () => window.__told(name + " at " + location.href);
document.addEventListener("securitypolicyviolation", (event) =>
  window.__told("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));
"""
OWN = [
    "<script>__ran()</script>",
    '"><img src=x onerror=__ran()>',
    "'><svg onload=__ran()>",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:__ran()",
    "[click](javascript:__ran())",
    "</textarea><script>__ran()</script>",
    "</title><script>__ran()</script>",
    "<iframe srcdoc='<script>parent.__ran()</script>'></iframe>",
    '" autofocus onfocus="__ran()',
    "<a href=//evil.example hx-get=/logout hx-trigger=load>x</a>",
    "data:text/html,<script>__ran()</script>",
]
# Where words of an address are shown again.
REFLECTED = (("/why", "url"), ("/domains", "q"), ("/review", "q"), ("/submit", "address"))


def payloads() -> list[str]:
    if not FILE.exists():
        return OWN
    return OWN + [row["payload"] for row in json.loads(FILE.read_text("utf-8"))]


@dataclass
class Planted:
    """The pages on which the words can be seen."""

    paths: list[str]


async def plant(database: Database, words: list[str]) -> Planted:
    """Each of them in titles, texts, addresses, errors, contexts, reasons, notes and reports."""
    shop = await admit(database, "shop.example")
    paths = ["/", "/domains", "/domains/shop.example", "/domains/shop.example/courtesy"]
    first = None
    for number, payload in enumerate(words):
        clean = payload.replace("\x00", "")
        page = await seeding.add_page(
            database, shop, f"https://shop.example/{number}?{clean}",
            outcome="error", status=500, error=clean,
        )  # fmt: skip
        await seeding.add_snapshot(database, page, clean, clean, timedelta(days=1))
        first = first or page
    assert first is not None
    whole = "\n\n".join(words).replace("\x00", "")
    old = await seeding.add_snapshot(database, first, "all", whole)
    new = await seeding.add_snapshot(
        database,
        first,
        "more",
        "\n\n".join(f"- {one}\n> {one}\n\n| {one} | {one} |" for one in words),
    )
    paths += [
        f"/domains/shop.example/{tab}" for tab in ("fetches", "pages?as=tree&in=shop.example/")
    ]
    paths += [f"/pages/{first + number}" for number in range(0, len(words), 10)]
    paths += [
        f"/pages/{first}/snapshots/{one}{how}" for one in (old, new) for how in ("", "?as=text")
    ]
    paths += [f"/pages/{first}/difference?older={old}&newer={new}", f"/pages/{first}/why"]
    paths += await _all_pages(database, first, len(words))
    await _robots(database, whole)
    paths += await _governance(database, words)
    return Planted(paths)


async def _all_pages(database: Database, first: int, count: int) -> list[str]:
    wanted = PageFilter(domain="shop.example")
    return [
        f"/domains/shop.example/pages?cursor={PAGES.cursor_at(place_of(after), wanted)}"
        for after in range(first - 1, first + count, 50)
    ]


async def _robots(database: Database, text: str) -> None:
    await database.fetch(
        """WITH file AS (INSERT INTO messor.robots_files (host_id, verdict, reason, body, body_hash)
             SELECT id, 'rules', $2, $1, '' FROM messor.hosts LIMIT 1 RETURNING id, host_id)
           UPDATE messor.hosts SET robots_id = file.id FROM file WHERE hosts.id = file.host_id""",
        text.encode(),
        text[:500],
    )


async def _governance(database: Database, words: list[str]) -> list[str]:
    """A handful of words per domain, as a reviewer would meet them."""
    paths = []
    for number in range(0, len(words), 8):
        some = " ".join(words[number : number + 8]).replace("\x00", "")[:1900]
        name = f"plant-{number}.org"
        domain = await seeding.ask_for(database, name, some, actor=some[:80])
        report = PreflightReport(
            url=some, reachable=True, message=some, robots=some, robots_reason=some, title=some,
            description=some, language=some, leads_to=some, leads_out=some, challenge=some,
            signals=[some], sitemap=some, robots_allows=True,
        )  # fmt: skip
        await seeding.add_report(database, domain, report)
        async with database.transaction() as connection:
            await notes.add(connection, domain, some, actor=TESTER)
        paths.append(f"/review?{urlencode({'at': name})}")
        refused = f"refused-{number}.org"
        await seeding.ask_for(database, refused, some)
        async with database.transaction() as connection:
            await decisions.reject(connection, refused, actor=TESTER, reason=some)
        paths.append(f"/domains/{refused}")
    return paths


# Handlers of the mouse and of focus get their chance; what they or the markup made is told.
PROVOKE = """() => {
  const all = () => [...document.querySelectorAll("main *")];
  for (const node of all())
    for (const kind of ["mouseover", "focus", "error", "load", "toggle"])
      node.dispatchEvent(new Event(kind));
  const odd = all().flatMap((node) =>
    [...node.attributes].filter((one) => one.name.startsWith("on")
      || (/^(href|src|action|formaction)$/.test(one.name)
          && /^\\s*(javascript|data|vbscript):/i.test(one.value)))
    .map((one) => node.tagName + " " + one.name + "=" + one.value));
  const strange = [...document.querySelectorAll("main script, main iframe, main object, main embed, "
    + "main img:not([src^='/static/']), main style, main base, main meta, main link, main math, main video")]
    .map((node) => node.outerHTML.slice(0, 200));
  return [...odd, ...strange];
}"""


async def visit(page: Page, console: str, paths: list[str], told: list[str]) -> None:
    for path in paths:
        answer = await page.goto(f"{console}{path}", wait_until="load")
        assert answer is not None
        assert answer.status < 500, path
        assert await page.evaluate(PROVOKE) == [], path
        assert told == [], path


@pytest.mark.wide
async def test_nothing_planted_runs(
    chromium: Browser,
    console: str,
    database: Database,
    joined: Callable[..., Awaitable[Member]],
) -> None:
    await joined(Role.ADMIN)
    words = payloads()
    planted = await plant(database, words)
    reflected = [
        f"{path}?{urlencode({name: word})}"
        for word in [*OWN, *words[len(OWN) :: 7]]
        for path, name in REFLECTED
    ]
    context = await chromium.new_context(viewport=WIDE)
    told: list[str] = []
    away: list[str] = []
    await context.expose_function("__told", lambda what: told.append(str(what)))
    await context.add_init_script(CANARY)
    context.on("dialog", lambda dialog: told.append(f"dialog {dialog.message}"))
    context.on(
        "request",
        lambda one: None if one.url.startswith((console, "data:")) else away.append(one.url),
    )
    page = await context.new_page()
    await log_in(page, console, Role.ADMIN)
    await visit(page, console, planted.paths, told)
    await visit(page, console, reflected, told)
    assert told == []
    assert away == [], "a page asked somebody else for something"
    assert len(planted.paths) > 15  # more where the external cases are there
    await context.close()


async def test_the_canary_sings(chromium: Browser, console: str) -> None:
    """What the test above listens for is heard when something runs, or tries to."""
    context = await chromium.new_context()
    told: list[str] = []
    await context.expose_function("__told", lambda what: told.append(str(what)))
    await context.add_init_script(CANARY)
    page = await context.new_page()
    await page.goto(f"{console}/login")
    await page.evaluate("alert(1)")
    await page.evaluate(
        """() => new Promise((done) => {
             document.addEventListener("securitypolicyviolation", () => setTimeout(done, 50));
             document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=__ran()>"); })"""
    )
    await until(lambda: any(one.startswith("alert at") for one in told))
    await until(lambda: any(one.startswith("policy: script-src") for one in told))
    await page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend",
             "<i onclick=__ran()>x</i><a href='  JavaScript:__ran()'>x</a><video></video>")"""
    )
    found = await page.evaluate(PROVOKE)
    assert found == ["I onclick=__ran()", "A href=  JavaScript:__ran()", "<video></video>"]
    await context.close()


@pytest.mark.parametrize("word", OWN)
async def test_names_of_members_are_escaped(
    word: str, console: str, enter: Enter, database: Database
) -> None:
    visitor = await enter(console, Role.VIEWER)
    await database.fetch("UPDATE messor.members SET name = $1", word[:100])
    page = await visitor.get("/")
    assert page.status == 200
    assert "<script>__ran" not in page.text
    assert "onerror=__ran()>" not in page.text.replace("&gt;", "")
