"""A tour of the console: something in every list, and an address of every screen, whoever wrote it.

A screen without parts in its path is on the tour by itself. For one with parts `PARTS` says where
they come from; a screen that is missing there fails the tests.
"""

from __future__ import annotations

import re
from urllib.parse import quote

from messor.access import keys, members
from messor.access.principal import LOCAL_ADMIN, Principal
from messor.access.roles import Act, Role, acts_of
from messor.access.saved_views import begin_with, save
from messor.console.app import SCREENS
from messor.console.screens import Screen
from messor.console.views import public_request
from messor.entities.follow import follow
from messor.exports.requests import NewExport, begin
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import seal_for
from messor.ops.webhooks import dispatch, registry
from messor.registry.preflights import PreflightReport
from messor.rights import permissions
from messor.rights.permissions import NewPermission
from messor.rights.uses import ApprovedUse
from messor.settings import Settings
from messor.store.database import Database
from messor.watches import watches
from messor.watches.watches import NewWatch
from tests.console import found, seeding
from tests.console.test_xss_running import _orbit, _people, _work
from tests.harvested import add_trial, stock_shop

GETS = [screen for screen in SCREENS + public_request.SCREENS if screen.method == "GET"]
LONG = [f"https://shop.example/about/number-{number}" for number in range(12)]

# Where the parts of a path come from, each named by the path up to it.
PARTS = {
    "/link/{token}": "SELECT 'x'",
    "/ask/status/{token}": "SELECT token FROM messor.domain_submissions WHERE token IS NOT NULL LIMIT 1",
    "/review/{name}": "SELECT 'foodbank.org'",
    "/domains/{name}": "SELECT 'kettles.example'",
    "/pages/{page_id}": "SELECT max(page_id) FROM messor.page_snapshots",
    "/pages/{page_id}/snapshots/{snapshot_id}": "SELECT max(id) FROM messor.page_snapshots WHERE page_id = (SELECT max(page_id) FROM messor.page_snapshots)",
    "/records/{record_id}": "SELECT min(record_id) FROM messor.products",
    "/products/{product_id}": "SELECT min(id) FROM messor.products",
    "/parsers/trials/{trial_id}": "SELECT id FROM messor.parser_trials LIMIT 1",
    "/parsers/repairs/{name}": "SELECT 'kettles.example'",
    "/orbit/{slug}": "SELECT slug FROM messor.orbits LIMIT 1",
    "/orbit/{slug}/import/progress/{trace_id}": "SELECT trace_id FROM messor.ingestion_runs LIMIT 1",
    "/orbit/runs/{trace_id}": "SELECT trace_id FROM messor.ingestion_runs LIMIT 1",
    "/verticals/{name}": "SELECT name FROM messor.verticals LIMIT 1",
    "/keywords/{keyword_id}": "SELECT keyword_id FROM messor.serp_snapshots LIMIT 1",
    "/serps/domains/{name}": "SELECT 'glow-clinic.test'",
    "/serps/{snapshot_id}": "SELECT snapshot_id FROM messor.serp_results LIMIT 1",
    "/discovery/{session_id}": "SELECT session_id FROM messor.candidates LIMIT 1",
    "/candidates/{candidate_id}": "SELECT id FROM messor.candidates LIMIT 1",
    "/scores/{subject_id}": "SELECT subject_id FROM messor.scores LIMIT 1",
    "/batches/{batch_id}": "SELECT id FROM messor.task_batches LIMIT 1",
    "/jobs/{job_id}": "SELECT id FROM messor.jobs WHERE state = 'dead' LIMIT 1",
    "/entities/{entity_id}": "SELECT min(id) FROM messor.entities WHERE state = 'current'",
    "/exports/{export_id}": "SELECT id FROM messor.exports LIMIT 1",
    "/webhooks/{webhook_id}": "SELECT id FROM messor.webhooks LIMIT 1",
    "/analytics/{question}": "SELECT 'price-trends'",
    "/api-reference/{operation}": "SELECT 'add_watch'",
    "/account/keys/{key_id}": "SELECT id FROM messor.api_keys LIMIT 1",
    "/rights/permissions/{permission_id}": "SELECT id FROM messor.use_permissions LIMIT 1",
    "/bot/requests/{token}": "SELECT 'x'",
    "/rights/prices/{name}": "SELECT 'kettles.example'",
    "/watches/{watch_id}": "SELECT id FROM messor.watches LIMIT 1",
}  # fmt: skip
HELD = """
INSERT INTO messor.use_refusals (domain_id, purpose, use, reason, place, text, items)
VALUES ($1, 'export', 'ai-train', 'refused', 'robots.txt, line 3', $2, 12)
"""
STREAMS = {"/live"}  # without an end, and without markup
FILES = {
    "/verticals/{name}/file",
    "/exports/{export_id}/file",
    "/rights/permissions/{permission_id}/document",
}  # saved by the browser, not shown
# Screens that may lead elsewhere or refuse: a part of a page by itself, an old address, a used
# link, a file that is not made yet.
ELSEWHERE = {
    "/review/{name}", "/domains/{name}/decide", "/orbit/runs/{trace_id}", "/link/{token}",
    "/orbit/{slug}/import/progress/{trace_id}", "/candidates/{candidate_id}", "/login",
    "/pages/{page_id:int}/difference", "/tasks", "/login/oidc", "/login/oidc/callback",
    "/exports/{export_id}/file",
}  # fmt: skip
# The same screens as people come to them.
VARIANTS = [
    "/review?at=looked-at.org", "/review?q=nothing-like-it", "/domains?view=approved&q=a",
    "/domains?q=nothing-like-it", "/domains/foodbank.org", "/domains/shop.example",
    "/domains/kettles.example/pages?as=tree", "/why?url=kettles.example/kettle", "/nothing",
    "/search?q=copper", "/jobs/dead?type=x", "/orbit/new/import?address=https://new.example",
    "/orbit/shop-example/import", "/tasks?status=failed", "/tasks?domain=shop.example",
    "/audit?q=domain", "/submit?address=foodbank.org/x", "/views",
]  # fmt: skip


