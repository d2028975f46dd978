"""`messor webhooks`: webhooks and their deliveries."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

import click

from messor.cli.output import emit, json_option, print_item, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies.seal import seal_for
from messor.ops.webhooks import deliveries as delivery_log
from messor.ops.webhooks import dispatch, registry
from messor.ops.webhooks.registry import Webhook
from messor.settings import Settings
from messor.store.database import Connection

HEAD = ("id", "url", "state", "events", "delivered", "failed", "consecutive", "last error")
DELIVERY_HEAD = ("id", "event", "state", "attempts", "status", "created", "last error")


@click.group()
def webhooks() -> None:
    """Send signed events to URLs as they happen.

    `messor up` must be running; workers deliver the events.

    \b
    Example:
      messor webhooks add https://example.org/hook --type domain.approved
      messor webhooks list
    """


@webhooks.command()
@click.argument("url")
@click.option("--type", "types", multiple=True, metavar="TYPE",
              help="Event type, such as domain.approved; repeatable. Default: all types.")  # fmt: skip
@json_option
def add(url: str, types: tuple[str, ...], as_json: bool) -> None:
    """Add a webhook and print its secret once.

    \b
    Example:
      messor webhooks add https://example.org/hook
      messor webhooks add https://example.org/hook --type domain.approved --type page.flagged
    """
    settings = Settings()
    seal, guard = seal_for(settings), AddressGuard(settings.allowed_networks)

    made, secret = run(
        transact(
            lambda connection: registry.add(
                connection, seal, guard, url=url, types=types, actor=LOCAL_ADMIN
            )
        )
    )
    if as_json:
        print_json({**asdict(made), "secret": secret})
        return
    say(f"{made.url} receives events from now on. Save its secret, it is not shown again:")
    emit(secret)


@webhooks.command(name="list")
@json_option
def list_webhooks(as_json: bool) -> None:
    """List webhooks and their delivery counts.

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
    """Pause a webhook.

    \b
    Example:
      messor webhooks pause 0198c0de-0000-7000-8000-000000000001
    """
    _show(_switch(webhook, is_active=False), as_json)


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@json_option
def resume(webhook: UUID, as_json: bool) -> None:
    """Resume a webhook for events from now on, and reset its consecutive failures.

    \b
    Example:
      messor webhooks resume 0198c0de-0000-7000-8000-000000000001
    """
    _show(_switch(webhook, is_active=True), as_json)


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Event type; repeatable.")
@click.option("--all-types", is_flag=True, help="All event types.")
@json_option
def types(webhook: UUID, types: tuple[str, ...], all_types: bool, as_json: bool) -> None:
    """Change the event types a webhook receives.

    \b
    Example:
      messor webhooks types 0198c0de-0000-7000-8000-000000000001 --type domain.approved
    """
    if all_types == bool(types):
        raise UsageError("Give either --type or --all-types.")

    _show(
        run(
            transact(
                lambda connection: registry.change(
                    connection, webhook, types=types, actor=LOCAL_ADMIN
                )
            )
        ),
        as_json,
    )


@webhooks.command()
@click.argument("webhook", type=click.UUID)
def remove(webhook: UUID) -> None:
    """Delete a webhook and its secret.

    \b
    Example:
      messor webhooks remove 0198c0de-0000-7000-8000-000000000001
    """
    run(transact(lambda connection: registry.remove(connection, webhook, actor=LOCAL_ADMIN)))
    say("The webhook was removed; its pending deliveries are not sent.")


@webhooks.command(name="try")
@click.argument("webhook", type=click.UUID)
def try_(webhook: UUID) -> None:
    """Send a test event of type webhook.ping to a webhook.

    \b
    Example:
      messor webhooks try 0198c0de-0000-7000-8000-000000000001
    """

    async def act(connection: Connection) -> None:
        known = await registry.get(connection, webhook)
        await dispatch.ping(connection, known, actor=LOCAL_ADMIN)

    run(transact(act))
    say(f"A test event is queued. To see the result: messor webhooks deliveries {webhook}")


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1, 1000),
              help="Maximum number of rows.")  # fmt: skip
@json_option
def deliveries(webhook: UUID, limit: int, as_json: bool) -> None:
    """List deliveries to a webhook, newest first.

    \b
    Example:
      messor webhooks deliveries 0198c0de-0000-7000-8000-000000000001
    """

    async def read(connection: Connection) -> list[delivery_log.Delivery]:
        known = await registry.get(connection, webhook)
        return await delivery_log.listing(connection, known.id, limit=limit)

    found = run(transact(read))
    if as_json:
        print_json([asdict(one) for one in found])
    elif found:
        print_table(DELIVERY_HEAD, [_delivery_row(one) for one in found])
    else:
        say("No deliveries yet.")


@webhooks.command()
@click.argument("webhook", type=click.UUID)
@click.argument("delivery", type=click.UUID)
def redeliver(webhook: UUID, delivery: UUID) -> None:
    """Send a delivery again, under the same id.

    \b
    Example:
      messor webhooks redeliver 0198c0de-0000-7000-8000-000000000001 0198c0de-0000-7000-8000-00000000abcd
    """

    async def act(connection: Connection) -> UUID:
        known = await registry.get(connection, webhook)
        return await delivery_log.redeliver(connection, known, delivery, actor=LOCAL_ADMIN)

    say(f"The delivery is queued as job {run(transact(act))}.")


def _switch(webhook_id: UUID, *, is_active: bool) -> Webhook:

    return run(
        transact(
            lambda connection: registry.change(
                connection, webhook_id, is_active=is_active, actor=LOCAL_ADMIN
            )
        )
    )


def _show(webhook: Webhook, as_json: bool) -> None:
    print_item(webhook, as_json, HEAD, _row)


def _row(one: Webhook) -> tuple[object, ...]:
    state = "active" if one.is_active else "paused"
    types = ", ".join(one.types) or "all"
    return (
        one.id, one.url, state, types, one.successes, one.failures, one.failure_count, one.last_error,
    )  # fmt: skip


def _delivery_row(one: delivery_log.Delivery) -> tuple[object, ...]:
    attempts = f"{one.attempts} of {one.max_attempts}"
    return (
        one.id, one.event_type, one.state, attempts, one.status, one.created_at, one.last_error,
    )  # fmt: skip
