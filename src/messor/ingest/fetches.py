"""Fetches: requests the plan's pages in waves and waits for them.

A page may redirect, and its target counts too. So a wave is at most half of what the mode still
allows: every requested page can be followed to its content.
"""

from __future__ import annotations

from messor.ingest.run import IngestionRun, PlannedPage

LONGEST_SECONDS = 900.0


async def fetch(run: IngestionRun) -> None:
    """Execute the plan until it is done, the site stops responding, or time is up."""
    await run.set_stage("fetching")
    run.wait_at_most(_patience(run))
    while True:
        await run.poll()
        led = await run.follow()
        wave = next_wave(run)
        await run.request_pages(wave)
        if not run.waiting and not led and not wave:
            break
        if run.remaining <= 0:
            run.out_of_time = True
            break
        await run.pause()
    if run.free <= 0:
        run.drop(run.queue)


def next_wave(run: IngestionRun) -> list[PlannedPage]:
    """The pages to request now."""
    waiting = len(run.waiting)
    size = (run.free - waiting) // 2
    if waiting == 0:
        size = max(size, 1)
    queue = [
        page
        for page in run.queue
        if page.state is None or page.state.host_id not in run.silent_hosts
    ]
    return queue[: max(min(size, run.free), 0)]


def _patience(run: IngestionRun) -> float:
    """Three times the plan's duration at the pace of the slowest lane, plus a minute."""
    delays = [page.state.delay for page in run.pages.values() if page.state]
    delay = max([run.checked.terms.delay, *delays])
    return min(len(run.queue) * delay * 3 + 60.0, LONGEST_SECONDS)
