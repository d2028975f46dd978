"""`messor scout`: search, discovery sessions, and candidates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import click

from messor.cli.listing import list_options, show_list
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN, transact, with_database
from messor.core.masking import mask_text
from messor.core.terminal import say
from messor.errors import UnavailableError, UsageError
from messor.schedule.orchestrators import RunPosition
from messor.schedule.standard import CANDIDATES as CRAWLS
from messor.scout import candidates as rows
from messor.scout import costs, explore
from messor.scout.candidate_queries import CANDIDATES
from messor.scout.candidates import Candidate, StatedRecord
from messor.scout.engines.registry import engine_class, hire, known
from messor.scout.explore import Explored
from messor.scout.search import Searcher
from messor.scout.serp_queries import SERPS, Serp
from messor.scout.session_queries import SESSIONS, DiscoverySession
from messor.settings import Settings
from messor.store.database import Connection, Database
from messor.store.session import open_session
from messor.verticals import verticals

MAX_MESSAGES = 5  # about failed searches

Act = Callable[[Connection, Candidate], Awaitable[Candidate]]


@click.group()
def scout() -> None:
    """Search for new sites, and review the candidates found.

    Search engines are configured in messor.toml, for example:

    \b
      [search_engines.searxng]
      url = "http://127.0.0.1:8888"
      [search_engines.serper]
      key = "…"
      monthly_budget = 20

    \b
    Example:
      messor scout search funding --limit 20
      messor scout candidates --status PENDING_CRAWL
    """


@scout.command()
@click.argument("vertical")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True,
              help="Maximum number of keywords to search for.")  # fmt: skip
@json_option
def search(vertical: str, limit: int, as_json: bool) -> None:
    """Search for the keywords that are due, judge the results, and store candidates.

    \b
    Example:
      messor scout search funding --limit 20
    """
    settings = Settings()
    if not settings.search_engines:
        raise UsageError(
            "No search engine is configured; set search_engines in messor.toml. "
            f"Available: {', '.join(known())}."
        )

    async def act() -> Explored:
        async with open_session(settings) as session:
            applied = await verticals.get(session.database, vertical)
            searcher = Searcher(session.database, hire(settings.search_engines))
            try:
                return await explore.explore(
                    session.database, searcher, applied, actor=LOCAL_ADMIN, limit=limit
                )
            finally:
                await searcher.close()

    done = run(act())
    for sentence in done.messages[:MAX_MESSAGES]:
        say(sentence)
    if as_json:
        print_json(done)
    else:
        emit(f"Session {done.session_id}: {done.paid_for} searches sent.")
        print_table(("searches", "count"), list(done.searches.items()))
        print_table(("figure", "value"), list(done.statistics.items()))
    if done.searches and not done.searches.get("answered"):
        waiting = done.searches.get("waiting", 0)
        raise UnavailableError(
            f"No search returned a result page; {waiting} are still due. "
            "Check the engines: messor doctor"
        )


@scout.command()
@list_options(SESSIONS)
def sessions(**given: Any) -> None:
    """List discovery sessions and their results, newest first.

    \b
    Example:
      messor scout sessions --vertical funding
    """
    head = ("id", "vertical", "state", "started", "results", "candidates", "message")
    empty = "No matching sessions. Start one: messor scout search VERTICAL"
    show_list(SESSIONS, given, head, _session_row, empty=empty)


@scout.command()
@list_options(SERPS)
def serps(**given: Any) -> None:
    """List result pages and gaps, newest first.

    \b
    Example:
      messor scout serps --vertical funding --outcome failed
      messor scout serps --domain foodbank.org --since 2026-11-01
    """
    head = ("id", "keyword", "profile", "engine", "outcome", "results", "captured")
    empty = "No matching result pages. Capture some: messor scout search VERTICAL"
    show_list(SERPS, given, head, _serp_row, empty=empty)


@scout.command()
@list_options(CANDIDATES)
def candidates(**given: Any) -> None:
    """List candidates, highest confidence first.

    \b
    Example:
      messor scout candidates --vertical funding --status PENDING_CRAWL
      messor scout candidates --status waiting --min-confidence 0.8
    """
    head = ("id", "confidence", "status", "domain", "title")
    empty = "No matching candidates. Search for some: messor scout search VERTICAL"
    show_list(CANDIDATES, given, head, _candidate_row, empty=empty)


@scout.command()
@click.argument("candidate", type=click.UUID)
@json_option
def why(candidate: UUID, as_json: bool) -> None:
    """Show how each judge scored a CANDIDATE.

    \b
    Example:
      messor scout why 0191b2c4-0000-7000-8000-000000000000
    """
    found = run(with_database(lambda database: rows.get(database, candidate)))
    if as_json:
        print_json(found)
        return
    emit(f"{found.url} is {found.status} with confidence {found.confidence_score:.2f}.")
    scores = found.validation_notes["judge_scores"]
    table = [(s["judge_name"], s["score"], s["weight"], s["explanation"]) for s in scores]
    print_table(("judge", "score", "weight", "reason"), table)


@scout.command()
@click.argument("candidate", type=click.UUID)
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True,
              help="Maximum number of rows.")  # fmt: skip
@json_option
def records(candidate: UUID, limit: int, as_json: bool) -> None:
    """List records of a crawled CANDIDATE's page and of its organisation.

    \b
    Example:
      messor scout records 0191b2c4-0000-7000-8000-000000000000
    """

    async def act(database: Database) -> tuple[Candidate, list[StatedRecord]]:
        found = await rows.get(database, candidate)
        return found, await rows.records_of(database, found.id, limit)

    found, stated = run(with_database(act))
    if as_json:
        print_json(stated)
        return
    if found.crawled_at is None:
        say(f"{found.url} was not crawled yet: {found.crawl_note or 'it waits for its crawl'}")
    table = [(o.record_id, o.kind, f"{o.confidence:.2f}", _summary(o), o.url) for o in stated]
    print_table(("record", "kind", "confidence", "summary", "page"), table)


@scout.command()
@json_option
def crawl(as_json: bool) -> None:
    """Queue candidates of approved domains for crawling, and crawled ones for review.

    O-Candidates does this automatically while `messor up` runs. This command fetches nothing:
    workers do.

    \b
    Example:
      messor scout crawl
    """

    async def act(database: Database) -> dict[str, int]:
        counts: dict[str, int] = {}
        position: RunPosition | None = RunPosition()
        while position is not None:
            async with database.transaction() as connection:
                done = await CRAWLS.step(connection, position)
            for name, count in done.counts.items():
                counts[name] = counts.get(name, 0) + count
            position = done.next
        return counts

    done = run(with_database(act))
    if as_json:
        print_json(done)
        return
    print_table(("step", "count"), [(name.replace("_", " "), n) for name, n in done.items()])


@scout.command()
@click.argument("candidate", type=click.UUID)
@json_option
def review(candidate: UUID, as_json: bool) -> None:
    """Start the review of a CANDIDATE.

    \b
    Example:
      messor scout review 0191b2c4-0000-7000-8000-000000000000
    """

    async def act(connection: Connection, found: Candidate) -> Candidate:
        return await rows.assign(connection, found, LOCAL_ADMIN, actor=LOCAL_ADMIN)

    _decide(candidate, act, as_json)


@scout.command()
@click.argument("candidate", type=click.UUID)
@click.option("--reason", help="Reason; stored with the candidate.")
@json_option
def approve(candidate: UUID, reason: str | None, as_json: bool) -> None:
    """Approve a CANDIDATE in review.

    \b
    Example:
      messor scout approve 0191b2c4-0000-7000-8000-000000000000
    """

    async def act(connection: Connection, found: Candidate) -> Candidate:
        return await rows.approve(connection, found, actor=LOCAL_ADMIN, reason=reason)

    _decide(candidate, act, as_json)


@scout.command()
@click.argument("candidate", type=click.UUID)
@click.option("--reason", required=True, help="Reason; stored with the candidate.")
@json_option
def reject(candidate: UUID, reason: str, as_json: bool) -> None:
    """Reject a CANDIDATE in review.

    \b
    Example:
      messor scout reject 0191b2c4-0000-7000-8000-000000000000 --reason "a loan, no grant"
    """

    async def act(connection: Connection, found: Candidate) -> Candidate:
        return await rows.reject(connection, found, actor=LOCAL_ADMIN, reason=reason)

    _decide(candidate, act, as_json)


@scout.command()
@json_option
def engines(as_json: bool) -> None:
    """List the search engines, which are configured, and the cost per search.

    \b
    Example:
      messor scout engines
    """
    given = Settings().search_engines
    order = {name: position for position, name in enumerate(given, 1)}
    found = []
    for name in sorted(known(), key=lambda name: (order.get(name, len(order) + 1), name)):
        kind, options = engine_class(name), given.get(name)
        cost = options.cost if options is not None else None
        url = (options.url if options is not None else None) or kind.default_url
        found.append(
            {
                "name": name,
                "asked": order.get(name),
                "cost": kind.list_price if cost is None else cost,
                "budget": options.monthly_budget if options is not None else None,
                "url": url and mask_text(url),
            }
        )
    if as_json:
        print_json(found)
        return
    print_table(
        ("name", "order", "cost", "monthly budget", "url"),
        [tuple(facts.values()) for facts in found],
    )


@scout.command()
@json_option
def spend(as_json: bool) -> None:
    """Show the cost of searches, by month and engine.

    \b
    Example:
      messor scout spend
    """
    found = run(with_database(costs.by_month))
    if as_json:
        print_json(found)
        return
    names = ("month", "engine", "asked", "answered", "refused", "lost", "cost")
    head = ("month", "engine", "sent", "succeeded", "refused", "lost", "cost")
    print_table(head, [tuple(getattr(one, name) for name in names) for one in found])


def _summary(one: StatedRecord) -> str:
    """Return the name, title or e-mail address of a record, or its first value."""
    name = one.data.get("name") or one.data.get("title") or one.data.get("email")
    return str(name or next(iter(one.data.values()), ""))[:60]


def _session_row(one: DiscoverySession) -> tuple[Any, ...]:
    made = one.statistics
    figures = (made.get("total_processed"), made.get("candidates_created"))
    return (one.id, one.vertical, one.state, one.started_at, *figures, one.message)


def _serp_row(one: Serp) -> tuple[Any, ...]:
    results = None if one.is_gap else one.result_count
    return (one.id, one.keyword, one.profile, one.engine, one.outcome, results, one.captured_at)


def _candidate_row(one: Candidate) -> tuple[Any, ...]:
    return (one.id, f"{one.confidence_score:.2f}", one.status, one.domain, one.title[:60])


def _decide(candidate_id: UUID, act: Act, as_json: bool) -> None:
    async def decide(connection: Connection) -> Candidate:
        return await act(connection, await rows.get(connection, candidate_id))

    found = run(transact(decide))
    say(f"{found.url} is {found.status}.")
    if as_json:
        print_json(found)
