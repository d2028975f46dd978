"""`messor audit`: check from the logs that the crawler kept to its rules.

`messor audit politeness --json` prints one object:

- `domain`, `since`: the filters given, or null.
- `verdict`: one sentence. `clean`: whether nothing was found.
- `tolerance_ms`: `within_visit`, `across_visits`: how far below the delay a gap may be.
- `totals`: `lanes`; `requests` = all rows; `gaps` = requests whose gap was checked;
  `unpaced` = sent where no delay was configured; `unanswered` = possibly never sent, gap not
  checked; `unknown_robots` = page or robots.txt version is gone, not checked again; `found` =
  findings by kind: `early`, `robots`, `no_robots`, `not_approved`, `retry_after`, `critical`.
- `histogram`: `from`, `to` (null: open), `gaps`: gaps divided by the required delay.
- `lanes`, the worst first: `host`, `requests`, `pace` (judged, no delay asked, nothing to
  compare), `gaps`, `unpaced`, `unanswered`, `found`, `smallest` (null or `gap_ms`, `due_ms`,
  `ratio`, `at`, `url`), `robots`: the versions in force, each with `robots_id`, `read_at`,
  `first` and `last` request, `requests`.
- `findings`: `kind`, `host`, `url` (null when the page is gone), `at`, `why`, `robots_id`; the
  first 1,000 by lane and time. `unlisted`: how many more there are.

`messor audit contract --json` prints one object: `contract`, `judged_at`, `window_hours`, `kept`,
`message`, and `checks`, each with `id`, `category`, `title`, `asks`, `state` (pass, fail, no data),
`figure`, `examined`, `broken`, `examples`, `newest` (the newest run examined) and `sql`, the
statement it was computed with.

`messor audit records --json` prints one object: `records`, `clean`, `verdict` (one sentence), and
`checks`, each with `id`, `title`, `asks`, `state` (pass, fail, no data), `examined`, `broken` and
`examples`.

Times are ISO 8601, in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from messor.archive.storage import Archive
from messor.cli.audit_ledger import ledger
from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import AuditFailedError, UsageError
from messor.ops import chart, contract, politeness, record_audit
from messor.ops.report import LaneReport, PolitenessReport
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.session import open_session

HEAD = ("lane", "requests", "smallest gap", "required", "ratio", "early", "other", "robots.txt")
CONTRACT_HEAD = ("check", "state", "title", "figure")
RECORDS_HEAD = ("check", "state", "title", "examined", "broken")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
PROGRESS_EVERY = 100_000  # rows

_AGO = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)


@click.group()
def audit() -> None:
    """Verify from the logs that the crawler followed its rules.

    \b
    Example:
      messor audit politeness --since 24h
    """


audit.add_command(ledger)


@audit.command(name="politeness")
@click.option("--domain", help="Only this domain's lanes.")
@click.option("--since", help="Start: 24h, 7d, 90m or 2w ago, a date (2026-11-01) or a UTC time.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a chart to this SVG file.",
)
@json_option
def politeness_(domain: str | None, since: str | None, svg: Path | None, as_json: bool) -> None:
    """Check every logged request: delay, robots.txt, approval, Retry-After, risk.

    Exits with 8 when a request broke a rule.

    \b
    Example:
      messor audit politeness --since 24h
      messor audit politeness --domain foodbank.org --svg politeness.svg
      messor audit politeness --json -o politeness.json
    """
    begin = parse_since(since, datetime.now(UTC))
    report = run(_audit(domain, begin))
    if svg is not None:
        _write(svg, chart.draw(report))
    if as_json:
        tolerance = {"within_visit": politeness.WITHIN_MS, "across_visits": politeness.ACROSS_MS}
        print_json({"tolerance_ms": tolerance, **report.as_dict()})
    else:
        _print(report)
    if not report.is_clean:
        raise AuditFailedError(report.verdict)


@audit.command(name="contract")
@click.option("--within", default="7d", show_default=True, help="Time window: 24h, 7d, 2w.")
@json_option
def contract_(within: str, as_json: bool) -> None:
    """Run all checks of the behaviour contract on the stored evidence.

    Exits with 8 when a check fails. The console itself checks the mode selector.

    \b
    Example:
      messor audit contract
      messor audit contract --within 24h --json
    """
    now = datetime.now(UTC)
    begin = parse_since(within, now)
    assert begin is not None
    report = run(_audit_contract(now - begin))
    if as_json:
        print_json(report.as_dict())
    else:
        rows = [(v.check.id, v.state, v.check.title, v.figure) for v in report.verdicts]
        print_table(CONTRACT_HEAD, rows)
        for verdict in report.verdicts:
            for example in verdict.found.examples:
                emit(f"{verdict.check.id}  {example}")
        emit(report.message)
    if not report.is_kept:
        raise AuditFailedError(report.message)


@audit.command(name="records")
@click.option(
    "--sample",
    default=record_audit.SAMPLE,
    show_default=True,
    type=click.IntRange(0, 100_000),
    help="Number of records whose quotes are checked against the archive.",
)
@json_option
def records_(sample: int, as_json: bool) -> None:
    """Check all records: complete, backed by evidence, and showing the latest price.

    Exits with 8 when a check fails.

    \b
    Example:
      messor audit records
      messor audit records --sample 5000 --json
    """
    report = run(_audit_records(sample))
    if as_json:
        print_json(report.as_dict())
    else:
        rows = [(v.check.id, v.state, v.check.title, v.examined, v.broken) for v in report.verdicts]
        print_table(RECORDS_HEAD, rows)
        for verdict in report.verdicts:
            for example in verdict.examples:
                emit(f"{verdict.check.id}  {example}")
        emit(report.message)
    if not report.is_clean:
        raise AuditFailedError(report.message)


async def _audit_records(sample: int) -> record_audit.RecordReport:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        return await record_audit.audit(
            session.database,
            Archive.of(settings),
            sample=sample,
            progress=lambda records: say(f"{records:,} records checked …"),
        )


async def _audit_contract(window: timedelta) -> contract.ContractReport:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        return await contract.audit(session.database, agent=settings.agent_token, window=window)


def parse_since(text: str | None, now: datetime) -> datetime | None:
    """Parse an age ("24h") or an ISO time; UTC unless it has an offset."""
    if text is None:
        return None
    text = text.strip()
    ago = _AGO.fullmatch(text)
    try:
        if ago:
            return now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--since {text[:50]!r} is not a time; use 24h, 7d, 2026-11-01 or 2026-11-01T12:00."
        ) from error
    if moment > now:
        raise UsageError(f"--since {text[:50]!r} is in the future.")
    return moment


async def _audit(domain: str | None, since: datetime | None) -> PolitenessReport:
    settings = Settings()
    name = Submission.understand(domain).domain if domain is not None else None
    async with open_session(settings, pool_size=2) as session:
        found = await registry.get(session.database, name) if name else None
        return await politeness.audit(
            session.database,
            agent=settings.agent_token,
            domain=found,
            since=since,
            progress=_show_progress,
        )


def _show_progress(rows: int) -> None:
    if rows % PROGRESS_EVERY == 0:
        say(f"{rows:,} requests read …")


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}") from error


def _print(report: PolitenessReport) -> None:
    if report.lanes:
        total = ("total", report.requests, None, None, None, report.found["early"],
                 report.found.total() - report.found["early"], None)  # fmt: skip
        print_table(HEAD, [*(_row(lane) for lane in report.lanes), total])
        emit("")
    for finding in report.findings:
        emit(f"{finding.at:%Y-%m-%d %H:%M:%S.%f} {finding.kind:12} {finding.url or finding.host}")
        emit(f"    {finding.why}")
    if report.unlisted:
        emit(f"… and {report.unlisted:,} more.")
    for remark in _remarks(report):
        emit(remark)
    emit(report.verdict)


def _remarks(report: PolitenessReport) -> Iterator[str]:
    """Yield notes on what was not checked, and on the tolerance."""
    if report.unanswered:
        yield (
            f"{report.unanswered:,} requests got no response and may never have been sent; "
            "their gaps are not checked."
        )
    if report.unknown_robots:
        yield (
            f"{report.unknown_robots:,} requests were not checked against robots.txt: "
            "the page or the robots.txt version is gone."
        )
    if report.lanes:
        yield _tolerance()


def _tolerance() -> str:
    return (
        f"Early means more than {politeness.WITHIN_MS:.0f} ms too soon within a visit, or "
        f"{politeness.ACROSS_MS:.0f} ms across visits, whose times are recorded at the flush."
    )


def _row(lane: LaneReport) -> tuple[object, ...]:
    gap = lane.smallest
    pause = (f"{gap.gap_ms:,.0f} ms", f"{gap.due_ms:,.0f} ms", f"{gap.ratio:.2f}") if gap else (lane.pace, None, None)  # fmt: skip
    return (lane.host, lane.requests, *pause, lane.early, lane.wrong, _robots(lane))


def _robots(lane: LaneReport) -> str | None:
    """Describe the newest robots.txt version and count the earlier ones."""
    if not lane.robots:
        return None
    newest = lane.robots[-1]
    read = f" of {newest.read_at:%Y-%m-%d %H:%M:%S}" if newest.read_at else ""
    before = f", {len(lane.robots) - 1} earlier" if len(lane.robots) > 1 else ""
    return f"{newest.robots_id}{read}{before}"
