"""`messor retention`: rules by which old snapshots go, holds, and what would go."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, get_args
from uuid import UUID

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.governance import retention as service
from messor.governance.retention import NewRule
from messor.governance.retention_queries import (
    HOLDS,
    RULES,
    Outcome,
    RetentionHold,
    RetentionRule,
    preview,
)

RULE_HEAD = ("name", "applies to", "outcome", "older than", "beyond versions", "by")
HOLD_HEAD = ("hold", "what", "reason", "by", "since")


@click.group()
def retention() -> None:
    """Say how long snapshots stay; hold what must stay; see what would go.

    The most specific rule decides: a domain's before a vertical's before one for all. The current
    content of a page, and what records were read from, always stays.

    \b
    Example:
      messor retention add news --domain news.example --days 365
      messor retention preview
      messor retention hold shop.example --reason "claim 4711"
    """


@retention.command()
@click.argument("name")
@click.option("--domain", help="Only this domain.")
@click.option("--vertical", help="Only domains of this vertical.")
@click.option("--outcome", type=click.Choice(get_args(Outcome)), default="any", show_default=True,
              help="good: pages as they should be; bad: blocked, empty and the like.")  # fmt: skip
@click.option("--days", type=click.IntRange(0, 36_500), help="Snapshots at least this old go.")
@click.option("--versions", type=click.IntRange(1, 100_000), help="Snapshots beyond the newest ones of a page go.")  # fmt: skip
@json_option
def add(as_json: bool, **given: Any) -> None:
    """Add a rule; with --days and --versions both must be met. It applies from the next night.

    \b
    Example:
      messor retention add everything --versions 20 --days 90
      messor retention add refusals --outcome bad --days 30
    """
    wanted = NewRule(**given)
    rule = run(transact(lambda c: service.add_rule(c, wanted, actor=LOCAL_ADMIN)))
    if as_json:
        print_json(rule)
    else:
        say(f"{rule.name} was added. To see what would go: messor retention preview")


@retention.command()
@click.argument("name")
@json_option
def remove(name: str, as_json: bool) -> None:
    """Remove a rule.

    \b
    Example:
      messor retention remove everything
    """
    run(transact(lambda connection: service.remove_rule(connection, name, actor=LOCAL_ADMIN)))
    if as_json:
        print_json({"removed": name})
    else:
        say(f"{name} was removed.")


@retention.command("list")
@list_options(RULES)
def list_(**given: Any) -> None:
    """List the rules.

    \b
    Example:
      messor retention list --domain news.example
    """
    empty = "There are no retention rules: every snapshot stays."
    show_list(RULES, given, RULE_HEAD, _rule_row, empty=empty)


def _rule_row(rule: RetentionRule) -> tuple[Any, ...]:
    scope = rule.domain or (f"vertical {rule.vertical}" if rule.vertical else "all")
    days = None if rule.days is None else f"{rule.days} days"
    return rule.name, scope, rule.outcome, days, rule.versions, rule.created_by


@retention.command("preview")
@json_option
def show_preview(as_json: bool) -> None:
    """Show what would go now, rule by rule; nothing is removed.

    \b
    Example:
      messor retention preview
    """
    found = run(with_database(preview))
    if as_json:
        print_json([asdict(each) for each in found])
        return
    rows = [(one.rule, f"{one.snapshots:,}", f"{one.bytes:,}", f"{one.held:,}") for one in found]
    print_table(("rule", "snapshots", "bytes in the archive", "held"), rows)
    if not rows:
        emit("Nothing would go.")


@retention.command("apply")
@json_option
def apply_now(as_json: bool) -> None:
    """Apply the rules now instead of tonight; what goes cannot be brought back.

    Its bytes leave the archive within a day (O-Archive).

    \b
    Example:
      messor retention apply
    """
    gone = run(with_database(lambda database: service.apply(database, actor=LOCAL_ADMIN)))
    if as_json:
        print_json(dict(gone))
    else:
        say(f"{gone.total():,} snapshots were removed.")


@retention.command()
@click.argument("what")
@click.option("--reason", required=True, help="Reason; stored with the hold.")
@json_option
def hold(what: str, reason: str, as_json: bool) -> None:
    """Hold a domain, or a page by its URL: no rule removes anything of it. Erasures still do.

    \b
    Example:
      messor retention hold https://shop.example/terms --reason "claim 4711"
    """
    placed = run(transact(lambda c: service.hold(c, what, actor=LOCAL_ADMIN, reason=reason)))
    if as_json:
        print_json(placed)
    else:
        say(f"{placed.url or placed.domain} is held. To lift it: messor retention lift {placed.id}")


@retention.command("holds")
@list_options(HOLDS)
def list_holds(**given: Any) -> None:
    """List the holds.

    \b
    Example:
      messor retention holds
    """
    show_list(HOLDS, given, HOLD_HEAD, _hold_row, empty="Nothing is held.")


def _hold_row(one: RetentionHold) -> tuple[Any, ...]:
    return one.id, one.url or one.domain, one.reason, one.held_by, one.held_at


@retention.command()
@click.argument("hold_id", type=click.UUID)
@json_option
def lift(hold_id: UUID, as_json: bool) -> None:
    """Lift a hold.

    \b
    Example:
      messor retention lift 0198c0de-0000-7000-8000-000000000000
    """
    run(transact(lambda connection: service.lift(connection, hold_id, actor=LOCAL_ADMIN)))
    if as_json:
        print_json({"lifted": str(hold_id)})
    else:
        say("The hold was lifted.")
