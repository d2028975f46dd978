"""The pages that `bench.console` asks for: every list with its filters, at its start and far in.

What a deep place is called depends on what was seeded, so it is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from messor.frontier.page_queries import PAGES, PageFilter
from messor.frontier.scans import place_of
from messor.frontier.task_queries import TASKS, TaskFilter
from messor.jobs.dead_letter_queries import DEAD_LETTERS, DeadLetterFilter
from messor.jobs.queries import JOBS, JobFilter
from messor.ledger.queries import EVENTS, EventFilter
from messor.registry.queries import DOMAINS, DomainFilter
from messor.registry.review_queries import WAITING, WaitingFilter
from messor.store.database import Database
from messor.store.listing import Filters, Listing, Position

PLACES = """
SELECT (SELECT max(id) FROM messor.pages) AS pages,
       (SELECT id::text FROM messor.jobs
         ORDER BY id OFFSET (SELECT count(*) / 3 FROM messor.jobs) LIMIT 1) AS job,
       (SELECT ARRAY[finished_at::text, id::text] FROM messor.jobs WHERE state = 'dead'
         ORDER BY finished_at DESC, id OFFSET 100 LIMIT 1) AS died,
       (SELECT ARRAY[created_at::text, id::text] FROM messor.domains
         WHERE status = 'pending_review' ORDER BY created_at DESC, id OFFSET 20 LIMIT 1) AS waiting,
       (SELECT ARRAY[domain, id::text] FROM messor.domains ORDER BY domain OFFSET 7500 LIMIT 1) AS domain,
       (SELECT ARRAY[tx::text, id::text] FROM messor.events
         ORDER BY tx, id OFFSET (SELECT count(*) / 3 FROM messor.events) LIMIT 1) AS event,
       (SELECT id::text FROM messor.task_batches ORDER BY id DESC LIMIT 1) AS batch,
       (SELECT id FROM messor.pages p WHERE depth > 2 ORDER BY id LIMIT 1) AS page,
       (SELECT id::text FROM messor.jobs WHERE state = 'dead' LIMIT 1) AS dead,
       to_char(messor.clock() - interval '30 days', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"') AS month_ago
"""
LARGEST, LARGE, SMALL = "d00001.example", "d00002.example", "d00400.example"


@dataclass(frozen=True)
class Asked:
    """A page, and what the table calls it."""

    name: str
    path: str


FLOOR = Asked("floor: a form that is empty", "/submit")


def at(path: str, **query: Any) -> Asked:
    given = {name: value for name, value in query.items() if value is not None}
    shown = {name: "…" if name == "cursor" else value for name, value in given.items()}
    name = path + (
        "?" + "&".join(f"{key}={value}" for key, value in shown.items()) if shown else ""
    )
    return Asked(name.replace("/api/v1", "API "), path + (f"?{urlencode(given)}" if given else ""))


async def asked_pages(dsn: str) -> list[Asked]:
    async with Database(dsn) as database:
        places = await database.fetchrow(PLACES)
    assert places is not None
    deep = dict(places)
    return [FLOOR, *_console(deep), *_domain(deep), *_api(deep)]


def _console(deep: dict[str, Any]) -> list[Asked]:
    half = deep["pages"] // 2
    return [
        at("/"),
        at("/domains"),
        *(at("/domains", view=view) for view in ("approved", "pending", "failing", "unvisited")),
        *(at("/domains", sort=order) for order in ("-created_at", "-last_scraped_at", "-pages_known")),
        at("/domains", cursor=_at(DOMAINS, deep["domain"], DomainFilter())),
        at("/domains", q="77", sort="-last_scraped_at"),
        at("/domains", submitter_type="system", trusted="true"),
        at("/review"),
        at("/review", q="9"),
        at("/review", submitter_type="public_user"),
        at("/review", cursor=_at(WAITING, deep["waiting"], WaitingFilter())),
        at("/tasks", all=1),
        at("/tasks", all=1, cursor=TASKS.cursor_at(place_of(half), TaskFilter())),
        *(at("/tasks", status=name) for name in ("queued", "crawling", "failed", "paused", "cancelled", "pending", "completed")),
        at("/tasks", status="crawling", cursor=TASKS.cursor_at(place_of(half), TaskFilter(status="crawling"))),
        at("/tasks", domain=LARGEST),
        at("/tasks", domain=LARGEST, status="failed"),
        at("/tasks", domain=LARGEST, status="crawling"),
        at("/tasks", domain=SMALL, status="queued"),
        at("/tasks", batch=deep["batch"]),
        at("/tasks", batch=deep["batch"], status="cancelled"),
        at("/batches"),
        at(f"/batches/{deep['batch']}"),
        at("/jobs"),
        at("/jobs", cursor=_at(JOBS, [deep["job"]] * 2, JobFilter())),
        *(at("/jobs", state=state) for state in ("queued", "running", "dead", "cancelled")),
        at("/jobs", job_type="type-3", state="running"),
        at("/jobs/dead"),
        at("/jobs/dead", category="parse"),
        at("/jobs/dead", cursor=_at(DEAD_LETTERS, deep["died"], DeadLetterFilter())),
        at(f"/jobs/{deep['dead']}"),
        at("/schedule"),
        at("/audit"),
        at("/audit", cursor=_at(EVENTS, deep["event"], EventFilter(with_audit=True))),
        at("/audit", kind="domain"),
        at("/audit", kind="webhook"),
        at("/audit", actor="member:7"),
        at("/audit", domain=SMALL),
        at("/audit", q="nothing like it"),
        at("/admin/orbits/health"),
        at("/orbit"),
        at("/members"),
        at("/proxies"),
    ]  # fmt: skip


def _domain(deep: dict[str, Any]) -> list[Asked]:
    pages = []
    for name in (LARGEST, LARGE, SMALL):
        base = f"/domains/{name}"
        pages += [
            at(base),
            at(f"{base}/pages"),
            at(f"{base}/pages", cursor=_half(name, deep["pages"])),
            at(f"{base}/pages", outcome="blocked"),
            at(f"{base}/pages", outcome="nothing"),
            at(f"{base}/pages", q="part-6"),
            at(f"{base}/pages", q="nowhere"),
            at(f"{base}/pages", **{"as": "tree"}),
            at(f"{base}/courtesy"),
            at(f"{base}/fetches"),
            at(f"{base}/fetches", outcome="blocked"),
            at(f"{base}/fetches", outcome="nothing"),
            at(f"{base}/fetches", until=deep["month_ago"]),
            at(f"{base}/settings"),
        ]
    page = f"/pages/{deep['page']}"
    return [*pages, at(page), at(f"{page}/snapshots/{deep['page']}"), at(f"{page}/why")]


def _api(deep: dict[str, Any]) -> list[Asked]:
    half, base = deep["pages"] // 2, "/api/v1"
    return [
        at(f"{base}/domains"),
        at(f"{base}/domains", sort="-pages_known", limit=200),
        at(f"{base}/domains", sort="reviewed_at", status="suspended"),
        at(f"{base}/domains", q="99", sort="domain"),
        at(f"{base}/review"),
        at(f"{base}/tasks"),
        at(f"{base}/tasks", cursor=TASKS.cursor_at(place_of(half), TaskFilter())),
        *(at(f"{base}/tasks", status=name) for name in ("queued", "crawling", "failed", "paused", "cancelled")),
        at(f"{base}/tasks", domain=LARGEST, status="crawling"),
        at(f"{base}/pages"),
        at(f"{base}/pages", cursor=PAGES.cursor_at(place_of(half), PageFilter())),
        at(f"{base}/pages", outcome="blocked"),
        at(f"{base}/pages", outcome="nothing"),
        at(f"{base}/pages", category="products", kind="page"),
        at(f"{base}/pages", kind="render"),
        at(f"{base}/pages", q="nowhere"),
        at(f"{base}/pages", domain=LARGEST, q="nowhere"),
        at(f"{base}/pages", domain=LARGEST, outcome="blocked"),
        at(f"{base}/fetches", domain=LARGEST),
        at(f"{base}/fetches", domain=LARGEST, outcome="nothing"),
        at(f"{base}/fetches", domain=SMALL),
        at(f"{base}/fetches", page_id=deep["page"]),
        at(f"{base}/events", sort="committed"),
        at(f"{base}/events", sort="-committed"),
        at(f"{base}/events", sort="-committed", type="webhook.created"),
        at(f"{base}/events", domain=SMALL),
        at(f"{base}/events", domain=SMALL, sort="-committed"),
        at(f"{base}/events", page_id=deep["page"]),
        at(f"{base}/events", cursor=_at(EVENTS, deep["event"], EventFilter(with_audit=True))),
        at(f"{base}/jobs"),
        at(f"{base}/jobs", state="running"),
        at(f"{base}/jobs", cursor=_at(JOBS, [deep["job"]] * 2, JobFilter())),
        at(f"{base}/jobs/stats"),
        at(f"{base}/dead-letters"),
        at(f"{base}/batches"),
        at(f"{base}/health"),
    ]  # fmt: skip


def _half(name: str, pages: int) -> str:
    """The cursor in the middle of a domain's pages."""
    return PAGES.cursor_at(place_of(pages // 2), PageFilter(domain=name))


def _at(listing: Listing[Any, Any], place: list[str] | None, filters: Filters) -> str | None:
    """The cursor at a place, in the list's usual order; None where too little was seeded."""
    return None if place is None else listing.cursor_at(Position(*place), filters)
