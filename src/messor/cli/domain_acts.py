"""`messor domains …`: decisions and notes on known domains."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

import click

from messor.cli.domain_session import name_of, print_decided, print_verdicts, show_domain
from messor.cli.output import emit, json_option, print_json, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.governance import decisions, domain_vertical, rest
from messor.governance.decisions import Act, Decided
from messor.governance.notices import Notices
from messor.insight import classes
from messor.insight.class_features import CLASSES
from messor.registry import domains as registry
from messor.registry import notes
from messor.registry.domains import Domain
from messor.registry.life import NO_FUNDS_YEARS
from messor.registry.notes import Note
from messor.rights.uses import USE_NAMES
from messor.settings import Settings
from messor.store.database import Connection


def _decide(names: tuple[str, ...], act: Act, as_json: bool) -> None:
    """Apply the decision to one domain, or to several, each in its own transaction."""
    targets = [name_of(name) for name in names]
    if len(targets) == 1:

        async def one(connection: Connection) -> Decided:
            return await act(connection, targets[0])

        print_decided(run(transact(one)), as_json)
        return

    print_verdicts(
        run(with_database(lambda database: decisions.decide_many(database, targets, act))), as_json
    )


@click.command()
@click.argument("domains", nargs=-1, required=True)
@click.option("--vertical", help="Vertical that their pages are judged for; default: as submitted.")
@click.option(
    "--use",
    "uses",
    multiple=True,
    type=click.Choice(USE_NAMES),
    help="What the content may be used for; repeatable. Default: as its vertical suggests.",
)
@click.option("--notify/--no-notify", default=True, help="Notify the submitters.")
@json_option
def approve(
    domains: tuple[str, ...],
    *,
    vertical: str | None,
    uses: tuple[str, ...],
    notify: bool,
    as_json: bool,
) -> None:
    """Approve domains for crawling.

    URLs that were waiting for the approval are crawled too.

    \b
    Example:
      messor domains approve foodbank.org
      messor domains approve foodbank.org shelter.org --vertical community_resources
      messor domains approve shop.example --use price-monitoring --use ai-input
    """
    told = Notices.of(Settings())
    act = partial(
        decisions.approve,
        actor=LOCAL_ADMIN,
        vertical=vertical,
        uses=uses or None,
        notify=notify,
        told=told,
    )
    _decide(domains, act, as_json)


@click.command()
@click.argument("domains", nargs=-1, required=True)
@click.option("--reason", required=True, help="Reason; stored with the domain.")
@click.option("--notify", is_flag=True, help="Notify the submitters, with the reason.")
@json_option
def reject(domains: tuple[str, ...], reason: str, notify: bool, as_json: bool) -> None:
    """Reject domains; they can be submitted again with new context.

    \b
    Example:
      messor domains reject spam.example --reason "no resources for the community"
      messor domains reject shop.example --reason "a shop" --notify
    """
    told = Notices.of(Settings())
    act = partial(decisions.reject, actor=LOCAL_ADMIN, reason=reason, notify=notify, told=told)
    _decide(domains, act, as_json)


@click.command()
@click.argument("domains", nargs=-1, required=True)
@click.option("--reason", help="Reason; stored with the domain.")
@json_option
def suspend(domains: tuple[str, ...], reason: str | None, as_json: bool) -> None:
    """Suspend domains; running visits end at the next flush.

    \b
    Example:
      messor domains suspend foodbank.org --reason "asked us to wait"
    """
    _decide(domains, partial(decisions.suspend, actor=LOCAL_ADMIN, reason=reason), as_json)


@click.command()
@click.argument("domains", nargs=-1, required=True)
@json_option
def resume(domains: tuple[str, ...], as_json: bool) -> None:
    """Resume suspended domains where they stopped.

    \b
    Example:
      messor domains resume foodbank.org
    """
    _decide(domains, partial(decisions.resume, actor=LOCAL_ADMIN), as_json)


@click.command()
@click.argument("domains", nargs=-1, required=True)
@click.option("--reason", required=True, help="Reason; stored with the domain.")
@json_option
def blacklist(domains: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Blacklist domains permanently.

    \b
    Example:
      messor domains blacklist malware.example --reason "serves malware"
    """
    _decide(domains, partial(decisions.blacklist, actor=LOCAL_ADMIN, reason=reason), as_json)


@click.command(name="review-again")
@click.argument("domains", nargs=-1, required=True)
@click.option("--reason", required=True, help="What has changed.")
@json_option
def review_again(domains: tuple[str, ...], reason: str, as_json: bool) -> None:
    """Return approved domains to the review queue; nothing is fetched until the decision.

    \b
    Example:
      messor domains review-again foodbank.org --reason "it was sold"
    """
    act = partial(decisions.review_again, actor=LOCAL_ADMIN, reason=reason)
    _decide(domains, act, as_json)


@click.command()
@click.argument("domains", nargs=-1, required=True)
@click.option("--drop-urls", is_flag=True, help="Discard the URLs that waited for this decision.")
@json_option
def keep(domains: tuple[str, ...], drop_urls: bool, as_json: bool) -> None:
    """Confirm approved domains that were flagged for review.

    \b
    Example:
      messor domains keep foodbank.org
    """
    act = partial(decisions.keep, actor=LOCAL_ADMIN, take_urls=not drop_urls)
    _decide(domains, act, as_json)


