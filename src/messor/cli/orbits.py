"""`messor orbits`: orbits and the ingestions that filled them."""

from __future__ import annotations

from typing import Any

import click

from messor.cli.listing import list_options, show_list
from messor.ingest.queries import INGESTIONS, ORBITS, IngestionRun, ListedOrbit

EMPTY = "Fill one: messor crawl URL --mode standard"


@click.group()
def orbits() -> None:
    """List orbits and their ingestions.

    \b
    Example:
      messor orbits list
      messor orbits runs --outcome blocked
    """


@orbits.command(name="list")
@list_options(ORBITS)
def list_orbits(**given: Any) -> None:
    """List orbits with the state of their newest ingestion.

    \b
    Example:
      messor orbits list --q bakery
    """
    head = ("orbit", "domain", "tiles", "mode", "outcome", "started")
    show_list(ORBITS, given, head, _orbit_row, empty=f"No matching orbits. {EMPTY}")


@orbits.command()
@list_options(INGESTIONS)
def runs(**given: Any) -> None:
    """List ingestions, newest first.

    \b
    Example:
      messor orbits runs --orbit example-org --since 2026-11-01
    """
    head = ("trace", "orbit", "mode", "outcome", "planned", "fetched", "started")
    show_list(INGESTIONS, given, head, _run_row, empty=f"No matching ingestions. {EMPTY}")


def _orbit_row(one: ListedOrbit) -> tuple[Any, ...]:
    return (one.slug, one.domain, one.tiles, one.mode, one.outcome, one.started_at)


def _run_row(one: IngestionRun) -> tuple[Any, ...]:
    counts = (one.planned, one.fetched)
    return (one.trace_id, one.orbit_slug, one.mode, one.outcome, *counts, one.started_at)
