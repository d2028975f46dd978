"""What `messor crawl` tells at its end: pages, records by kind, what was refused, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from messor.cli.output import print_table
from messor.core.plurals import counted
from messor.core.terminal import say
from messor.crawl.progress import Obstacle
from messor.records import queries
from messor.records.queries import RECORDS, ListedRecord, RecordFilter
from messor.registry.domains import Domain
from messor.store.database import Database

SAMPLES = 2  # records shown of each kind
MAX_TITLE = 60
_INCIDENTAL = frozenset(("image", "call_to_action"))  # on nearly every page; shown last


async def samples(database: Database, domain: Domain) -> list[dict[str, Any]]:
    """The number of records of each kind of a domain, and the newest ones."""
    found = []
    for kind in await queries.of_domain(database, domain.id):
        wanted = RecordFilter(domain=domain.domain, kind=kind.kind)
        page = await RECORDS.read(database, wanted, limit=SAMPLES)
        shown = [{"id": one.id, "title": _title(one), "url": one.url} for one in page.items]
        found.append({"kind": kind.kind, "records": kind.records, "samples": shown})
    return sorted(found, key=lambda one: one["kind"] in _INCIDENTAL)


def _title(record: ListedRecord) -> str:
    price, currency = record.data.get("price"), record.data.get("currency")
    stated = "" if price is None else f", {price:.2f} {currency or ''}".rstrip()
    return f"{record.title[:MAX_TITLE]}{stated}"


def show(summary: dict[str, Any], obstacles: Sequence[Obstacle]) -> None:
    """Print data to stdout, and hints to stderr."""
    print_table(("outcome", "pages"), list(summary["outcomes"].items()))
    kinds = summary.get("records")
    if kinds is None:
        return
    if kinds:
        rows = [
            (one["kind"] if place == 0 else "", one["records"] if place == 0 else "", shown["title"], shown["url"])
            for one in kinds
            for place, shown in enumerate(one["samples"])
        ]  # fmt: skip
        say("")
        print_table(("records", "count", "such as", "page"), rows)
    else:
        say("No records were found on these pages.")
    _tell_obstacles(obstacles)
    _tell_next(summary["domain"], obstacles, has_records=bool(kinds))


def _tell_obstacles(obstacles: Sequence[Obstacle]) -> None:
    if not obstacles:
        return
    say("\nWithout content:")
    for one in obstacles:
        say(f"  {counted(one.pages, 'page')} {_reason(one)}, such as {one.example}")


def _reason(obstacle: Obstacle) -> str:
    if not obstacle.is_denied:
        return obstacle.reason.replace("_", " ")
    rule, _, detail = obstacle.reason.partition(": ")
    return f"denied by {rule} ({detail})" if detail else f"denied by {rule}"


def _tell_next(domain: str, obstacles: Sequence[Obstacle], *, has_records: bool) -> None:
    say("\nNext:")
    if has_records:
        say(f"  messor records list --domain {domain}")
        say(f"  messor export records --domain {domain} -o {domain}.csv")
    else:
        say(f"  messor pages {domain}")
    say(f"  messor why {obstacles[0].example}" if obstacles else "  messor up")