@click.command()
@click.argument("domain")
@json_option
def trust(domain: str, as_json: bool) -> None:
    """Trust an approved domain: accept its URLs from anyone, including new subdomains.

    \b
    Example:
      messor domains trust state.example
    """
    _trust(domain, as_json, trusted=True)


@click.command()
@click.argument("domain")
@json_option
def untrust(domain: str, as_json: bool) -> None:
    """Stop trusting a domain: URLs on new subdomains need a review again.

    \b
    Example:
      messor domains untrust state.example
    """
    _trust(domain, as_json, trusted=False)


def _trust(domain: str, as_json: bool, *, trusted: bool) -> None:
    async def act(connection: Connection) -> Domain:
        found = await registry.get(connection, name_of(domain))
        return await notes.trust(connection, found, actor=LOCAL_ADMIN, trusted=trusted)

    found = run(transact(act))
    say(f"{found.domain} is {'now trusted' if trusted else 'no longer trusted'}.")
    show_domain(found, as_json)


@click.command()
@click.argument("domain")
@click.argument("text")
@json_option
def note(domain: str, text: str, as_json: bool) -> None:
    """Add a note to a domain; `messor domains review` shows the notes.

    \b
    Example:
      messor domains note foodbank.org "They answer by phone only in summer."
    """

    async def act(connection: Connection) -> Note:
        found = await registry.get(connection, name_of(domain))
        return await notes.add(connection, found, text, actor=LOCAL_ADMIN)

    made = run(transact(act))
    say("Note added.")
    if as_json:
        print_json(asdict(made))


@click.command(name="no-funds")
@click.argument("domain")
@click.option(
    "--year",
    type=click.IntRange(*NO_FUNDS_YEARS),
    required=True,
    help="Year without funds; the domain rests until the next.",
)
@json_option
def no_funds(domain: str, year: int, as_json: bool) -> None:
    """Mark a domain as having no funds this year; it rests until the new year.

    \b
    Example:
      messor domains no-funds grants.example --year 2026
    """

    async def act(connection: Connection) -> Domain:
        found = await registry.lock(connection, name_of(domain))
        return await rest.no_funds(connection, found, year, actor=LOCAL_ADMIN)

    found = run(transact(act))
    say(f"{found.domain} rests until {year + 1}.")
    show_domain(found, as_json)


@click.command()
@click.argument("domain")
@json_option
def revive(domain: str, as_json: bool) -> None:
    """End a domain's rest after failures, without funds, or for low quality.

    \b
    Example:
      messor domains revive grants.example
    """

    async def act(connection: Connection) -> Domain:
        found = await registry.lock(connection, name_of(domain))
        return await rest.revive(connection, found, actor=LOCAL_ADMIN)

    found = run(transact(act))
    say(f"{found.domain} is active again.")
    show_domain(found, as_json)


@click.command()
@click.argument("domain")
@click.argument("name", metavar="[VERTICAL]", required=False)
@click.option("--none", "clear", is_flag=True, help="Take the domain out of its vertical.")
@json_option
def vertical(domain: str, name: str | None, *, clear: bool, as_json: bool) -> None:
    """Show or set the VERTICAL that a domain's pages are judged for.

    Pages that were extracted before are judged by a job. Without a name, the command shows the
    vertical and what the submissions and the pre-flight suggest.

    \b
    Example:
      messor domains vertical foodbank.org
      messor domains vertical foodbank.org community_resources
    """
    if clear and name:
        raise UsageError("--none cannot be combined with a vertical.")

    async def act(connection: Connection) -> dict[str, Any]:
        found = await registry.lock(connection, name_of(domain))
        if clear or name:
            found = await domain_vertical.assign(connection, found, name, actor=LOCAL_ADMIN)
        guess = await domain_vertical.guess_for(connection, found)
        return {
            "domain": found.domain,
            "vertical": found.vertical,
            "verticals": await domain_vertical.of_domain(connection, found),
            "guess": guess and asdict(guess),
        }

    shown = run(transact(act))
    if as_json:
        print_json(shown)
        return
    said = ", ".join(shown["verticals"]) or "none; its pages are not flagged"
    emit(f"{shown['domain']}: {said}")
    if shown["guess"] and shown["vertical"] is None:
        reasons = "; ".join(shown["guess"]["reasons"])
        emit(f"  looks like {shown['guess']['vertical']}: {reasons}")


@click.command(name="class")
@click.argument("domain")
@click.argument("name", metavar="CLASS", type=click.Choice(CLASSES))
@click.option("--reason", default="", help="Reason; stored with the class.")
@json_option
def class_(domain: str, name: str, reason: str, as_json: bool) -> None:
    """Set the CLASS of a domain, overriding the classifier, which learns from it.

    The domain need not be registered: domains seen in search results have a class too.

    \b
    Example:
      messor domains class findaclinic.example directory --reason "lists clinics"
    """

    async def act(connection: Connection) -> dict[str, Any]:
        known = name_of(domain)
        await classes.override(connection, known, name, actor=LOCAL_ADMIN, reason=reason)
        return await classes.show(connection, known)

    decided = run(transact(act))
    say(f"{decided['domain']} is now {name}; the classifier had said {decided['reckoned']}.")
    if as_json:
        print_json(decided)


COMMANDS = (
    approve,
    reject,
    suspend,
    resume,
    blacklist,
    review_again,
    keep,
    trust,
    untrust,
    note,
    no_funds,
    revive,
    vertical,
    class_,
)
