"""Firecrawl's API over a made web, with a worker and a keeper at work."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from messor.access import key_policies, keys
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role, key_acts_of
from messor.api.app import make_api
from messor.api.firecrawl.app import make_firecrawl
from messor.insight.search_index import catch_up, index_waiting
from messor.scrape.services import ScrapeServices
from messor.settings import Settings
from messor.store.database import Database
from simweb.answers import SimResponse, plain, redirect
from simweb.documents import HTML
from tests.api.conftest import PLENTY, member_of
from tests.crawling import at_work
from tests.listening import listen
from tests.little_web import LittleWeb, Room, page, robots

TEXT = "It tells at length what there is to know of it, so that nobody has to ask again. " * 6


def article(title: str, body: str = TEXT, *links: str) -> SimResponse:
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    html = (
        f'<html lang="en"><head><title>{title}</title><meta name="description" content="About {title}">'
        f"</head><body><nav><a href='/'>Home of the navigation</a></nav><main><article><h1>{title}</h1>"
        f"<p>{body}</p><img src='/picture.png' alt='A picture'><ul>{anchors}</ul></article></main>"
        "<footer>All rights of the footer</footer></body></html>"
    )
    return SimResponse(200, (("Content-Type", HTML),), html.encode())


def rooms() -> dict[str, Room]:
    return {
        "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
        "/": article("Home", TEXT, "/a", "/b", "/docs/one", "/private/x", "/gone"),
        "/a": article("Page A", TEXT, "/b", "/c?x=1"),
        "/b": article("Page B"),
        "/c": article("Page C"),
        "/docs/one": article("Docs one", TEXT, "/docs/two", "/a"),
        "/docs/two": article("Docs two"),
        "/old": redirect("/a", 301),
        "/private/x": article("Private"),
        "/wall": plain(403, "No."),
        "/plain": page("Small"),
    }


@dataclass
class Door:
    """The API on a real socket, and who may ask it."""

    url: str
    web: LittleWeb
    database: Database
    services: ScrapeServices
    key: str  # approves one.test on first use
    plain_key: str  # of a submitter, without a policy
    client: httpx.AsyncClient
    settings: Settings

    async def post(self, path: str, key: str | None = None, **body: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return await self.client.post(path, json=body, headers=headers)

    async def get(self, path: str, key: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return await self.client.get(path, headers=headers)


async def index(database: Database) -> None:
    """What is archived so far can be searched."""
    async with database.transaction() as connection:
        await catch_up(connection)
        await index_waiting(connection)


async def key_with_policy(
    database: Database, domains: list[str], role: Role = Role.REVIEWER, **policy: int
) -> str:
    member = await member_of(database, role)
    async with database.transaction() as connection:
        key, secret = await keys.create(
            connection, member, name="agent", scopes=key_acts_of(role), by=LOCAL_ADMIN
        )
        if domains:
            await key_policies.give(connection, key, domains=domains, by=LOCAL_ADMIN, **policy)
    return secret.reveal()


@contextlib.asynccontextmanager
async def opened(
    database: Database,
    folder: Path,
    hosts: Mapping[str, Mapping[str, Room]],
    *,
    keeps: bool = True,
    told: str | None = None,
    tls: bool = False,
    **settings: Any,
) -> AsyncIterator[Door]:
    """Served on a socket, with a worker and a keeper."""
    async with LittleWeb(folder, hosts, tls=tls) as web:
        if told is not None:  # a receiver of webhooks
            allowed = web.settings().allowed_networks
            ports = [*allowed.ports, int(told.split(":")[2].split("/")[0])]
            settings["allowed_networks"] = allowed.model_copy(update={"ports": ports})
        # Quick, and as polite as the made web needs.
        made = web.settings(default_delay=0.0, **settings)
        api = make_api(made, database, limits=PLENTY)
        context = api.state.context
        services = ScrapeServices(
            made, database, context.full_text, lambda: bool(context.is_closing)
        )
        app = make_firecrawl(context, services)
        listening = listen()
        config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="websockets-sansio")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        if keeps:
            context.begin(services.keeper.run())
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with at_work(made, database), httpx.AsyncClient(base_url=url, timeout=60) as client:
            yield Door(
                url,
                web,
                database,
                services,
                await key_with_policy(database, ["one.test"]),
                await key_with_policy(database, [], Role.SUBMITTER),
                client,
                made,
            )
            server.should_exit = True
            await context.close()
            await serving


@pytest.fixture
async def door(database: Database, tmp_path: Path) -> AsyncIterator[Door]:
    async with opened(database, tmp_path, {"one.test": rooms()}) as made:
        yield made
