"""`messor relevance`: relevance of pages to a vertical's topic, review and training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.errors import UsageError
from messor.insight.relevance import review, store
from messor.insight.relevance.classifier import Trained
from messor.insight.relevance.queries import (
    FLAGS,
    UNPRODUCTIVE_PAGES,
    PageFlag,
    UnproductivePage,
)
from messor.insight.relevance.review import Reviewed
from messor.insight.relevance.topics import topic_named
from messor.store.database import Connection, Database

FLAG_HEAD = ("page", "flag", "score", "by", "decided by", "reason", "url")
UNPRODUCTIVE_HEAD = ("last crawl", "last record", "next crawl", "url")
VERSIONS = ("version", "state", "decisions", "balanced accuracy", "rules", "trained", "reason")

VERTICAL = click.argument("vertical")
PAGE = click.argument("page")
AS = click.option(
    "--as", "verdict", type=click.Choice(("relevant", "irrelevant")),
    help="The correct flag; required for undecided pages.",
)  # fmt: skip
REASON = click.option("--reason", default="", help="Reason; stored with the decision.")


@click.group()
def relevance() -> None:
    """Review which pages are relevant to a vertical's topic, and train the classifier.

    \b
    Example:
      messor relevance list funding --state undecided
      messor relevance overturn funding https://example.org/about --reason "a film, no grant"
      messor relevance learn funding
    """


@relevance.command(name="list")
@VERTICAL
@list_options(FLAGS, without=("vertical",))
def list_(vertical: str, **given: Any) -> None:
    """List flags, those most useful to review first.

    \b
    Example:
      messor relevance list funding --state undecided --no-reviewed
    """
    show_list(
        FLAGS,
        {"vertical": vertical, **given},
        FLAG_HEAD,
        _row,
        empty="No matching flags.",
        check=lambda database: topic_named(database, vertical),
    )


@relevance.command(name="unproductive")
@list_options(UNPRODUCTIVE_PAGES)
def list_unproductive(**given: Any) -> None:
    """List pages that yielded no record in 90 days; they are crawled rarely.

    \b
    Example:
      messor relevance unproductive --domain foodbank.org
    """
    empty = "No unproductive pages."
    show_list(UNPRODUCTIVE_PAGES, given, UNPRODUCTIVE_HEAD, _unproductive_row, empty=empty)


@relevance.command()
@VERTICAL
@PAGE
@AS
@REASON
@json_option
def confirm(vertical: str, page: str, verdict: str | None, reason: str, as_json: bool) -> None:
    """Confirm the flag of a PAGE, by id or URL; an undecided page needs --as.

    \b
    Example:
      messor relevance confirm funding 17
      messor relevance confirm funding https://example.org/ --as relevant
    """
    _review(vertical, page, agrees=True, verdict=verdict, reason=reason, as_json=as_json)


@relevance.command()
@VERTICAL
@PAGE
@AS
@REASON
@json_option
def overturn(vertical: str, page: str, verdict: str | None, reason: str, as_json: bool) -> None:
    """Overturn the flag of a PAGE, by id or URL; your decision overrides the classifier.

    \b
    Example:
      messor relevance overturn funding 17 --reason "about an actor"
    """
    _review(vertical, page, agrees=False, verdict=verdict, reason=reason, as_json=as_json)


@relevance.command()
@VERTICAL
@json_option
def learn(vertical: str, as_json: bool) -> None:
    """Train a classifier on all decisions; it is used only if it beats the rules.

    \b
    Example:
      messor relevance learn funding
    """

    async def act(database: Database) -> tuple[int, Trained]:
        return await store.learn(database, await topic_named(database, vertical), actor=LOCAL_ADMIN)

    version, trained = run(with_database(act))
    if as_json:
        facts = {"version": version, "on": trained.may_judge, "reason": trained.reason}
        facts |= {"learnt": trained.learnt, "rules": trained.rules, "decisions": trained.decisions}
        print_json(facts | {"strongest": trained.classifier.strongest()})
        return
    use = "is used from now on" if trained.may_judge else "is not used"
    emit(f"Version {version}, trained on {trained.decisions} decisions, {use}. {trained.reason}")
    _emit_terms(trained.classifier.strongest())


@relevance.command()
@VERTICAL
@json_option
def versions(vertical: str, as_json: bool) -> None:
    """List trained versions with their balanced accuracy, and mark the one in use.

    \b
    Example:
      messor relevance versions funding
    """

    async def act(database: Database) -> Any:
        return await store.versions(database, await topic_named(database, vertical))

    found = run(with_database(act))
    if as_json:
        print_json(found)
    elif found:
        print_table(VERSIONS, [_version_row(row) for row in found])
        for row in found:
            if row["state"] == "on":
                emit(f"\nStrongest terms of version {row['version']}:")
                _emit_terms(row["measured"]["strongest"])
    else:
        say("No classifier was trained yet; the rules are used.")


@relevance.command()
@VERTICAL
@click.argument("version")
@json_option
def switch(vertical: str, version: str, as_json: bool) -> None:
    """Use another VERSION, or `rules`; versions no better than the rules are refused.

    \b
    Example:
      messor relevance switch funding 3
      messor relevance switch funding rules
    """
    if version != "rules" and not (version.isascii() and version.isdigit() and len(version) < 10):
        raise UsageError(f"{version[:50]!r} is neither a version number nor `rules`.")
    number = None if version == "rules" else int(version)

    async def act(database: Database) -> None:
        topic = await topic_named(database, vertical)
        await store.switch(database, topic, number, actor=LOCAL_ADMIN)

    run(with_database(act))
    if as_json:
        print_json({"vertical": vertical, "version": number})
        return
    say(f"{'The rules are' if number is None else f'Version {number} is'} used from now on.")


def _review(
    vertical: str, page: str, *, agrees: bool, verdict: str | None, reason: str, as_json: bool
) -> None:
    async def act(connection: Connection) -> Reviewed:
        return await review.review(
            connection,
            await topic_named(connection, vertical),
            page,
            agrees=agrees,
            actor=LOCAL_ADMIN,
            relevant=None if verdict is None else verdict == "relevant",
            reason=reason,
        )

    found = run(transact(act))
    if as_json:
        print_json(found)
        return
    emit(f"{found.url} is {'relevant' if found.relevant else 'irrelevant'} for {vertical}.")


def _row(flag: PageFlag) -> tuple[Any, ...]:
    state = {True: "relevant", False: "irrelevant", None: "undecided"}[flag.relevant]
    reason = "; ".join(flag.reasons)
    reason = reason if len(reason) <= 60 else f"{reason[:59]}…"
    return (
        flag.page_id, state, f"{flag.score:.2f}", flag.model_version, flag.decided_by, reason,
        flag.url,
    )  # fmt: skip


def _unproductive_row(page: UnproductivePage) -> tuple[Any, ...]:
    return page.last_fetched_at, page.last_record_at, page.due_at, page.url


def _emit_terms(strongest: Mapping[str, Sequence[str]]) -> None:
    for side, terms in strongest.items():
        if terms:
            emit(f"{side}: {', '.join(terms)}")


def _version_row(row: dict[str, Any]) -> tuple[Any, ...]:
    learnt, rules = (row["measured"][name] or {} for name in ("learnt", "rules"))
    return (
        row["version"], row["state"], row["decisions"], learnt.get("balanced"),
        rules.get("balanced"), row["trained_at"], row["reason"],
    )  # fmt: skip
