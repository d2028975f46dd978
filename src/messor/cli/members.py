"""`messor members`: accounts and their roles."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import TypeVar

import click

from messor.access import links, second_factor
from messor.access import members as registry
from messor.access.links import MadeLink
from messor.access.members import Member
from messor.access.passwords import PasswordHash, Passwords
from messor.access.principal import LOCAL_ADMIN
from messor.access.roles import Role
from messor.access.typed_text import understand_email, understand_name
from messor.cli.output import emit, json_option, print_item, print_json, print_table, run
from messor.cli.session import transact
from messor.core.terminal import say
from messor.errors import ConflictError, UsageError
from messor.runtime.server.hosts import console_url
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session

Result = TypeVar("Result")

HEAD = ("e-mail", "name", "role", "state", "password", "last login", "created by")
ROLES = [role.value for role in Role]
_MAX_LINE_BYTES = 8192

password_option = click.option(
    "--password-stdin",
    is_flag=True,
    help="Read the password from standard input, to keep it out of the shell history.",
)
url_option = click.option(
    "--url", help="Public URL of the console; default: the address `messor up` serves."
)


@click.group()
def members() -> None:
    """Add members, set their roles, and create login links.

    \b
    Roles:
      admin      everything
      reviewer   reviews domains, sets their terms and controls crawls
      submitter  submits domains and starts ingestions
      viewer     read-only

    \b
    Example:
      messor members add ada@example.org --name "Ada L." --role reviewer
      messor members link ada@example.org
      messor members list
    """


@members.command()
@click.argument("email")
@click.option("--name", required=True, help="Display name.")
@click.option("--role", type=click.Choice(ROLES), default=Role.VIEWER.value, show_default=True,
              help="Role of the member.")  # fmt: skip
@password_option
@json_option
def add(email: str, name: str, role: str, password_stdin: bool, as_json: bool) -> None:
    """Add a member; without a password they log in by a link first.

    \b
    Example:
      messor members add ada@example.org --name "Ada L." --role admin
      messor members add bo@example.org --name Bo --password-stdin < password.txt
    """
    address, name = understand_email(email), understand_name(name)
    password = _read_password() if password_stdin else None

    async def act() -> Member:
        hashed = await _hash(password, address, name)

        return await transact(
            lambda connection: registry.create(
                connection,
                email=address,
                name=name,
                role=Role(role),
                password=hashed,
                by=LOCAL_ADMIN,
            )
        )

    member = run(act())
    if not member.has_password:
        say(
            f"{member.email} has no password yet. "
            f"Create a login link: messor members link {member.email}"
        )
    _show(member, as_json)


@members.command(name="list")
@json_option
def list_members(as_json: bool) -> None:
    """List members, oldest first.

    \b
    Example:
      messor members list --json
    """

    async def read() -> list[Member]:
        async with open_session(Settings(), pool_size=1) as session:
            return await registry.listing(session.database)

    found = run(read())
    if as_json:
        print_json([asdict(member) for member in found])
    elif found:
        print_table(HEAD, [_row(member) for member in found])
    else:
        say("No members yet. Create the first admin: messor members link")


@members.command()
@click.argument("email")
@click.argument("role", type=click.Choice(ROLES))
@json_option
def role(email: str, role: str, as_json: bool) -> None:
    """Change a member's role; they must log in again.

    \b
    Example:
      messor members role ada@example.org admin
    """
    _change(email, partial(registry.set_role, role=Role(role)), as_json)


@members.command()
@click.argument("email")
@json_option
def disable(email: str, as_json: bool) -> None:
    """Deactivate a member; their sessions, links and keys stop working immediately.

    \b
    Example:
      messor members disable ada@example.org
    """
    _change(email, registry.disable, as_json)


@members.command(name="reset-two-factor")
@click.argument("email")
@json_option
def reset_two_factor(email: str, as_json: bool) -> None:
    """Turn off two-factor login for a member who lost phone and recovery codes.

    \b
    Example:
      messor members reset-two-factor ada@example.org
    """

    async def act(connection: Connection) -> Member:
        member = await registry.get(connection, email)
        if not await second_factor.remove(connection, member, by=LOCAL_ADMIN):
            raise ConflictError(f"Two-factor login is not enabled for {member.email}.")
        return member

    _show(run(transact(act)), as_json)


@members.command()
@click.argument("email")
@json_option
def enable(email: str, as_json: bool) -> None:
    """Reactivate a member with their previous role.

    \b
    Example:
      messor members enable ada@example.org
    """
    _change(email, registry.enable, as_json)


@members.command()
@click.argument("email")
@password_option
@json_option
def password(email: str, password_stdin: bool, as_json: bool) -> None:
    """Set a member's password; they must log in again.

    \b
    Example:
      messor members password ada@example.org
      messor members password ada@example.org --password-stdin < password.txt
    """
    typed = None if password_stdin else _prompt_password()

    async def act() -> Member:
        async with open_session(Settings(), pool_size=1) as session:
            member = await registry.get(session.database, email)
            new = _read_password() if typed is None else typed
            hashed = await _hash(new, member.email, member.name)
            assert hashed is not None
            async with session.database.transaction() as connection:
                return await registry.set_password(connection, member, hashed, by=LOCAL_ADMIN)

    member = run(act())
    say(f"{member.email} has a new password; all their sessions were ended.")
    _show(member, as_json)


@members.command()
@click.argument("email", required=False)
@url_option
@json_option
def link(email: str | None, url: str | None, as_json: bool) -> None:
    """Print a one-time login link for a member, valid for an hour.

    Without EMAIL, print the link that creates the first admin; it is valid for a day, and only
    while there is no admin.

    \b
    Example:
      messor members link
      messor members link ada@example.org
      messor members link ada@example.org --url https://messor.example.org
    """

    async def act(connection: Connection) -> MadeLink:
        if email is None:
            return await links.make_first_admin(connection)
        member = await registry.get(connection, email)
        return await links.make_login(connection, member, by=LOCAL_ADMIN)

    made = run(transact(act))
    login_url = made.url(url or console_url(Settings()))
    if as_json:
        print_json({"url": login_url, "expires_at": made.expires_at})
    else:
        say(
            f"Valid once, until {made.expires_at:%Y-%m-%d %H:%M} UTC. "
            "Keep it secret: anyone who has it can use it."
        )
        emit(login_url)


def _prompt_password() -> str:
    if not sys.stdin.isatty():
        raise UsageError("No terminal to prompt for the password; use --password-stdin.")
    typed: str = click.prompt("New password", hide_input=True, confirmation_prompt=True, err=True)
    return typed


def _read_password() -> str:
    line = sys.stdin.buffer.readline(_MAX_LINE_BYTES)
    try:
        given = line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise UsageError("The password on standard input is not UTF-8.") from error
    if not given:
        raise UsageError("Standard input contains no password.")
    return given


async def _hash(password: str | None, email: str, name: str) -> PasswordHash | None:
    if password is None:
        return None
    passwords = Passwords()
    try:
        return await passwords.hash(password, email=email, name=name)
    finally:
        passwords.close()


def _change(email: str, change: Callable[..., Awaitable[Member]], as_json: bool) -> None:
    async def act(connection: Connection) -> Member:
        return await change(connection, await registry.get(connection, email), by=LOCAL_ADMIN)

    _show(run(transact(act)), as_json)


def _show(member: Member, as_json: bool) -> None:
    print_item(member, as_json, HEAD, _row)


def _row(member: Member) -> tuple[object, ...]:
    return (
        member.email,
        member.name,
        member.role,
        "active" if member.disabled_at is None else "disabled",
        "set" if member.has_password else "none",
        member.last_login_at,
        member.created_by,
    )
