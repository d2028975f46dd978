"""`messor keywords`: search keywords, their sources and tiers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.scout import expansion, tiers
from messor.scout import keywords as words
from messor.scout.expansion import Suggestion
from messor.scout.keyword_queries import KEYWORDS, Keyword
from messor.scout.keywords import Preview, Tier
from messor.scout.tiers import Retiered, TierChange
from messor.store.database import Connection, Database
from messor.verticals import verticals

PREVIEW_ONLY = "Nothing was saved; add --write to save."


@click.group()
def keywords() -> None:
    """Generate, expand and rank the keywords of a vertical.

    \b
    Example:
      messor keywords generate wellness
      messor keywords generate wellness --write
      messor keywords list --vertical wellness --tier A
    """


@keywords.command()
@click.argument("vertical")
@click.option("--profile", "profiles", multiple=True, help="Only for this profile; repeatable.")
@click.option("--write", is_flag=True, help="Save the result; without it only a preview is shown.")
@json_option
def generate(vertical: str, profiles: tuple[str, ...], write: bool, as_json: bool) -> None:
    """Generate keywords from a vertical's templates, services, synonyms and places.

    \b
    Example:
      messor keywords generate wellness --profile sg-mobile
      messor keywords generate wellness --write
    """

    async def act(database: Database) -> tuple[Preview, int | None]:
        applied = await verticals.get(database, vertical)
        preview = await words.preview(database, applied, profiles)
        if not write:
            return preview, None
        return preview, await words.write(database, applied, profiles, actor=LOCAL_ADMIN)

    preview, written = run(with_database(act))
    if as_json:
        print_json({**asdict(preview), "new": preview.new, "written": written})
        return
    print_table(("template", "keywords"), list(preview.by_template.items()))
    emit(
        f"{preview.texts} keywords for {preview.profiles} profiles: "
        f"{preview.new} new, {preview.known} known."
    )
    emit("For example: " + "; ".join(preview.sample[:5]))
    say(f"{written} keywords were saved." if write else PREVIEW_ONLY)


@keywords.command()
@click.argument("vertical")
@click.option("--write", is_flag=True, help="Save the result; without it only a preview is shown.")
@json_option
def expand(vertical: str, write: bool, as_json: bool) -> None:
    """Add keywords suggested by result pages, as far as they stay on topic.

    \b
    Example:
      messor keywords expand funding
      messor keywords expand funding --write
    """

    async def act(connection: Connection) -> list[Suggestion]:
        applied = await verticals.get(connection, vertical)
        if not write:
            return await expansion.suggest(connection, applied)
        return (await expansion.expand(connection, applied, actor=LOCAL_ADMIN)).suggestions

    found = run(transact(act))
    if as_json:
        print_json(found)
        return
    table = [(o.text, o.seed, o.drift, "yes" if o.taken else "no", o.message) for o in found]
    print_table(("text", "seed", "drift", "accepted", "reason"), table)
    taken = sum(one.taken for one in found)
    say(
        f"{taken} of {len(found)} suggestions were accepted."
        + ("" if write else f" {PREVIEW_ONLY}")
    )


@keywords.command(name="tiers")
@click.argument("vertical")
@click.option("--write", is_flag=True, help="Save the result; without it only a preview is shown.")
@json_option
def tiers_(vertical: str, write: bool, as_json: bool) -> None:
    """Assign tiers to keywords by their measured value, and prune worthless ones.

    \b
    Example:
      messor keywords tiers wellness
      messor keywords tiers wellness --write
    """

    async def act(connection: Connection) -> tuple[list[TierChange], Retiered | None]:
        applied = await verticals.get(connection, vertical)
        changes = await tiers.preview(connection, applied)
        if not write:
            return changes, None
        return changes, await tiers.apply(connection, applied, actor=LOCAL_ADMIN)

    changes, done = run(transact(act))
    if as_json:
        print_json({"changes": changes, "done": done})
        return
    table = [
        (one.text, one.profile, one.before, "pruned" if one.prune else one.after, one.why)
        for one in changes
    ]
    print_table(("text", "profile", "before", "after", "reason"), table)
    if done is None:
        say(PREVIEW_ONLY)
    else:
        say(f"{done.measured} measured, {done.changed} changed, {done.pruned} pruned.")


@keywords.command()
@click.argument("vertical")
@click.argument("text")
@click.option(
    "--tier",
    type=click.Choice(["A", "B", "C"]),
    help="Set the tier by hand; without it the keyword starts as C and is rated.",
)
@click.option("--profile", "profiles", multiple=True, help="Only for this profile; repeatable.")
@json_option
def add(
    vertical: str, text: str, tier: Tier | None, profiles: tuple[str, ...], as_json: bool
) -> None:
    """Add a keyword manually; it is never pruned.

    \b
    Example:
      messor keywords add wellness "botox orchard road" --tier A
    """

    async def act(connection: Connection) -> int:
        applied = await verticals.get(connection, vertical)
        return await words.add(
            connection, applied, text, tier=tier, names=profiles, actor=LOCAL_ADMIN
        )

    new = run(transact(act))
    say(f"{new} keywords were added." if new else "These keywords already exist.")
    if as_json:
        print_json({"new": new})


@keywords.command(name="tier")
@click.argument("vertical")
@click.argument("text")
@click.argument("tier", type=click.Choice(["A", "B", "C", "auto"]))
@click.option("--profile", "profiles", multiple=True, help="Only for this profile; repeatable.")
@json_option
def set_tier(vertical: str, text: str, tier: str, profiles: tuple[str, ...], as_json: bool) -> None:
    """Set a keyword's tier by hand, or return it to automatic tiers.

    \b
    Example:
      messor keywords tier wellness "botox orchard road" A
      messor keywords tier wellness "botox orchard road" auto
    """

    async def act(connection: Connection) -> int:
        applied = await verticals.get(connection, vertical)
        found = await words.of_text(connection, applied, text, profiles)
        wanted = None if tier == "auto" else cast(Tier, tier)
        return await words.set_tier(connection, found, wanted, actor=LOCAL_ADMIN)

    changed = run(transact(act))
    say(
        f"{changed} keywords are {'rated automatically' if tier == 'auto' else f'tier {tier}'} now."
    )
    if as_json:
        print_json({"changed": changed})


@keywords.command(name="list")
@list_options(KEYWORDS)
def list_keywords(**given: Any) -> None:
    """List keywords.

    \b
    Example:
      messor keywords list --vertical wellness --tier A --json
      messor keywords list --sort -value --state all
    """
    head = ("text", "profile", "tier", "source", "value", "last search")
    empty = "No matching keywords. Generate some: messor keywords generate VERTICAL"
    show_list(KEYWORDS, given, head, _row, empty=empty)


def _row(one: Keyword) -> tuple[Any, ...]:
    return (one.text, one.profile, one.tier, one.source, one.value, one.last_snapshot_at)
