"""`messor domains queue`, `review` and `preflight`: what a reviewer reads before deciding."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from messor.cli.actors import Names, names_in, with_names
from messor.cli.domain_session import name_of
from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.terminal import say
from messor.governance import preflight as preflight_requests
from messor.politeness import prospects
from messor.registry import domains as registry
from messor.registry import review as reviews
from messor.registry.preflights import Preflight
from messor.registry.review import Dossier
from messor.registry.review_queries import WAITING, WaitingDomain
from messor.registry.submissions import PastSubmission
from messor.store.database import Connection, Database

HEAD = (
    "domain",
    "submitted by",
    "context",
    "since",
    "depth",
    "urls",
    "pre-flight",
    "review reason",
)


@click.command()
@list_options(WAITING)
def queue(**given: Any) -> None:
    """List domains that wait for review.

    \b
    Example:
      messor domains queue
      messor domains queue --submitter-type public_user --json
    """
    show_list(WAITING, given, HEAD, _row, empty="No matching domains wait for review.")
    say("Show one: messor domains review DOMAIN")


def _row(row: WaitingDomain) -> tuple[object, ...]:
    if row.report is not None:
        preflight: str | None = row.report.message
    else:
        preflight = "requested" if row.preflight_asked_at else None
    return (
        row.domain,
        f"{row.submitted_by} ({row.submitter_type})",
        row.submission_context,
        row.created_at,
        row.max_crawl_depth,
        row.urls_waiting or None,
        preflight,
        row.review_reason,
    )


@click.command()
@click.argument("domain")
@json_option
def review(domain: str, as_json: bool) -> None:
    """Show everything a reviewer needs to decide on a domain.

    \b
    Example:
      messor domains review foodbank.org
    """

    async def read(database: Database) -> tuple[Dossier, Names]:
        found = await reviews.dossier(database, name_of(domain))
        actors = (
            *(one.submitted_by for one in found.submissions),
            *(url.submitted_by for url in found.urls),
            *(note.author for note in found.notes),
            *(fact.actor for fact in found.history),
        )
        return found, await names_in(database, actors)

    found, names = run(with_database(read))
    if as_json:
        print_json(asdict(found))
    else:
        _show(found, names)


def _proposed(one: PastSubmission) -> str:
    delay = one.crawl_delay_seconds
    paced = "" if delay is None else f", delay {delay:g} s"
    return f"depth {one.max_crawl_depth}{paced}{f', for {one.vertical}' if one.vertical else ''}"


def _show(dossier: Dossier, names: Names) -> None:
    domain = dossier.domain
    emit(f"{domain.domain}: {domain.status}, {domain.processing}, starts at {domain.base_url}")
    if domain.vertical:
        emit(f"  vertical: {domain.vertical}")
    for reason in (domain.review_reason, domain.rejection_reason, domain.failure_reason):
        if reason:
            emit(f"  reason: {reason}")
    emit("\nSubmissions")
    for one in dossier.submissions:
        who = f"{with_names(one.submitted_by, names)} ({one.submitter_type})"
        emit(f"  {one.created_at:%Y-%m-%d %H:%M} {who}, {_proposed(one)}: {one.context or '-'}")
    if dossier.urls:
        emit("\nURLs waiting for approval")
        for url in dossier.urls:
            emit(f"  {url.url}  {with_names(url.submitted_by, names)}")
    _show_preflight(dossier.preflight)
    _show_history(dossier, names)


def _show_history(dossier: Dossier, names: Names) -> None:
    if dossier.similar:
        emit("\nSimilar known domains")
        for alike in dossier.similar:
            emit(f"  {alike.domain}  {alike.status}  {alike.likeness}")
    if dossier.notes:
        emit("\nNotes")
        for note in dossier.notes:
            emit(
                f"  {note.created_at:%Y-%m-%d %H:%M} {with_names(note.author, names)}: {note.body}"
            )
    emit("\nHistory, newest first")
    for fact in dossier.history:
        who = with_names(fact.actor, names)
        emit(f"  {fact.occurred_at:%Y-%m-%d %H:%M:%S} {fact.type} by {who}")


def _show_preflight(preflight: Preflight | None) -> None:
    emit("\nPre-flight")
    if preflight is None:
        emit("  none yet; request one: messor domains preflight DOMAIN")
    elif preflight.report is None:
        emit(f"  requested at {preflight.requested_at:%Y-%m-%d %H:%M}; waiting for a worker")
    else:
        emit(f"  {preflight.report.message}")
        for name, value in asdict(preflight.report).items():
            if value not in (None, [], "", False) and name not in ("message", "similar"):
                emit(f"  {name:16} {value}")


@click.command()
@click.argument("domain")
def preflight(domain: str) -> None:
    """Request a pre-flight of a domain that waits for review: at most three requests.

    \b
    Example:
      messor domains preflight foodbank.org
    """

    async def act(connection: Connection) -> str:
        found = await registry.lock(connection, name_of(domain))
        preflight_id = await preflight_requests.request_preflight(
            connection, found, actor=LOCAL_ADMIN
        )
        if preflight_id is None:
            return "A pre-flight is already in progress."
        started = "The pre-flight is queued; messor domains review shows its result."
        obstacle = await prospects.hindrance(connection)
        return started if obstacle is None else f"The pre-flight was requested. {obstacle}"

    say(run(transact(act)))


COMMANDS = (queue, review, preflight)
