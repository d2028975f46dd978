"""`messor import`: turn saved pages into snapshots, without requests to their sites."""

from __future__ import annotations

import sys
from dataclasses import asdict
from io import BufferedReader
from pathlib import Path
from typing import Any

import click

from messor.cli.output import json_option, print_json, print_table, run
from messor.cli.session import LOCAL_ADMIN
from messor.core.terminal import say
from messor.errors import NoPagesError, UsageError
from messor.imports.import_run import ImportReport, import_pages
from messor.imports.sources import Source
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.session import open_session
from messor.web.urls import parse

HEAD = ("outcome", "file", "url", "reason")


@click.command(name="import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--url", help="URL of the page, or base URL of the folder.")
@click.option("--domain", "domains", multiple=True, help="Only pages of this domain; repeatable.")
@click.option("--approve", is_flag=True, help="Approve the domain given by --domain or --url.")
@json_option
def import_(
    paths: tuple[str, ...], url: str | None, domains: tuple[str, ...], approve: bool, as_json: bool
) -> None:
    """Import saved pages: HTML, MHTML, WARC and HAR files, and folders of them.

    No request is sent to the site. The URL is read from the saved page or given by --url; "-"
    reads one file from standard input. Pages of domains that are not approved are refused; with
    --approve the given domain is approved for its imported pages only.

    \b
    Example:
      messor import about.html --url https://example.org/about --approve
      messor import session.har crawl.warc.gz --domain example.org
      messor import mirror/ --url https://example.org/ --json
    """
    named = [Submission.understand(domain) for domain in domains]
    sources = _sources(paths, url)
    allowed = [*named, *([Submission.understand(url)] if url else [])]
    if approve and not allowed:
        raise UsageError("--approve requires --domain or --url to name the domain.")
    only = {submission.domain for submission in named}
    report = run(_import(sources, only, allowed if approve else []))
    _show(report, as_json)
    if not report.has_pages:
        raise NoPagesError(f"No page was imported: {_first_reason(report)}.")


def _sources(paths: tuple[str, ...], url: str | None) -> list[Source]:
    if url is not None and parse(url) is None:
        raise UsageError(f"{url[:200]!r} is not a URL such as https://example.org/page.")
    if url is not None and len(paths) > 1:
        raise UsageError("--url applies to one page or folder; give a single path.")
    return [
        Source(BufferedReader(sys.stdin.buffer), url, "stdin")  # type: ignore[arg-type]
        if path == "-"
        else Source(Path(path), url)
        for path in paths
    ]


async def _import(sources: list[Source], only: set[str], approve: list[Submission]) -> ImportReport:
    settings = Settings()
    async with open_session(settings) as session:
        return await import_pages(
            session.database,
            settings,
            sources,
            actor=LOCAL_ADMIN,
            only=only,
            approve=approve,
            progress=_progress_line if sys.stderr.isatty() else None,
        )


def _progress_line(report: ImportReport) -> None:
    click.echo(f"\r\x1b[K{_counts(report)}"[:160], nl=False, err=True)


def _counts(report: ImportReport) -> str:
    parts = [f"{count} {outcome}" for outcome, count in sorted(report.counts.items())]
    if report.passed_over:
        parts.append(f"{report.passed_over} skipped")
    return ", ".join(parts) or "nothing yet"


def _show(report: ImportReport, as_json: bool) -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    for warning in report.warnings:
        say(f"messor: {warning}")
    if as_json:
        print_json(_as_data(report))
        return
    print_table(HEAD, [(r.outcome, r.origin, r.url, r.reason) for r in report.results])
    say(f"Import finished: {_counts(report)}.")


def _as_data(report: ImportReport) -> dict[str, Any]:
    return {
        "counts": dict(report.counts),
        "passed_over": report.passed_over,
        "results": [asdict(result) for result in report.results],
        "warnings": report.warnings,
    }


def _first_reason(report: ImportReport) -> str:
    """Return the first reason for an import without any page."""
    for result in report.results:
        if result.reason:
            return f"{result.origin}: {result.reason}"
    return report.warnings[0] if report.warnings else "no page was found"
