"""How fast and how large the browser pool is, beside bare Playwright on the same pages.

Run as `python -m bench.rendering`. The pages are built by a script from data that it fetches. Both contenders open a
fresh context for each page, two at a time, wait until the network is idle and read the document; Messor's also passes
its pinning proxy, judges every answer and counts traffic. Rounds alternate, so both meet the same load; the figure
is the ratio of their pages per second (bar 0.8).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from aiohttp import web
from playwright.async_api import async_playwright

from messor.core import clock
from messor.fetch.browser import BrowserLimits, BrowserProvider, processes, why_unavailable
from messor.fetch.browser.limits import find_chromium
from messor.politeness.lease import WorkerLease
from messor.politeness.pace import Pace, Permit
from messor.settings import AllowedNetworks, Settings

BAR = 0.8
_AT_ONCE = 2
_ROWS = 60
_PAGE = """<!doctype html><title>Page {number}</title><link rel=stylesheet href=/style.css><div id=app></div>
<script>fetch('/data/{number}').then(answer => answer.json()).then(rows => {{ document.getElementById('app').innerHTML =
'<h1>Page {number}</h1>' + rows.map(row => `<p class=row>${{row}}</p>`).join('') }})</script>"""


@dataclass
class Contender:
    """One way to render, with what it took."""

    name: str
    speeds: list[float] = field(default_factory=list)  # pages a second, by round
    memory: int = 0  # bytes of the browser after its last round
    rendered: int = 0  # pages whose text a script had built


async def serve() -> tuple[web.AppRunner, str]:
    """Serve the pages on a loopback port."""
    app = web.Application()
    app.router.add_get("/page/{number}", _page)
    app.router.add_get("/data/{number}", _data)
    app.router.add_get("/style.css", _style)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    return runner, f"http://{host}:{port}"


async def _page(request: web.Request) -> web.Response:
    html = _PAGE.format(number=request.match_info["number"])
    return web.Response(text=html, content_type="text/html")


async def _data(request: web.Request) -> web.Response:
    number = request.match_info["number"]
    return web.json_response([f"Row {row} of page {number}" for row in range(_ROWS)])


async def _style(_: web.Request) -> web.Response:
    return web.Response(text=".row { color: #333; margin: 2px }", content_type="text/css")


Render = Callable[[str], Awaitable[str]]


async def measured(contender: Contender, render: Render, urls: Sequence[str]) -> None:
    """Render all pages, two at a time."""
    waiting = list(urls)

    async def work() -> None:
        while waiting:
            text = await render(waiting.pop())
            contender.rendered += f"Row {_ROWS - 1} of page" in text

    started = time.monotonic()
    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    contender.speeds.append(len(urls) / (time.monotonic() - started))


async def compare(pages: int, rounds: int) -> list[Contender]:
    """Render the same pages in turns; the first round of each warms up and does not count."""
    ours, bare = Contender("messor"), Contender("playwright")
    runner, base = await serve()
    ports = [int(base.rpartition(":")[2])]
    settings = Settings(allowed_networks=AllowedNetworks(addresses=["127.0.0.1/32"], ports=ports))
    provider = BrowserProvider(settings, BrowserLimits(contexts=_AT_ONCE, renders=1_000_000), "1")

    async def by_pool(url: str) -> str:
        permit = Permit(Pace(0.0, 0.0, WorkerLease(1, 600.0, clock.now())))
        return (await provider.fetch(url, permit)).body.decode("utf-8", "replace")

    try:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(None), chromium_sandbox=os.getuid() != 0
            )

            async def by_hand(url: str) -> str:
                context = await browser.new_context()
                page = await context.new_page()
                await page.goto(url, wait_until="networkidle")
                html = await page.content()
                await context.close()
                return html

            for round_ in range(rounds + 1):
                urls = [f"{base}/page/{round_ * pages + number}" for number in range(pages)]
                for contender, render in ((ours, by_pool), (bare, by_hand)):
                    await measured(contender, render, urls)
                    print(
                        f"round {round_}: {contender.name} {contender.speeds[-1]:.1f} pages/s",
                        file=sys.stderr,
                    )
            pool = provider.pool
            ours.memory = pool.chromium.memory() if pool is not None and pool.chromium else 0
            bare.memory = _memory_of_bare(ours, provider)
            await browser.close()
    finally:
        await provider.close()
        await runner.cleanup()
    return [ours, bare]


def _memory_of_bare(ours: Contender, provider: BrowserProvider) -> int:
    """Return the memory of this process's descendants that are not the pool's."""
    tree = processes.tree(os.getpid())
    tree.pop(os.getpid(), None)
    assert provider.pool is not None
    return processes.own_memory(tree) - ours.memory


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=int, default=20, help="pages of a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(arguments)
    if missing := why_unavailable(BrowserLimits()):
        print(missing, file=sys.stderr)
        return 1
    ours, bare = asyncio.run(compare(options.pages, options.rounds))
    ratio = statistics.median(
        one / other for one, other in zip(ours.speeds[1:], bare.speeds[1:], strict=True)
    )
    found = {
        each.name: {
            "pages_per_second": round(statistics.median(each.speeds[1:]), 2),
            "browser_mb": round(each.memory / 1_000_000),
            "rendered": each.rendered,
        }
        for each in (ours, bare)
    }
    if options.json:
        print(json.dumps({**found, "ratio": round(ratio, 3)}))
    else:
        for name, figures in found.items():
            print(name, *(f"{key} {value}" for key, value in figures.items()))
        print(f"ratio {ratio:.3f} (bar {BAR})")
    return 0 if ratio >= BAR and ours.rendered == bare.rendered else 1


if __name__ == "__main__":
    sys.exit(main())