async def furnish(database: Database, admin: Principal, settings: Settings) -> list[str]:
    """Something in every list; answers addresses that others' furniture is seen at."""
    await seeding.ask_for(database, "foodbank.org", "help")
    await seeding.ask_for(database, "foodbanks.org")
    looked = await seeding.ask_for(database, "looked-at.org", "help")
    look = PreflightReport(
        url="https://looked-at.org/", reachable=True, message="It answers.", robots="rules",
        robots_allows=True, title="A title", challenge="cloudflare", login=True, signals=["403"],
        sitemap="https://looked-at.org/sitemap.xml", sitemap_urls=3,
    )  # fmt: skip
    await seeding.add_report(database, looked, look)
    paths = [*await _orbit(database, LONG), *await _work(database, LONG)]
    paths += await _people(database, LONG)
    await stock_shop(database, "kettles.example")
    await follow(database)
    await add_trial(database)
    paths += (await found.seed(database)).paths
    await _tell_and_save(database, admin, settings)
    return paths


async def _tell_and_save(database: Database, admin: Principal, settings: Settings) -> None:
    async with database.transaction() as connection:
        hook, _ = await registry.add(
            connection, seal_for(settings), AddressGuard(settings.allowed_networks),
            url="https://example.org/hook", types=["domain.approved"], may_audit=True, actor=admin.actor,
        )  # fmt: skip
        await dispatch.ping(connection, hook, actor=admin.actor)
        asked = NewWatch(LONG[0][:200], "products", {"when": "changed"}, {"q": LONG[0][:500]})
        await watches.add(connection, asked, actor=admin.actor)
        wanted = NewExport("products", "csv", {"q": LONG[0]})
        await begin(connection, wanted, actor=admin.actor)
        domain_id = await connection.fetchval(
            "SELECT id FROM messor.domains WHERE domain = 'kettles.example'"
        )
        await permissions.grant(
            connection,
            domain_id,
            NewPermission(ApprovedUse.AI_TRAIN, "contract", LONG[0], LONG[1], b"a letter"),
            actor=admin.actor,
        )
        await connection.execute(HELD, domain_id, LONG[2])
        owner = await members.get(
            connection, await connection.fetchval("SELECT id FROM messor.members LIMIT 1")
        )
        await keys.create(
            connection,
            owner,
            name=LONG[3][:100],
            scopes=[Act.READ],
            by=LOCAL_ADMIN,
            uses=["ai-input"],
        )
        for name in ("domains", "review", "tasks"):
            for shared in (True, False):
                await save(
                    connection, admin, name, f"mine {shared}", {"q": "food"}, is_shared=shared
                )
        view = await save(connection, admin, "tasks", "failed ones", {"status": "failed"})
        await begin_with(connection, admin, view)


def as_admin(member_id: object) -> Principal:
    return Principal(member_id, "The admin", Role.ADMIN, acts_of(Role.ADMIN))  # type: ignore[arg-type]


async def address(database: Database, screen: Screen) -> str:
    """Where a screen can be seen."""
    path = re.sub(r":\w+\}", "}", screen.path)
    values: dict[str, str] = {}
    for part in re.finditer(r"\{(\w+)\}", path):
        key = path[: part.end()]
        assert key in PARTS, f"Say in PARTS of tests/console/touring.py where {key} comes from."
        value = await database.fetchval(PARTS[key])
        assert value is not None, f"There is nothing to be seen at {key}: furnish it."
        values[part[1]] = quote(str(value), safe="")
    return path.format(**values)


async def whole_tour(database: Database) -> dict[str, str]:
    """Addresses of all screens, by their paths; furnish first."""
    return {
        screen.path: await address(database, screen)
        for screen in GETS
        if screen.path not in STREAMS
    }


async def shown_tour(database: Database) -> list[str]:
    """Addresses of all that a browser shows, some screens in more than one state."""
    tour = await whole_tour(database)
    return [*(place for path, place in tour.items() if path not in FILES), *VARIANTS]
