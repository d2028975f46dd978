"""`messor proxies`: the proxy pool."""

from __future__ import annotations

import sys
from dataclasses import asdict, astuple
from decimal import Decimal, InvalidOperation
from typing import TypeVar

import click

from messor.cli.domain_session import name_of
from messor.cli.output import emit, json_option, print_item, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UnavailableError, UsageError
from messor.fetch.guard import AddressGuard
from messor.fetch.proxies import costs as proxy_costs
from messor.fetch.proxies import placement, registry
from messor.fetch.proxies.costs import DEFAULT_DAYS, MAX_DAYS
from messor.fetch.proxies.probe import Prober, ProbeResult
from messor.fetch.proxies.proxy import check_password, understand
from messor.fetch.proxies.registry import KnownProxy
from messor.fetch.proxies.seal import seal_for
from messor.fetch.proxies.target import Target, target_of
from messor.settings import Settings
from messor.store.database import Connection
from messor.store.session import open_session

Result = TypeVar("Result")

HEAD = ("id", "proxy", "user", "state", "successes", "failures", "consecutive", "ms", "cost", "last used")  # fmt: skip
COSTS_HEAD = ("day", "domain", "proxy id", "proxy", "requests", "cost")
_MAX_LINE_BYTES = 4096


@click.group()
def proxies() -> None:
    """Manage the proxies used for domains configured with --proxies pool.

    All other domains are fetched directly. Proxies never raise the request rate to a host, and
    receive only IP addresses that passed the address guard, never host names.

    \b
    Example:
      messor proxies add socks5://user@proxy.example:1080 --password-stdin < password.txt
      messor proxies list
    """


@proxies.command()
@click.argument("url")
@click.option("--password-stdin", is_flag=True,
              help="Read the password from standard input, to keep it out of the shell history.")  # fmt: skip
@click.option("--cost", help="Cost per request, in your currency.")
@json_option
def add(url: str, password_stdin: bool, cost: str | None, as_json: bool) -> None:
    """Add a proxy to the pool; its password is stored encrypted.

    \b
    Example:
      messor proxies add http://proxy.example:3128
      messor proxies add https://user@proxy.example:8443 --password-stdin < password.txt
      messor proxies add socks5://10.0.0.7:1080 --cost 0.0004
    """
    endpoint, password = understand(url)
    price = _price(cost)
    if password is not None and not password_stdin:
        say(
            "Other users of this machine can read a password on the command line; "
            "use --password-stdin instead."
        )
    if password_stdin:
        if password is not None:
            raise UsageError(
                "The password is both in the URL and on standard input; give only one."
            )
        password = _password_from_stdin()
        check_password(endpoint, password)
    settings = Settings()
    seal = seal_for(settings)

    async def act(connection: Connection) -> KnownProxy:
        await placement.judge(settings, endpoint, trusted=True)
        return await registry.add(
            connection,
            seal,
            endpoint,
            password,
            actor=LOCAL_ADMIN,
            cost_per_request=price,
            trusted=True,
        )

    known = run(transact(act))
    say(f"{endpoint.name} was added to the pool. Test it: messor proxies probe {known.id}")
    _show(known, as_json)


