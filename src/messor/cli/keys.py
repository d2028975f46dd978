"""`messor keys`: what programs show instead of a login."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TypeVar

import click

from messor.access import keys as registry
from messor.access import members
from messor.access.keys import MOST_DAYS, USUAL_DAYS, ApiKey
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Act, Role, key_acts_of
from messor.access.secret import Secret
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session

Answer = TypeVar("Answer")

SCOPES = sorted(act.value for act in key_acts_of(Role.ADMIN))
HEAD = ("prefix", "name", "member", "scopes", "state", "expires", "last used")


@click.group()
def keys() -> None:
    """Make, list and revoke API keys. A key is shown once, when it is made.

    \b
    Example:
      messor keys create "nightly report" --member ada@example.org --scope read
      messor keys list
      messor keys revoke 5f0c9a1be2d4
    """


@keys.command()
@click.argument("name")
@click.option("--member", required=True, help="The e-mail address of the member it acts for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    default=[Act.READ.value],
    show_default=True,
    type=click.Choice(SCOPES),
    help="What it may do, at most what the member may; repeat it for more.",
)
@click.option(
    "--days",
    default=USUAL_DAYS,
    show_default=True,
    type=click.IntRange(1, MOST_DAYS),
    help="How long it holds.",
)
@json_option
def create(name: str, member: str, scopes: tuple[str, ...], days: int, as_json: bool) -> None:
    """Make a key for a member and print it, this once.

    \b
    Example:
      messor keys create "nightly report" --member ada@example.org
      messor keys create importer --member ada@example.org --scope read --scope domains.submit --days 7
    """

    async def act(connection: Connection) -> tuple[ApiKey, Secret]:
        owner = await members.get(connection, member)
        return await registry.create(
            connection,
            owner,
            name=name,
            scopes=[Act(scope) for scope in scopes],
            days=days,
            by=LOCAL_ADMIN,
        )

    key, secret = run(_transact(act))
    if as_json:
        print_json({**asdict(key), "key": secret.reveal()})
    else:
        say(f"Keep it now: it is not shown again. It holds until {key.expires_at:%Y-%m-%d}.")
        emit(secret.reveal())


@keys.command(name="list")
@click.option("--member", help="Only those of this member, by e-mail address.")
@json_option
def list_keys(member: str | None, as_json: bool) -> None:
    """List the keys, newest first.

    \b
    Example:
      messor keys list --member ada@example.org
    """

    async def read() -> list[ApiKey]:
        async with open_session(Settings(), pool_size=1) as session:
            owner = None if member is None else await members.get(session.database, member)
            owner_id = None if owner is None else owner.id
            return await registry.listing(session.database, by=LOCAL_ADMIN, member_id=owner_id)

    found = run(read())
    if as_json:
        print_json([asdict(key) for key in found])
    elif found:
        print_table(HEAD, [_row(key) for key in found])
    else:
        say("No keys. Make one: messor keys create NAME --member ada@example.org")


@keys.command()
@click.argument("prefix")
@json_option
def revoke(prefix: str, as_json: bool) -> None:
    """End a key now; its prefix stands in the list, and in the key after messor_.

    \b
    Example:
      messor keys revoke 5f0c9a1be2d4
    """

    async def act(connection: Connection) -> ApiKey:
        key = await registry.get(connection, prefix, by=LOCAL_ADMIN)
        return await registry.revoke(connection, key, by=LOCAL_ADMIN)

    key = run(_transact(act))
    if as_json:
        print_json(key)
    else:
        print_table(HEAD, [_row(key)])


async def _transact(act: Callable[[Connection], Awaitable[Answer]]) -> Answer:
    async with (
        open_session(Settings(), pool_size=1) as session,
        session.database.transaction() as connection,
    ):
        return await act(connection)


def _row(key: ApiKey) -> tuple[object, ...]:
    return (
        key.prefix,
        key.name,
        key.member,
        " ".join(key.scopes),
        _state(key),
        key.expires_at,
        key.last_used_at,
    )


def _state(key: ApiKey) -> str:
    if key.is_good:
        return "active"
    return "revoked" if key.revoked_at is not None else "run out or member disabled"
