"""`messor watches`: what somebody wants to be told."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args
from uuid import UUID

import click

from messor.cli.listing import list_options, show_list, typed_filters
from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.watches import watches as registry
from messor.watches.conditions import Noun, When
from messor.watches.preview import DAYS, preview
from messor.watches.queries import ALERTS, WATCHES, Alert
from messor.watches.watches import Channel, Digest, NewWatch, Watch

HEAD = ("id", "name", "state", "watches", "when", "channel", "digest")
ALERT_HEAD = ("id", "time", "state", "alert", "url")


@click.group()
def watches() -> None:
    """Watch for changes, with notices by mail, webhook or feed.

    `messor up` must be running.

    \b
    Example:
      messor watches add "Cheap kettles" products --when falls --field price --percent 10
      messor watches preview ID
      messor watches on ID
    """


@watches.command()
@click.argument("name")
@click.argument("noun", type=click.Choice(get_args(Noun)))
@click.option("--when", type=click.Choice(get_args(When)), required=True, help="Condition.")
@click.option("--field", help="Field of the record, for crosses, falls and changed.")
@click.option("--value", type=float, help="Threshold, for crosses.")
@click.option("--percent", type=float, help="Minimum fall in percent.")
@click.option("--days", type=int, help="Days, for deadline and stale.")
@click.option("--filter", "filters", multiple=True, metavar="NAME=VALUE",
              help="Filter of the noun's list, such as domain=shop.example; repeatable.")  # fmt: skip
@click.option("--mail", "recipient", metavar="ADDRESS", help="Notify this address.")
@click.option("--webhook", type=click.UUID, help="Notify this webhook; see messor webhooks list.")
@click.option("--slack", is_flag=True, help="Format the webhook's message for Slack.")
@click.option("--digest", type=click.Choice(get_args(Digest)), default="at_once",
              show_default=True, help="Send alerts at once or as a digest.")  # fmt: skip
@click.option("--zone", default="UTC", show_default=True, help="Time zone of --hour and --quiet.")
@click.option(
    "--hour", type=int, default=8, show_default=True, help="Hour at which digests are sent."
)
@click.option(
    "--quiet", nargs=2, type=int, metavar="FROM TO", help="Quiet hours, in which nothing is sent."
)
@json_option
def add(name: str, noun: Noun, as_json: bool, **given: Any) -> None:
    """Add a watch, disabled at first, and print the token of its feed once.

    \b
    Example:
      messor watches add "Kettles" products --when out_of_stock --filter domain=shop.example
      messor watches add "Deadlines" records --when deadline --days 14 --mail ada@example.org
    """
    names = ("when", "field", "value", "percent", "days")
    quiet = given["quiet"] or (None, None)
    channel: Channel = "mail" if given["recipient"] else "feed"
    if given["webhook"]:
        channel = "slack" if given["slack"] else "webhook"
    wanted = NewWatch(
        name,
        noun,
        {one: given[one] for one in names},
        typed_filters(given["filters"]),
        channel,
        given["recipient"],
        given["webhook"],
        given["digest"],
        given["zone"],
        given["hour"],
        *quiet,
    )
    made, token = run(
        transact(lambda connection: registry.add(connection, wanted, actor=LOCAL_ADMIN))
    )
    if as_json:
        print_json({"watch": _data(made), "token": token.reveal()})
        return
    print_table(HEAD, [_row(made)])
    say(f"Its feed: /api/v1/watches/feeds/{token.reveal()}/atom (or rss, json); shown once.")
    say(f"It is switched off. See what it would have told: messor watches preview {made.id}")


def _data(watch: Watch) -> dict[str, Any]:
    found = asdict(watch)
    found["condition"] = watch.condition.model_dump(exclude_none=True)
    return found


@watches.command("list")
@list_options(WATCHES)
def list_(**given: Any) -> None:
    """List watches.

    \b
    Example:
      messor watches list --active
    """
    show_list(WATCHES, given, HEAD, _row, empty="There are no watches.")


def _row(watch: Watch) -> tuple[Any, ...]:
    state = "on" if watch.is_active else "off"
    return (
        watch.id, watch.name, state, watch.noun, watch.condition.when, watch.channel, watch.digest,
    )  # fmt: skip


@watches.command()
@click.argument("watch_id", type=click.UUID)
@list_options(ALERTS, without=("watch_id",))
def alerts(watch_id: UUID, **given: Any) -> None:
    """List a watch's alerts, sent and held back.

    \b
    Example:
      messor watches alerts 0199… --state held
    """
    given["watch_id"] = watch_id
    show_list(
        ALERTS,
        given,
        ALERT_HEAD,
        _alert,
        empty="It has told nothing.",
        check=lambda database: registry.get(database, watch_id),
    )


def _alert(alert: Alert) -> tuple[Any, ...]:
    return (
        alert.id,
        f"{alert.created_at:%Y-%m-%d %H:%M}",
        alert.state,
        alert.message,
        alert.url or "",
    )


@watches.command("preview")
@click.argument("watch_id", type=click.UUID)
@json_option
def preview_(watch_id: UUID, as_json: bool) -> None:
    """Print the alerts a watch would have sent in the last 30 days.

    \b
    Example:
      messor watches preview 0199…
    """
    told = run(
        with_database(
            lambda database: _preview(database, watch_id),
        )
    )
    rows = [
        (f"{one.change.occurred_at:%Y-%m-%d %H:%M}", one.message, one.change.url or "")
        for one in told
    ]
    if as_json:
        print_json(
            [{"occurred_at": time, "message": message, "url": url} for time, message, url in rows]
        )
    elif rows:
        print_table(("time", "alert", "url"), rows)
    else:
        say(f"It would have told nothing in the last {DAYS} days.")


async def _preview(database: Any, watch_id: UUID) -> Any:
    return await preview(database, await registry.get(database, watch_id))


@watches.command()
@click.argument("watch_id", type=click.UUID)
@json_option
def on(watch_id: UUID, as_json: bool) -> None:
    """Enable a watch for changes from now on.

    \b
    Example:
      messor watches on 0199…
    """
    _switch(watch_id, on=True, as_json=as_json)


@watches.command()
@click.argument("watch_id", type=click.UUID)
@json_option
def off(watch_id: UUID, as_json: bool) -> None:
    """Disable a watch.

    \b
    Example:
      messor watches off 0199…
    """
    _switch(watch_id, on=False, as_json=as_json)


def _switch(watch_id: UUID, *, on: bool, as_json: bool) -> None:
    watch = run(
        transact(lambda connection: registry.switch(connection, watch_id, on=on, actor=LOCAL_ADMIN))
    )
    if as_json:
        print_json(_data(watch))
    else:
        say(f"{watch.name} is switched {'on' if on else 'off'}.")


@watches.command()
@click.argument("watch_id", type=click.UUID)
@json_option
def remove(watch_id: UUID, as_json: bool) -> None:
    """Remove a watch and its alerts.

    \b
    Example:
      messor watches remove 0199…
    """
    run(transact(lambda connection: registry.remove(connection, watch_id, actor=LOCAL_ADMIN)))
    if as_json:
        print_json({"removed": str(watch_id)})
    else:
        say("The watch was removed.")
