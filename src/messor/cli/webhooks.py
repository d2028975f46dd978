"""`messor webhooks`: who is told of events, and how that went."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

import click

from messor.cli.domain_session import LOCAL_ADMIN, transact, with_database
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import UsageError
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import seal_for
from messor.ops.webhooks import deliveries as told
from messor.ops.webhooks import dispatch, registry
from messor.ops.webhooks.registry import Webhook
from messor.settings import Settings
from messor.store.database import Connection

HEAD = ("id", "address", "state", "told of", "arrived", "failed", "in a row", "last error")
DELIVERY_HEAD = ("id", "event", "state", "attempts", "status", "asked for", "last error")


@click.group()
def webhooks() -> None:
    """Tell addresses of events as they happen, each one signed.

    Events are handed on while `messor up` runs, and workers deliver them.

    \b
    Example:
      messor webhooks add https://example.org/hook --type domain.approved
      messor webhooks list
    """


@webhooks.command()
@click.argument("url")
@click.option("--type", "types", multiple=True, metavar="TYPE",
              help="A type of events, such as domain.approved; repeat it. Without: every type.")  # fmt: skip
@json_option
def add(url: str, types: tuple[str, ...], as_json: bool) -> None:
    """Have an address told; prints its secret, once.

    \b
    Example:
      messor webhooks add https://example.org/hook
      messor webhooks add https://example.org/hook --type domain.approved --type page.flagged
    """
    settings = Settings()
    seal, guard = seal_for(settings), AddressGuard(settings.allowed_networks)

    async def act(connection: Connection) -> tuple[Webhook, str]:
        return await registry.add(connection, seal, guard, url=url, types=types, actor=LOCAL_ADMIN)

    made, secret = run(transact(act))
    if as_json:
        print_json({**asdict(made), "secret": secret})
        return
    say(f"{made.url} is told of what happens from now on. Its secret is shown this once:")
    emit(secret)


@webhooks.command(name="list")
@json_option
def list_webhooks(as_json: bool) -> None:
    """List the webhooks and how each has done.

    \b
    Example:
      messor webhooks list --json
    """
    found = run(with_database(registry.listing))
    if as_json:
        print_json([asdict(one) for one in found])
    elif found:
        print_table(HEAD, [_row(one) for one in found])
    else:
        say("No webhooks yet. Add one: messor webhooks add https://example.org/hook")


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@json_option
def pause(webhook: UUID, as_json: bool) -> None:
    """Tell a webhook nothing until it is resumed.

    \b
    Example:
      messor webhooks pause 0198c0de-0000-7000-8000-000000000001
    """
    _show(_switch(webhook, is_active=False), as_json)


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@json_option
def resume(webhook: UUID, as_json: bool) -> None:
    """Tell a webhook of what happens from now on, with its failures forgotten.

    \b
    Example:
      messor webhooks resume 0198c0de-0000-7000-8000-000000000001
    """
    _show(_switch(webhook, is_active=True), as_json)


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="A type of events; repeat it.")
@click.option("--every", is_flag=True, help="Every type of events.")
@json_option
def types(webhook: UUID, types: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Tell a webhook of other types of events.

    \b
    Example:
      messor webhooks types 0198c0de-0000-7000-8000-000000000001 --type domain.approved
    """
    if every == bool(types):
        raise UsageError("Name types with --type, or say --every.")

    async def act(connection: Connection) -> Webhook:
        return await registry.change(connection, webhook, types=types, actor=LOCAL_ADMIN)

    _show(run(transact(act)), as_json)


@webhooks.command()
@click.argument("webhook", type=click.UUID)
def remove(webhook: UUID) -> None:
    """Forget a webhook and its secret.

    \b
    Example:
      messor webhooks remove 0198c0de-0000-7000-8000-000000000001
    """

    async def act(connection: Connection) -> None:
        await registry.remove(connection, webhook, actor=LOCAL_ADMIN)

    run(transact(act))
    say("The webhook is removed; what waits for it is not sent.")


@webhooks.command(name="try")
@click.argument("webhook", type=click.UUID)
def try_(webhook: UUID) -> None:
    """Send one event of the type webhook.ping to a webhook.

    \b
    Example:
      messor webhooks try 0198c0de-0000-7000-8000-000000000001
    """

    async def act(connection: Connection) -> None:
        known = await registry.get(connection, webhook)
        await dispatch.ping(connection, known, actor=LOCAL_ADMIN)

    run(transact(act))
    say(f"A trial waits to be sent. See how it went: messor webhooks deliveries {webhook}")


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000))
@json_option
def deliveries(webhook: UUID, limit: int, as_json: bool) -> None:
    """List what a webhook was told, the newest first.

    \b
    Example:
      messor webhooks deliveries 0198c0de-0000-7000-8000-000000000001
    """

    async def read(connection: Connection) -> list[told.Delivery]:
        known = await registry.get(connection, webhook)
        return await told.listing(connection, known.id, limit=limit)

    found = run(transact(read))
    if as_json:
        print_json([asdict(one) for one in found])
    elif found:
        print_table(DELIVERY_HEAD, [_delivery_row(one) for one in found])
    else:
        say("It was told nothing yet.")


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@click.argument("delivery", type=click.UUID)
def redeliver(webhook: UUID, delivery: UUID) -> None:
    """Send a delivery once more, under the same id.

    \b
    Example:
      messor webhooks redeliver 0198c0de-0000-7000-8000-000000000001 0198c0de-0000-7000-8000-00000000abcd
    """

    async def act(connection: Connection) -> UUID:
        known = await registry.get(connection, webhook)
        return await told.redeliver(connection, known, delivery, actor=LOCAL_ADMIN)

    say(f"It waits to be sent as job {run(transact(act))}.")


def _switch(webhook_id: UUID, *, is_active: bool) -> Webhook:
    async def act(connection: Connection) -> Webhook:
        return await registry.change(connection, webhook_id, is_active=is_active, actor=LOCAL_ADMIN)

    return run(transact(act))


def _show(webhook: Webhook, as_json: bool) -> None:
    if as_json:
        print_json(webhook)
    else:
        print_table(HEAD, [_row(webhook)])


def _row(one: Webhook) -> tuple[object, ...]:
    state = "told" if one.is_active else "paused"
    types = ", ".join(one.types) or "everything"
    return (
        one.id, one.url, state, types, one.successes, one.failures, one.failure_count, one.last_error,
    )  # fmt: skip


def _delivery_row(one: told.Delivery) -> tuple[object, ...]:
    tries = f"{one.attempts} of {one.max_attempts}"
    return (
        one.id, one.event_type, one.state, tries, one.status, one.created_at, one.last_error,
    )  # fmt: skip
