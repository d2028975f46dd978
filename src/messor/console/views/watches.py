"""Watches: the list, a form, and one watch with its preview and its alerts."""

from __future__ import annotations

from typing import Any, get_args
from uuid import UUID

from starlette.responses import Response

from messor.access.roles import Act
from messor.console.call import ConsoleRequest
from messor.console.listing import list_of
from messor.console.screens import get, post
from messor.console.views.tasks import as_uuid
from messor.errors import NotFoundError, UsageError
from messor.watches import watches
from messor.watches.conditions import Noun, When
from messor.watches.nouns import NOUNS
from messor.watches.preview import DAYS, preview
from messor.watches.queries import ALERTS, WATCHES, AlertFilter
from messor.watches.watches import Channel, Digest, NewWatch

_NUMBERS = ("value", "percent", "days")


async def show_all(call: ConsoleRequest) -> Response:
    listed = await list_of(call, WATCHES, "/watches")
    return await call.page("watches/list.html", listed=listed)


async def propose(call: ConsoleRequest) -> Response:
    """The form; a list's "Watch this" fills in its noun and filters."""
    noun = call.query("noun")
    noun = noun if noun in NOUNS else "products"
    return await _form(call, noun, {name: call.query(name) for name in _fields(noun)})


def _fields(noun: Any) -> tuple[str, ...]:
    return tuple(NOUNS[noun].filters.model_fields)


async def _form(
    call: ConsoleRequest,
    noun: Any,
    given: dict[str, str],
    *,
    wrong: str | None = None,
    status: int = 200,
) -> Response:
    return await call.page(
        "watches/form.html",
        status=status,
        noun=noun,
        nouns=get_args(Noun),
        given=given,
        whens=get_args(When),
        channels=get_args(Channel),
        digests=get_args(Digest),
        wrong=wrong,
    )


async def add(call: ConsoleRequest) -> Response:
    """Add a watch; only this response shows the token of its feed."""
    noun = call.form.text("noun")
    if noun not in NOUNS:
        raise UsageError(f"Choose what to watch: {', '.join(NOUNS)}.")
    given = {name: call.form.text(f"filter_{name}") for name in _fields(noun)}
    try:
        async with call.context.database.transaction() as connection:
            made, token = await watches.add(
                connection, _wanted(call, noun, given), actor=call.actor
            )
    except (UsageError, NotFoundError) as error:
        return await _form(call, noun, given, wrong=str(error), status=422)
    return await _one(call, made.id, token=token.reveal())


def _wanted(call: ConsoleRequest, noun: Any, given: dict[str, str]) -> NewWatch:
    form = call.form
    condition = {name: form.text(name) for name in ("when", "field", *_NUMBERS)}
    channel: Any = form.text("channel") or "feed"
    if channel not in get_args(Channel) or form.text("digest") not in get_args(Digest):
        raise UsageError("Choose how to be told and when.")
    webhook = form.text("webhook_id")
    return NewWatch(
        form.text("name"),
        noun,
        condition,
        given,
        channel,
        form.text("recipient") or None,
        as_uuid(webhook) if webhook else None,
        form.text("digest"),  # type: ignore[arg-type]
        form.text("zone") or "UTC",
    )


def _watch_id(call: ConsoleRequest) -> UUID:
    watch_id = as_uuid(call.part("watch_id"))
    if watch_id is None:
        raise NotFoundError("There is no such watch.")
    return watch_id


async def show(call: ConsoleRequest) -> Response:
    return await _one(call, _watch_id(call))


async def _one(call: ConsoleRequest, watch_id: UUID, *, token: str | None = None) -> Response:
    database = call.context.database
    watch = await watches.get(database, watch_id)
    told = await ALERTS.read(database, AlertFilter(watch_id=watch_id))
    would = await preview(database, watch) if not watch.is_active else []
    return await call.page(
        "watches/watch.html", watch=watch, told=told.items, would=would, days=DAYS, token=token
    )


async def change(call: ConsoleRequest) -> Response:
    """Switch on or off, or remove."""
    watch_id, act = _watch_id(call), call.form.text("act")
    async with call.context.database.transaction() as connection:
        if act == "remove":
            await watches.remove(connection, watch_id, actor=call.actor)
            return call.go("/watches", "The watch was removed.")
        if act not in ("on", "off"):
            raise UsageError("The action must be on, off or remove.")
        watch = await watches.switch(connection, watch_id, on=act == "on", actor=call.actor)
    return call.go(f"/watches/{watch.id}", f"{watch.name} is switched {act}.")


SCREENS = (
    get("/watches", Act.READ, show_all),
    get("/watches/new", Act.WATCHES_MANAGE, propose),
    post("/watches", Act.WATCHES_MANAGE, add),
    get("/watches/{watch_id}", Act.READ, show),
    post("/watches/{watch_id}", Act.WATCHES_MANAGE, change),
)
