"""`messor audit`: whether what was done kept to what was asked for, read from the logs.

`messor audit politeness --json` prints one object:

- `domain`, `since`: what was asked for, or null.
- `verdict`: one sentence. `clean`: whether nothing was found.
- `tolerance_ms`: `within_visit`, `across_visits`: how much less than the delay is forgiven.
- `totals`: `lanes`; `requests` = all rows; `gaps` = those judged for the pause before them;
  `unpaced` = sent where no delay was asked for; `unanswered` = may not have gone out, not judged
  for a gap; `unknown_robots` = page or robots.txt is gone, not asked again; `found` = how many
  findings of each kind: `early`, `robots`, `no_robots`, `not_approved`, `retry_after`, `critical`.
- `histogram`: `from`, `to` (null: no end), `gaps`: all gaps divided by the delay due.
- `lanes`, the worst first: `host`, `requests`, `pace` (judged, no delay asked, nothing to
  compare), `gaps`, `unpaced`, `unanswered`, `found`, `smallest` (null or `gap_ms`, `due_ms`,
  `ratio`, `at`, `url`), `robots`: the versions in force, each with `robots_id`, `read_at`,
  `first` and `last` request, `requests`.
- `findings`: `kind`, `host`, `url` (null when the page is gone), `at`, `why`, `robots_id`; the
  first 1,000 by lane and time. `unlisted`: how many more there are.

`messor audit contract --json` prints one object: `contract`, `judged_at`, `window_hours`, `kept`,
`said`, and `checks`, each with `id`, `category`, `title`, `asks`, `state` (pass, fail, no data),
`figure`, `examined`, `broken`, `examples`, `newest` (the newest run it looked at) and `sql`, the
statement that proves it.

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

from messor.cli.output import emit, json_option, print_json, print_table, run
from messor.core.terminal import say
from messor.errors import ImpoliteError, UsageError
from messor.ops import chart, contract, politeness, record_audit
from messor.ops.report import LaneReport, PolitenessReport
from messor.registry import domains as registry
from messor.registry.domains import Submission
from messor.settings import Settings
from messor.store.session import open_session

HEAD = ("lane", "requests", "smallest gap", "due", "ratio", "early", "other", "robots in force")
CONTRACT_HEAD = ("check", "state", "what", "figure")
RECORDS_HEAD = ("check", "state", "what", "examined", "broken")
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
TELL_EVERY = 100_000  # rows

_AGO = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)


@click.group()
def audit() -> None:
    """Check from the logs that what was done kept to what was asked for.

    \b
    Example:
      messor audit politeness --since 24h
    """


@audit.command(name="politeness")
@click.option("--domain", help="Only this domain's lanes.")
@click.option("--since", help="24h, 7d, 90m, 2w, a date (2026-11-01) or a time in UTC.")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Draw a picture, too.")
@json_option
def politeness_(domain: str | None, since: str | None, svg: Path | None, as_json: bool) -> None:
    """Judge every request in the log: its pause, robots.txt, approval, Retry-After, risk.

    Exits with 8 when a request should not have happened.

    \b
    Example:
      messor audit politeness --since 24h
      messor audit politeness --domain foodbank.org --svg politeness.svg
      messor audit politeness --json -o politeness.json
    """
    begin = understand_since(since, datetime.now(UTC))
    report = run(_audit(domain, begin))
    if svg is not None:
        _write(svg, chart.draw(report))
    if as_json:
        tolerance = {"within_visit": politeness.WITHIN_MS, "across_visits": politeness.ACROSS_MS}
        print_json({"tolerance_ms": tolerance, **report.as_dict()})
    else:
        _print(report)
    if not report.is_clean:
        raise ImpoliteError(report.verdict)


@audit.command(name="contract")
@click.option("--within", default="7d", show_default=True, help="How far back: 24h, 7d, 2w.")
@json_option
def contract_(within: str, as_json: bool) -> None:
    """Ask every check of the behaviour contract of the stored evidence.

    Exits with 8 when one fails. The mode selector is the console's, which judges it itself.

    \b
    Example:
      messor audit contract
      messor audit contract --within 24h --json
    """
    now = datetime.now(UTC)
    begin = understand_since(within, now)
    assert begin is not None
    report = run(_ask_contract(now - begin))
    if as_json:
        print_json(report.as_dict())
    else:
        rows = [(v.check.id, v.state, v.check.title, v.figure) for v in report.verdicts]
        print_table(CONTRACT_HEAD, rows)
        for verdict in report.verdicts:
            for example in verdict.found.examples:
                emit(f"{verdict.check.id}  {example}")
        emit(report.said)
    if not report.is_kept:
        raise ImpoliteError(report.said)


@audit.command(name="records")
@click.option(
    "--sample",
    default=record_audit.SAMPLE,
    show_default=True,
    type=click.IntRange(0, 100_000),
    help="Records whose quotes are looked for in the archive.",
)
@json_option
def records_(sample: int, as_json: bool) -> None:
    """Judge all records: whether they are whole, proven, and prices the newest of their history.

    Exits with 8 when something is broken.

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
        emit(report.said)
    if not report.is_clean:
        raise ImpoliteError(report.said)


async def _audit_records(sample: int) -> record_audit.RecordReport:
    settings = Settings()
    async with open_session(settings, pool_size=1) as session:
        return await record_audit.audit(
            session.database,
            settings.data_dir / "archive",
            sample=sample,
            progress=lambda records: say(f"{records:,} records judged …"),
        )


async def _ask_contract(window: timedelta) -> contract.ContractReport:
    settings = Settings()
    async with open_session(settings, pool_size=2) as session:
        return await contract.audit(session.database, agent=settings.agent_token, window=window)


def understand_since(text: str | None, now: datetime) -> datetime | None:
    """A time from how long ago it was, or as it is written; in UTC unless it says otherwise."""
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
            f"--since {text[:50]!r} is not a time: give 24h, 7d, 2026-11-01 or 2026-11-01T12:00."
        ) from error
    if moment > now:
        raise UsageError(f"--since {text[:50]!r} lies in the future.")
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
            progress=_tell,
        )


def _tell(rows: int) -> None:
    if rows % TELL_EVERY == 0:
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
    """How it was judged, and what could not be."""
    if report.unanswered:
        yield (
            f"{report.unanswered:,} attempts got no answer and may not have gone out; "
            "their gaps are not judged."
        )
    if report.unknown_robots:
        yield (
            f"{report.unknown_robots:,} requests are not asked of robots.txt again: "
            "their page or its version is gone."
        )
    if report.lanes:
        yield _tolerance()


def _tolerance() -> str:
    return (
        f"Early is more than {politeness.WITHIN_MS:.0f} ms before its time within a visit, "
        f"{politeness.ACROSS_MS:.0f} ms across visits, whose times are stamped when they are flushed."
    )


def _row(lane: LaneReport) -> tuple[object, ...]:
    gap = lane.smallest
    pause = (f"{gap.gap_ms:,.0f} ms", f"{gap.due_ms:,.0f} ms", f"{gap.ratio:.2f}") if gap else (lane.pace, None, None)  # fmt: skip
    return (lane.host, lane.requests, *pause, lane.early, lane.wrong, _robots(lane))


def _robots(lane: LaneReport) -> str | None:
    """The newest version in force, and how many there were before."""
    if not lane.robots:
        return None
    newest = lane.robots[-1]
    read = f" of {newest.read_at:%Y-%m-%d %H:%M:%S}" if newest.read_at else ""
    before = f", {len(lane.robots) - 1} before" if len(lane.robots) > 1 else ""
    return f"{newest.robots_id}{read}{before}"
