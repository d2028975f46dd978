"""Every list has the same filters, orders and default limit on the command line, in the API and in
the console.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

import messor
from messor.api.app import make_api
from messor.cli.main import cli
from messor.feed.queries import MAX_BATCH
from messor.settings import Settings
from messor.store.database import Database
from messor.store.listing import DEFAULT_LIMIT, MAX_LIMIT, Listing
from messor.verticals import files, verticals
from tests.console.conftest import Visitor
from tests.crawling import admit


class Place(NamedTuple):
    """Where a list is found; None where a list belongs to one interface only."""

    api: str | None
    command: str | None
    console: str | None
    given: tuple[str, ...] = ()  # filters that path or arguments give
    owner: tuple[str, ...] = ()  # those that only the arguments and the console's path give
    more: tuple[str, ...] = ()  # parameters of the API besides
    most: int = MAX_LIMIT  # items of a response


PLACES = {
    "price changes": Place("/products/price-changes", "products changes", "/products/changes"),
    "entities": Place("/entities", "entities list", "/entities"),
    "proposals": Place("/entities/proposals", "entities proposals", "/entities/proposals"),
    "candidates": Place("/candidates", "scout candidates", "/candidates"),
    "discovery sessions": Place("/discovery-sessions", "scout sessions", "/discovery"),
    "keywords": Place("/keywords", "keywords list", "/keywords"),
    "result pages": Place("/serps", "scout serps", "/serps/pages"),
    "organisations": Place(
        "/verticals/{vertical}/organisations", "verticals organisations", None, ("vertical",)
    ),
    "ingestions": Place("/ingestions", "orbits runs", "/orbit/runs"),
    "trials": Place("/parsers/trials", "parsers trials", "/parsers/trials"),
    "model calls": Place("/model-calls", "model calls", "/model-calls"),
    "orbits": Place("/orbits", "orbits list", "/orbit"),
    "scores": Place("/scores", "scores list", "/scores"),
    "domains": Place("/domains", "domains list", "/domains"),
    "records": Place("/records", "records list", "/records"),
    "record changes": Place(
        "/records/{record_id}/changes", "records changes", None, ("record_id",)
    ),
    "corrections": Place("/corrections", "corrections list", "/corrections"),
    "pages": Place("/pages", "pages", "/domains/shop.example/pages", owner=("domain",)),
    "snapshots": Place("/pages/{page_id}/snapshots", "snapshots", None, ("page_id",)),
    "fetches": Place("/fetches", "fetches", "/domains/shop.example/fetches", owner=("domain",)),
    "flags": Place(
        "/verticals/{vertical}/flags", "relevance list", "/verticals/funding/flags", ("vertical",)
    ),
    "unproductive pages": Place(
        "/unproductive-pages", "relevance unproductive", "/unproductive-pages"
    ),
    "tasks": Place("/tasks", "tasks list", "/tasks"),
    "failed tasks": Place("/tasks/dead", "tasks dead", "/tasks/dead"),
    "batches": Place("/batches", "tasks batches", "/batches"),
    "batch errors": Place("/batches/{batch_id}/errors", "tasks errors", None, ("batch_id",)),
    "products": Place("/products", "products list", "/products"),
    "product prices": Place(
        "/products/{product_id}/prices", "products prices", None, ("product_id",)
    ),
    "review queue": Place("/review", "domains queue", "/review"),
    "jobs": Place("/jobs", "jobs list", "/jobs"),
    "dead letters": Place("/dead-letters", "jobs dead", "/jobs/dead", given=("job_ids",)),
    "exports": Place("/exports", "export list", "/exports"),
    "standing exports": Place("/standing-exports", "export standing list", "/exports/standing"),
    "changes": Place(
        "/changes", "changes", "/changes", more=("wait", "whole", "use"), most=MAX_BATCH
    ),
    "permissions": Place("/permissions", "rights permissions", "/rights/permissions"),
    "held items": Place("/rights/held", "rights held", "/rights/held"),
    "watches": Place("/watches", "watches list", "/watches"),
    "alerts": Place("/watches/{watch_id}/alerts", "watches alerts", None, ("watch_id",)),
    "events": Place("/events", "events", "/audit", given=("with_audit",)),
    "prices": Place("/prices", "prices list", "/rights/prices"),
    "payments": Place("/payments", "prices payments", "/rights/payments"),
    "owner requests": Place("/owner-requests", "owners list", "/rights/owners"),
    "retention rules": Place("/retention/rules", "retention list", None),
    "retention holds": Place("/retention/holds", "retention holds", None),
}


# Not listings, each for a reason of docs/decisions/0085-small-lists-are-shown-whole.md.
SMALL = {
    "analytics list", "backup list", "corrections rankings", "keys list", "members list", "parsers list", "parsers pins",
    "proxies list", "relevance versions", "scout engines", "verticals list", "webhooks list",
    "domains mentions", "inspect sitemap", "proxies costs", "scout records", "webhooks deliveries",
}  # fmt: skip
EXPORTED_ONLY = {"visibility"}  # listings that no interface shows as a list
DECLARATION = re.compile(r"^[A-Z_]+(?:: [^=]+)? = Listing\(", re.MULTILINE)


def declared() -> dict[str, Listing[Any, Any]]:
    """Every listing of every room."""
    found = {}
    for module in pkgutil.walk_packages(messor.__path__, "messor."):
        if module.name.rpartition(".")[2].endswith("queries"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Listing):
                    found[value.name] = value
    return found


LISTINGS = declared()


def test_every_listing_has_a_place() -> None:
    assert set(LISTINGS) == set(PLACES)


def test_listings_stand_where_they_are_looked_for() -> None:
    source = Path(messor.__file__).parent
    declaring = [
        path for path in source.rglob("*.py") if DECLARATION.search(path.read_text("utf-8"))
    ]
    assert len(declaring) > 10
    elsewhere = {path.stem for path in declaring if not path.stem.endswith("queries")}
    assert elsewhere == EXPORTED_ONLY


def commands(group: click.Group, *words: str) -> dict[str, click.Command]:
    """Every command, by its words."""
    found: dict[str, click.Command] = {}
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            found |= commands(command, *words, name)
        elif command is not None:
            found[" ".join((*words, name))] = command
    return found


def test_other_lists_are_small_for_a_reason() -> None:
    """A command that lists things is a listing behind all interfaces, or named below."""
    lists = {
        words
        for words, command in commands(cli).items()
        if words.endswith(" list") or (command.help or "").startswith("List ")
    }
    listings = {place.command for place in PLACES.values()}
    assert lists - listings == SMALL


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """What the API says of itself: the same for every list, and most of a second to write."""
    return make_api(Settings(), Database("postgresql://nowhere")).openapi()


@pytest.mark.parametrize("name", [name for name, place in PLACES.items() if place.api])
def test_the_api_offers_what_the_listing_declares(name: str, document: dict[str, Any]) -> None:
    listing, place = LISTINGS[name], PLACES[name]
    found = document["paths"][f"/api/v1{place.api}"]["get"]["parameters"]
    query = {one["name"]: one["schema"] for one in found if one["in"] == "query"}
    own = {"sort", "cursor", "limit", *place.more}
    expected = {*listing.filters.model_fields, *own} - set(place.given)
    assert set(query) == expected
    orders = query["sort"].get("enum") or [query["sort"]["const"]]
    assert (orders, query["sort"]["default"]) == (list(listing.orders), listing.default_order)
    assert (query["limit"]["default"], query["limit"]["maximum"]) == (DEFAULT_LIMIT, place.most)


@pytest.mark.parametrize("name", [name for name, place in PLACES.items() if place.command])
def test_the_command_line_offers_what_the_listing_declares(name: str) -> None:
    listing, place = LISTINGS[name], PLACES[name]
    assert place.command is not None
    command: click.Command = cli
    for word in place.command.split():
        assert isinstance(command, click.Group)
        inner = command.get_command(click.Context(command), word)
        assert inner is not None
        command = inner
    options = {one.name: one for one in command.params if isinstance(one, click.Option)}
    expected = {*listing.filters.model_fields, "order", "cursor", "limit"} - {
        *place.given,
        *place.owner,
    }
    assert set(options) - {"as_json", "output", "follow", "uses"} == expected
    order = options["order"]
    assert isinstance(order.type, click.Choice)
    assert (list(order.type.choices), order.default) == (
        list(listing.orders),
        listing.default_order,
    )
    assert options["limit"].default == DEFAULT_LIMIT


@pytest.mark.parametrize("name", [name for name, place in PLACES.items() if place.console])
async def test_the_console_offers_what_the_listing_declares(
    name: str, admin: Visitor, database: Database
) -> None:
    listing, place = LISTINGS[name], PLACES[name]
    await admit(database, "shop.example")
    async with database.transaction() as connection:
        await verticals.apply(connection, files.shipped("funding"), actor="ann")
    page = await admin.get(f"{place.console}?all=1")
    assert page.status == 200
    form = re.search(r'<form class="filters.*?</form>', page.text, re.DOTALL)
    assert form, f"{place.console} has no form of filters"
    names = set(re.findall(r'<(?:select|input)[^>]* name="([^"]+)"', form[0]))
    orders = {"sort"} if len(listing.orders) > 1 else set()
    assert names == {*listing.filters.model_fields, *orders} - {*place.given, *place.owner}
    if orders:
        sort = re.search(r'<select[^>]*name="sort".*?</select>', form[0], re.DOTALL)
        assert sort
        assert re.findall(r'value="([^"]+)"', sort[0]) == list(listing.orders)