def _price(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal("NaN")
    return registry.check_cost(price)


def _password_from_stdin() -> str:
    line = sys.stdin.buffer.readline(_MAX_LINE_BYTES)
    try:
        password = line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise UsageError("The password on standard input is not UTF-8.") from error
    if not password:
        raise UsageError("Standard input contains no password.")
    return password


@proxies.command(name="list")
@json_option
def list_proxies(as_json: bool) -> None:
    """List the proxies and their success counts.

    \b
    Example:
      messor proxies list --json
    """

    async def read() -> list[KnownProxy]:
        async with open_session(Settings(), pool_size=1) as session:
            return await registry.listing(session.database)

    found = run(read())
    if as_json:
        print_json([asdict(known) for known in found])
    elif found:
        print_table(HEAD, [_row(known) for known in found])
    else:
        say("No proxies yet. Add one: messor proxies add http://proxy.example:3128")


@proxies.command()
@click.option("--days", type=click.IntRange(1, MAX_DAYS), default=DEFAULT_DAYS, show_default=True,
              help="How many days, today included.")  # fmt: skip
@click.option("--domain", help="Only this domain.")
@json_option
def costs(days: int, domain: str | None, as_json: bool) -> None:
    """List requests through proxies and their cost by day (UTC), domain and proxy.

    \b
    Example:
      messor proxies costs --days 7
      messor proxies costs --domain shop.example --json
    """
    name = None if domain is None else name_of(domain)
    found = run(with_database(lambda database: proxy_costs.by_day(database, days, name)))
    if as_json:
        print_json(found)
    elif found:
        print_table(COSTS_HEAD, [astuple(each) for each in found])
    else:
        say("No request went through a proxy in this time.")


@proxies.command()
@click.argument("proxy")
@json_option
def show(proxy: str, as_json: bool) -> None:
    """Show a proxy in detail, by id or URL.

    \b
    Example:
      messor proxies show 1
    """
    found = run(with_database(lambda database: registry.get(database, proxy)))
    if as_json:
        print_json(found)
        return
    for name, value in asdict(found).items():
        emit(f"{name:24} {value if value is not None else '-'}")


@proxies.command()
@click.argument("proxy")
def remove(proxy: str) -> None:
    """Delete a proxy and its password.

    \b
    Example:
      messor proxies remove 1
    """

    async def act(connection: Connection) -> KnownProxy:
        known = await registry.get(connection, proxy)
        await registry.remove(connection, known, actor=LOCAL_ADMIN)
        return known

    known = run(transact(act))
    say(f"{known.endpoint.name} was removed; workers stop using it within 30 seconds.")


@proxies.command()
@click.argument("proxy")
@json_option
def enable(proxy: str, as_json: bool) -> None:
    """Enable a proxy and reset its consecutive failures.

    \b
    Example:
      messor proxies enable 1
    """
    _switch(proxy, as_json, active=True)


@proxies.command()
@click.argument("proxy")
@json_option
def disable(proxy: str, as_json: bool) -> None:
    """Disable a proxy until it is enabled again; probes do not re-enable it.

    \b
    Example:
      messor proxies disable 1
    """
    _switch(proxy, as_json, active=False)


def _switch(name: str, as_json: bool, *, active: bool) -> None:
    async def act(connection: Connection) -> KnownProxy:
        known = await registry.get(connection, name)
        return await registry.switch(connection, known, active=active, actor=LOCAL_ADMIN)

    _show(run(transact(act)), as_json)


@proxies.command()
@click.argument("proxy")
@click.option("--target", help="host:port to connect to, such as example.org:443; default: the host of MESSOR_CONTACT.")  # fmt: skip
@json_option
def probe(proxy: str, target: str | None, as_json: bool) -> None:
    """Test a proxy by opening a tunnel; re-enables one that was disabled by failures.

    The tunnel leads to --target, MESSOR_PROXY_PROBE_TARGET or the host of MESSOR_CONTACT, and is
    closed without a request. This checks that the proxy is reachable, accepts the login and
    connects.

    \b
    Example:
      messor proxies probe 1
      messor proxies probe 1 --target example.org:443
    """
    result, known = run(_probe(proxy, target))
    if result.error is not None:
        raise UnavailableError(result.error)
    say(f"{result.endpoint.name} is reachable, accepts the login and connects.")
    _show(known, as_json)


async def _probe(name: str, address: str | None) -> tuple[ProbeResult, KnownProxy]:
    settings = Settings()
    target = target_of(settings) if address is None else Target.understand(address)
    if target is None:
        raise UsageError(
            "No probe target; give --target example.org:443 or set MESSOR_PROXY_PROBE_TARGET, "
            "preferably to a server of your own."
        )
    guard = AddressGuard(settings.allowed_networks)
    await target.places(guard)
    seconds, authorities = settings.connect_timeout, settings.ca_file
    prober = Prober(guard, seconds=seconds, ca_file=authorities, target=target)
    async with open_session(settings, pool_size=1) as session:
        known = await registry.get(session.database, name)
        result = await prober.probe_known(session.database, seal_for(settings), known)
        if result.error is None:
            known = await registry.get(session.database, str(known.id))
        return result, known


def _show(known: KnownProxy, as_json: bool) -> None:
    print_item(known, as_json, HEAD, _row)


def _row(known: KnownProxy) -> tuple[object, ...]:
    return (
        known.id,
        known.endpoint.name,
        known.proxy_username or None,
        _state(known),
        known.success_count,
        known.failures,
        known.failure_count,
        known.avg_response_time_ms,
        known.cost,
        known.last_used_at,
    )


def _state(known: KnownProxy) -> str:
    if known.is_active:
        return "active"
    return "disabled" if known.probe_at is None else f"failed, next probe {known.probe_at:%H:%M}"
