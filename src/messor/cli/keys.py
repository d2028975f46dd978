"""`messor keys`: API keys, with which programs authenticate."""

from __future__ import annotations

from dataclasses import asdict
from typing import TypeVar

import click

from messor.access import key_policies, members
from messor.access import keys as registry
from messor.access.key_policies import (
    DEFAULT_DEPTH,
    DEFAULT_PAGES,
    MOST_DEPTH,
    MOST_PAGES,
    KeyPolicy,
)
from messor.access.keys import MOST_DAYS, USUAL_DAYS, ApiKey
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Act, Role, key_acts_of
from messor.access.secret import Secret
from messor.cli.output import emit, json_option, print_item, print_json, print_table, run
from messor.cli.session import transact
from messor.core.terminal import say
from messor.errors import UsageError
from messor.fetch.proxies.seal import seal_for
from messor.rights.uses import USE_NAMES
from messor.scrape import hooks
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session

Result = TypeVar("Result")

SCOPES = sorted(act.value for act in key_acts_of(Role.ADMIN))
HEAD = ("prefix", "name", "member", "scopes", "state", "expires", "last used")


@click.group()
def keys() -> None:
    """Create, list and revoke API keys. A key is shown only once, when it is created.

    \b
    Example:
      messor keys create "nightly report" --member ada@example.org --scope read
      messor keys list
      messor keys policy 5f0c9a1be2d4 --approve example.org --pages-a-day 200
      messor keys revoke 5f0c9a1be2d4
    """


@keys.command()
@click.argument("name")
@click.option("--member", required=True, help="E-mail address of the member it acts for.")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    default=[Act.READ.value],
    show_default=True,
    type=click.Choice(SCOPES),
    help="Permitted action, within the member's own permissions; repeatable.",
)
@click.option(
    "--days",
    default=USUAL_DAYS,
    show_default=True,
    type=click.IntRange(1, MOST_DAYS),
    help="Days until it expires.",
)
@click.option(
    "--use",
    "uses",
    multiple=True,
    type=click.Choice(USE_NAMES),
    help="What its holder does with what it reads; repeatable.",
)
@json_option
def create(
    name: str,
    *,
    member: str,
    scopes: tuple[str, ...],
    days: int,
    uses: tuple[str, ...],
    as_json: bool,
) -> None:
    """Create a key for a member and print it once.

    \b
    Example:
      messor keys create "nightly report" --member ada@example.org
      messor keys create agent --member ada@example.org --use ai-input
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
            uses=uses,
            by=LOCAL_ADMIN,
        )

    key, secret = run(transact(act))
    if as_json:
        print_json({**asdict(key), "key": secret.reveal()})
    else:
        say(f"Save it now: it is not shown again. It expires on {key.expires_at:%Y-%m-%d}.")
        emit(secret.reveal())


@keys.command(name="list")
@click.option("--member", help="Only keys of the member with this e-mail address.")
@json_option
def list_keys(member: str | None, as_json: bool) -> None:
    """List API keys, newest first.

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
        say("No keys. Create one: messor keys create NAME --member ada@example.org")


@keys.command(name="webhook-secret")
@click.argument("prefix")
@click.option("--renew", is_flag=True, help="Replace it; receivers need the new one at once.")
@json_option
def webhook_secret(prefix: str, *, renew: bool, as_json: bool) -> None:
    """Print what signs the webhooks of a key's scrape jobs.

    Receivers verify X-Firecrawl-Signature with it: HMAC-SHA256 over the raw body.

    \b
    Example:
      messor keys webhook-secret 5f0c9a1be2d4
    """
    seal = seal_for(Settings())

    async def act(connection: Connection) -> str:
        key = await registry.get(connection, prefix, by=LOCAL_ADMIN)
        return await hooks.secret_of(connection, seal, key.id, renew=renew)

    found = run(transact(act))
    if as_json:
        print_json({"secret": found})
    else:
        emit(found)


@keys.command()
@click.argument("prefix")
@click.option("--approve", "domains", multiple=True, metavar="DOMAIN",
              help="Domain that the key approves on first use, or any for all; repeatable.")  # fmt: skip
@click.option("--depth", default=DEFAULT_DEPTH, show_default=True, type=click.IntRange(0, MOST_DEPTH),
              help="Maximum link distance of its crawls.")  # fmt: skip
@click.option("--pages-a-day", default=DEFAULT_PAGES, show_default=True, type=click.IntRange(1, MOST_PAGES),
              help="Pages it may have fetched per day (UTC).")  # fmt: skip
@click.option("--none", "drops", is_flag=True, help="Take the policy away.")
@json_option
def policy(
    prefix: str,
    *,
    domains: tuple[str, ...],
    depth: int,
    pages_a_day: int,
    drops: bool,
    as_json: bool,
) -> None:
    """Show or set what a key decides by itself.

    A key with a policy approves domains on first use, so that a program can work without a person at
    each step. Its member must be allowed to review domains.

    \b
    Example:
      messor keys policy 5f0c9a1be2d4 --approve example.org --approve example.net --depth 1
      messor keys policy 5f0c9a1be2d4 --none
    """
    if drops and domains:
        raise UsageError("--none cannot be combined with --approve.")

    async def act(connection: Connection) -> KeyPolicy | None:
        key = await registry.get(connection, prefix, by=LOCAL_ADMIN)
        if drops:
            await key_policies.drop(connection, key, by=LOCAL_ADMIN)
        elif domains:
            return await key_policies.give(
                connection,
                key,
                domains=domains,
                by=LOCAL_ADMIN,
                max_depth=depth,
                pages_a_day=pages_a_day,
            )
        return (await key_policies.of_keys(connection, [key.id])).get(key.id)

    found = run(transact(act))
    if as_json:
        print_json(asdict(found) if found else None)
    elif found is None:
        say("This key has no policy: it approves nothing by itself.")
    else:
        emit(
            f"It approves {', '.join(found.domains).replace('*', 'any domain')} on first use, "
            f"to depth {found.max_depth}, {found.pages_a_day} pages a day (set by {found.set_by})."
        )


@keys.command()
@click.argument("prefix")
@json_option
def revoke(prefix: str, as_json: bool) -> None:
    """Revoke a key immediately.

    Its PREFIX is shown by messor keys list, and follows messor_ in the key itself.

    \b
    Example:
      messor keys revoke 5f0c9a1be2d4
    """

    async def act(connection: Connection) -> ApiKey:
        key = await registry.get(connection, prefix, by=LOCAL_ADMIN)
        return await registry.revoke(connection, key, by=LOCAL_ADMIN)

    key = run(transact(act))
    print_item(key, as_json, HEAD, _row)


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
    return "revoked" if key.revoked_at is not None else "expired or member disabled"
