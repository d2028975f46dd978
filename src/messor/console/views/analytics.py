"""Analytics: ready questions with their charts, the tables, and SQL."""

from __future__ import annotations

from datetime import UTC, datetime

from starlette.responses import Response

from messor.access.roles import Act
from messor.analytics import jobs
from messor.analytics.answers import MAX_DAYS, Answered, labels_of, rows_of, series_of
from messor.analytics.queried import query
from messor.analytics.questions import QUESTIONS, AnswerScope, ReadyQuestion, question_of
from messor.console import charts
from messor.console.call import ConsoleRequest
from messor.console.charts import Axis, Bars, Curves
from messor.console.screens import get, post
from messor.errors import ConflictError, UnavailableError, UsageError

PATH = "/analytics"
SQL_PATH = "/analytics/sql"
SHOWN = 200  # rows of an answer on a screen
CURVES, BARS = 6, 20
EXAMPLE = "SELECT domain, count(*) AS products FROM products GROUP BY domain ORDER BY 2 DESC"


async def show(call: ConsoleRequest) -> Response:
    """The questions, and the tables with how far they are."""
    store, wrong = None, ""
    try:
        store = await call.context.analytics.status()
    except UnavailableError as error:
        wrong = str(error)
    return await call.page("analytics/index.html", questions=QUESTIONS, store=store, wrong=wrong)


async def ask(call: ConsoleRequest) -> Response:
    """One question for the scope of the form."""
    question = question_of(call.part("question"))
    given = {name: call.query(name).strip() for name in ("days", "domain", "category")}
    found, wrong, status = None, "", 200
    try:
        found = await call.context.analytics.ask(question.name, _scope(question, given))
    except ConflictError as error:  # there are no tables yet
        wrong = str(error)
    except (UsageError, UnavailableError) as error:
        wrong, status = str(error), 422
    return await call.page(
        "analytics/answer.html",
        status=status,
        question=question,
        questions=QUESTIONS,
        given=given,
        wrong=wrong,
        rows=[] if found is None else rows_of(found.answer)[:SHOWN],
        total=0 if found is None else len(found.answer.rows),
        curves=None if found is None else _curves(found),
        bars=None if found is None else _bars(found),
    )


async def show_sql(call: ConsoleRequest) -> Response:
    return await call.page("analytics/sql.html", sql=EXAMPLE, answer=None, wrong="", shown=SHOWN)


async def run_sql(call: ConsoleRequest) -> Response:
    """Run SQL; the statement stays in its field whatever comes of it."""
    sql = call.form.text("sql")
    answer, wrong, status = None, "", 200
    try:
        answer = await query(
            call.context.database, call.context.analytics, sql, actor=call.actor, rows=SHOWN
        )
    except (UsageError, ConflictError, UnavailableError) as error:
        wrong, status = str(error), 422
    return await call.page(
        "analytics/sql.html", status=status, sql=sql, answer=answer, wrong=wrong, shown=SHOWN
    )


async def bring_up_to_date(call: ConsoleRequest) -> Response:
    async with call.context.database.transaction() as connection:
        new = await jobs.ask(connection)
    return call.go(
        PATH, "A run was requested." if new else "This hour's run was requested already."
    )


def _scope(question: ReadyQuestion, given: dict[str, str]) -> AnswerScope:
    days = given["days"] or "90"
    if not (days.isascii() and days.isdigit() and 1 <= int(days[:6]) <= MAX_DAYS):
        raise UsageError(f"Days are 1 to {MAX_DAYS:,}.")
    limits = {
        name: given[name] or None if name in question.takes else None
        for name in ("domain", "category")
    }
    return AnswerScope(datetime.now(UTC), int(days), limits["domain"], limits["category"])


def _curves(found: Answered) -> Curves | None:
    """A line for each of the groups with the most values."""
    chart = found.question.chart
    if chart.form != "lines" or not found.answer.rows or chart.over is None:
        return None
    ends = [end.replace(tzinfo=None) for end in found.scope.ends()]
    rows: dict[str, list[float | None]] = {}
    for label, group in series_of(found, CURVES):
        known = {row[chart.over].replace(tzinfo=None): row[chart.value] for row in group}
        rows[label] = [_number(known.get(end)) for end in ends]
    top = max((value for values in rows.values() for value in values if value), default=0.0) or 1.0
    axis = Axis(top, 0.0, f"{top:,.2f}", "0")
    summary = f"{found.question.title}: {', '.join(rows)}"
    return charts.curves(rows, [f"{end:%Y-%m-%d}" for end in ends], axis, summary)


def _bars(found: Answered) -> Bars | None:
    """A bar for each of the first rows; values are drawn in thousandths of the greatest."""
    chart = found.question.chart
    if chart.form != "bars":
        return None
    rows = [row for row in rows_of(found.answer) if row[chart.value]][:BARS]
    top = max((float(row[chart.value]) for row in rows), default=0.0)
    if not rows or top <= 0:
        return None
    drawn = [
        (
            f"{labels_of(found.question, row)}: {float(row[chart.value]):,.4g}",
            {chart.value: max(round(1000 * float(row[chart.value]) / top), 1)},
        )
        for row in rows
    ]
    summary = f"{found.question.title}: {'; '.join(label for label, _ in drawn)}"
    return charts.bars(drawn, {chart.value: "blue"}, summary)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


SCREENS = (
    get(PATH, Act.READ, show),
    post(f"{PATH}/sync", Act.SCHEDULE_CONTROL, bring_up_to_date),
    get(SQL_PATH, Act.DATA_EXPORT, show_sql),
    post(SQL_PATH, Act.DATA_EXPORT, run_sql),
    get(f"{PATH}/{{question}}", Act.READ, ask),
)
