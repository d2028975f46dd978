"""Ready questions: what each asks, its columns, how it is drawn, and its SQL over the tables.

The SQL is the same for every store but for what `dialects` names. Times are UTC; a period ends before
the next one begins, and the last one ends now. Medians are interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from messor.analytics.dialects import SqlDialect
from messor.errors import NotFoundError

PERIODS = 12
SHOWN = 500  # rows of an answer
OLD_HOURS = 168.0
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
READ = "('PENDING_REVIEW', 'IN_REVIEW', 'APPROVED', 'REJECTED')"
GOOD = "('ok', 'unchanged')"

Kind = Literal["text", "number", "share", "time"]


@dataclass(frozen=True, slots=True)
class AnswerScope:
    """What an answer is about: until when, how far back, and of which domain or category."""

    until: datetime
    days: int = 90
    domain: str | None = None
    category: str | None = None

    @property
    def since(self) -> datetime:
        return self.until - timedelta(days=self.days)

    def ends(self) -> list[datetime]:
        """The ends of the periods, oldest first."""
        length = timedelta(days=self.days) / PERIODS
        return [self.until - length * back for back in reversed(range(PERIODS))]


@dataclass(frozen=True, slots=True)
class Chart:
    """How an answer is drawn: bars by label, or a line over time for each label."""

    form: Literal["bars", "lines"]
    label: tuple[str, ...]  # columns
    value: str
    over: str | None = None  # the column with the time


@dataclass(frozen=True, slots=True)
class ReadyQuestion:
    """A ready question."""

    name: str
    title: str
    about: str
    columns: tuple[tuple[str, Kind], ...]
    chart: Chart
    sql: Callable[[SqlDialect, AnswerScope], str]
    takes: tuple[str, ...] = ("days", "domain")  # parts of the scope that matter


def _of_domain(d: SqlDialect, scope: AnswerScope, column: str) -> str:
    return f" AND {column} = {d.text(scope.domain)}" if scope.domain else ""


def _of_category(d: SqlDialect, scope: AnswerScope, column: str) -> str:
    return f" AND {column} = {d.text(scope.category)}" if scope.category else ""


def _price_trends(d: SqlDialect, scope: AnswerScope) -> str:
    """A price holds until the next one; it ends with the product.

    `nullif` makes the time one that may be missing, so that the last price has no end in ClickHouse.
    """
    ends = " UNION ALL ".join(f"SELECT {d.moment(end)} AS period_end" for end in scope.ends())
    return f"""
WITH periods AS ({ends}), spans AS (
  SELECT product_id, price, currency, seen_at,
         lead(nullif(seen_at, {d.moment(EPOCH)})) OVER (PARTITION BY product_id ORDER BY seen_at)
           AS ended_at
    FROM prices
), held AS (
  SELECT t.period_end AS period_end, p.category AS category, p.domain AS domain,
         s.currency AS currency, s.price AS price, s.product_id AS product_id
    FROM spans s CROSS JOIN periods t JOIN products p ON p.id = s.product_id
    LEFT JOIN records r ON r.id = p.record_id
   WHERE s.seen_at <= t.period_end AND s.price IS NOT NULL
     AND (s.ended_at IS NULL OR s.ended_at > t.period_end)
     AND (r.removed_at IS NULL OR r.removed_at > t.period_end)
     {_of_domain(d, scope, "p.domain")}{_of_category(d, scope, "p.category")}
)
SELECT period_end, category, domain, currency, count(*) AS products, min(price) AS lowest,
       {d.median("price")} AS median, max(price) AS highest
  FROM held GROUP BY period_end, category, domain, currency
 ORDER BY period_end, category, domain, currency LIMIT {SHOWN * PERIODS}"""


def _price_spread(d: SqlDialect, scope: AnswerScope) -> str:
    return f"""
SELECT category, currency, count(*) AS products, count(DISTINCT domain) AS shops, min(price) AS lowest,
       {d.median("price")} AS median, max(price) AS highest,
       (max(price) - min(price)) / nullif({d.median("price")}, 0) AS spread
  FROM products
 WHERE state = 'current' AND price IS NOT NULL
   {_of_domain(d, scope, "domain")}{_of_category(d, scope, "category")}
 GROUP BY category, currency ORDER BY products DESC, category, currency LIMIT {SHOWN}"""


def _change_rate(d: SqlDialect, scope: AnswerScope) -> str:
    since, until = d.moment(scope.since), d.moment(scope.until)
    return f"""
WITH looks AS (
  SELECT page_id, count(*) AS number FROM fetches
   WHERE outcome IN {GOOD} AND fetched_at > {since} AND fetched_at <= {until} GROUP BY page_id
), moved AS (
  SELECT page_id, count(*) AS number FROM page_changes
   WHERE state = 'changed' AND seen_at > {since} AND seen_at <= {until} GROUP BY page_id
)
SELECT p.domain AS domain, p.section AS section, count(*) AS pages,
       sum(coalesce(l.number, 0)) AS looks, sum(coalesce(m.number, 0)) AS changes,
       CAST(sum(coalesce(m.number, 0)) AS double precision)
         / nullif(sum(coalesce(l.number, 0)), 0) AS changed_share,
       CAST(sum(coalesce(m.number, 0)) AS double precision) * 30 / {scope.days} / count(*)
         AS changes_per_page_and_month
  FROM pages p LEFT JOIN looks l ON l.page_id = p.id LEFT JOIN moved m ON m.page_id = p.id
 WHERE 1 = 1{_of_domain(d, scope, "p.domain")}
 GROUP BY p.domain, p.section ORDER BY changes DESC, domain, section LIMIT {SHOWN}"""


def _freshness(d: SqlDialect, scope: AnswerScope) -> str:
    until = d.moment(scope.until)
    hours = f"({d.seconds(until)} - {d.seconds('l.last_read')}) / 3600"
    return f"""
WITH l AS (
  SELECT page_id, max(fetched_at) AS last_read FROM fetches
   WHERE outcome IN {GOOD} AND fetched_at <= {until} GROUP BY page_id
), ages AS (
  SELECT p.domain AS domain, {hours} AS hours FROM pages p JOIN l ON l.page_id = p.id
   WHERE 1 = 1{_of_domain(d, scope, "p.domain")}
)
SELECT domain, count(*) AS pages, {d.median("hours")} AS median_hours,
       {d.percentile("hours", 0.9)} AS ninth_decile_hours,
       CAST(count(*) FILTER (WHERE hours > {OLD_HOURS}) AS double precision) / count(*)
         AS older_than_a_week
  FROM ages GROUP BY domain ORDER BY median_hours DESC, domain LIMIT {SHOWN}"""


def _coverage(d: SqlDialect, scope: AnswerScope) -> str:
    return f"""
SELECT c.domain AS domain, c.day AS day, c.known AS known, c.listed AS listed,
       c.expected AS expected, c.read AS read, c.failed AS failed,
       CAST(c.read AS double precision) / nullif(c.expected, 0) AS read_share
  FROM coverage c JOIN (SELECT domain, max(day) AS day FROM coverage
                         WHERE day <= {d.moment(scope.until)} GROUP BY domain) n
    ON n.domain = c.domain AND n.day = c.day
 WHERE c.expected > 0{_of_domain(d, scope, "c.domain")}
 ORDER BY expected DESC, domain LIMIT {SHOWN}"""


def _cost(d: SqlDialect, scope: AnswerScope) -> str:
    """A record is its page's last provider's; a model's are those of pages that it was asked about."""
    since, until = d.moment(scope.since), d.moment(scope.until)
    within = f"fetched_at > {since} AND fetched_at <= {until}{_of_domain(d, scope, 'domain')}"
    asked = f"asked_at > {since} AND asked_at <= {until}{_of_domain(d, scope, 'domain')}"
    return f"""
WITH good AS (
  SELECT page_id, provider, row_number() OVER (PARTITION BY page_id ORDER BY fetched_at DESC, id DESC) AS place
    FROM fetches WHERE outcome IN {GOOD} AND {within}
), kept AS (
  SELECT page_id, count(*) AS records FROM records WHERE state = 'current' GROUP BY page_id
), found AS (
  SELECT g.provider AS provider, sum(k.records) AS records
    FROM good g JOIN kept k ON k.page_id = g.page_id WHERE g.place = 1 GROUP BY g.provider
), modelled AS (
  SELECT a.model AS model, sum(k.records) AS records
    FROM (SELECT DISTINCT model, page_id FROM model_calls WHERE ending = 'answered' AND {asked}) a
    JOIN kept k ON k.page_id = a.page_id GROUP BY a.model
), spent AS (
  SELECT 'fetch' AS kind, provider AS provider, count(*) AS requests,
         coalesce(sum(cost), 0) AS cost FROM fetches WHERE {within} GROUP BY provider
  UNION ALL
  SELECT 'model' AS kind, model AS provider, count(*) AS requests, coalesce(sum(cost), 0) AS cost
    FROM model_calls WHERE {asked} GROUP BY model
)
SELECT s.kind AS kind, s.provider AS provider, s.requests AS requests, s.cost AS cost,
       coalesce(f.records, m.records, 0) AS records,
       s.cost / nullif(coalesce(f.records, m.records), 0) AS cost_per_record
  FROM spent s LEFT JOIN found f ON f.provider = s.provider AND s.kind = 'fetch'
  LEFT JOIN modelled m ON m.model = s.provider AND s.kind = 'model'
 ORDER BY cost DESC, kind, provider LIMIT {SHOWN}"""


def _politeness(d: SqlDialect, scope: AnswerScope) -> str:
    since, until = d.moment(scope.since), d.moment(scope.until)
    return f"""
SELECT domain, count(*) AS requests,
       CAST(count(*) FILTER (WHERE waited_ms < delay_ms) AS double precision) / count(*) AS early_share,
       {d.median("waited_ms")} AS median_wait_ms, min(waited_ms) AS shortest_wait_ms,
       {d.median("delay_ms")} AS median_delay_ms,
       count(*) FILTER (WHERE status_code IN (429, 503)) AS told_to_wait,
       count(*) FILTER (WHERE outcome = 'blocked') AS blocked
  FROM fetches
 WHERE fetched_at > {since} AND fetched_at <= {until}{_of_domain(d, scope, "domain")}
 GROUP BY domain ORDER BY requests DESC, domain LIMIT {SHOWN}"""


def _funnel(d: SqlDialect, scope: AnswerScope) -> str:
    """Each step counts what came that far, so no step exceeds the one before it within candidates."""
    since, until = d.moment(scope.since), d.moment(scope.until)
    seen = f"captured_at > {since} AND captured_at <= {until}"
    made = f"created_at > {since} AND created_at <= {until}{_of_domain(d, scope, 'domain')}"
    steps = (
        ("keywords", f"count(DISTINCT keyword_id) AS number FROM serps WHERE {seen}"),
        ("result pages", f"count(*) AS number FROM serps WHERE outcome <> 'failed' AND {seen}"),
        ("results", f"coalesce(sum(results), 0) AS number FROM serps WHERE {seen}"),
        ("candidates", f"count(*) AS number FROM candidates WHERE {made}"),
        (
            "promising",
            f"count(*) AS number FROM candidates WHERE status <> 'SKIPPED_LOW_CONFIDENCE' AND {made}",
        ),
        (
            "read",
            f"count(*) AS number FROM candidates WHERE status IN {READ} AND {made}",
        ),
        (
            "reviewed",
            f"count(*) AS number FROM candidates WHERE status IN ('APPROVED', 'REJECTED') AND {made}",
        ),
        ("approved", f"count(*) AS number FROM candidates WHERE status = 'APPROVED' AND {made}"),
    )
    parts = " UNION ALL ".join(
        f"SELECT vertical, {place} AS place, '{name}' AS step, {counted} GROUP BY vertical"
        for place, (name, counted) in enumerate(steps, 1)
    )
    return f"""
SELECT vertical, step, number FROM ({parts}) t ORDER BY vertical, place LIMIT {SHOWN}"""


def _review_time(d: SqlDialect, scope: AnswerScope) -> str:
    since, until = d.moment(scope.since), d.moment(scope.until)
    hours = f"({d.seconds('reviewed_at')} - {d.seconds('created_at')}) / 3600"
    both = " UNION ALL ".join(
        f"""SELECT '{kind}' AS kind, vertical AS vertical, created_at AS created_at,
                   reviewed_at AS reviewed_at, {waits} AS is_waiting FROM {table}
             WHERE created_at <= {until}{_of_domain(d, scope, "domain")}"""
        for kind, table, waits in (
            ("domain", "domains", "CASE WHEN status = 'pending_review' THEN 1 ELSE 0 END"),
            (
                "candidate",
                "candidates",
                "CASE WHEN status IN ('PENDING_REVIEW', 'IN_REVIEW') THEN 1 ELSE 0 END",
            ),
        )
    )
    return f"""
WITH t AS ({both}), timed AS (
  SELECT kind, vertical, is_waiting,
         CASE WHEN reviewed_at > {since} AND reviewed_at <= {until} AND reviewed_at >= created_at
              THEN {hours} END AS hours
    FROM t
)
SELECT kind, vertical, count(hours) AS decided, {d.median("hours")} AS median_hours,
       {d.percentile("hours", 0.9)} AS ninth_decile_hours, sum(is_waiting) AS waiting
  FROM timed GROUP BY kind, vertical HAVING count(hours) > 0 OR sum(is_waiting) > 0
 ORDER BY kind, vertical LIMIT {SHOWN}"""


_ALL = (
    ReadyQuestion(
        name="price-trends",
        title="Price trends",
        about="median price of all products of a category and shop, over 12 periods",
        columns=(
            ("period_end", "time"),
            ("category", "text"),
            ("domain", "text"),
            ("currency", "text"),
            ("products", "number"),
            ("lowest", "number"),
            ("median", "number"),
            ("highest", "number"),
        ),
        chart=Chart("lines", ("category", "domain", "currency"), "median", over="period_end"),
        sql=_price_trends,
        takes=("days", "domain", "category"),
    ),
    ReadyQuestion(
        name="price-spread",
        title="Price spread",
        about="lowest, median and highest price of a category now, and their distance",
        columns=(
            ("category", "text"),
            ("currency", "text"),
            ("products", "number"),
            ("shops", "number"),
            ("lowest", "number"),
            ("median", "number"),
            ("highest", "number"),
            ("spread", "share"),
        ),
        chart=Chart("bars", ("category", "currency"), "spread"),
        sql=_price_spread,
        takes=("domain", "category"),
    ),
    ReadyQuestion(
        name="change-rate",
        title="Change rate",
        about="how often pages of a section change, of those that were looked at",
        columns=(
            ("domain", "text"),
            ("section", "text"),
            ("pages", "number"),
            ("looks", "number"),
            ("changes", "number"),
            ("changed_share", "share"),
            ("changes_per_page_and_month", "number"),
        ),
        chart=Chart("bars", ("domain", "section"), "changes_per_page_and_month"),
        sql=_change_rate,
    ),
    ReadyQuestion(
        name="freshness",
        title="Freshness",
        about="how long ago pages were last read",
        columns=(
            ("domain", "text"),
            ("pages", "number"),
            ("median_hours", "number"),
            ("ninth_decile_hours", "number"),
            ("older_than_a_week", "share"),
        ),
        chart=Chart("bars", ("domain",), "median_hours"),
        sql=_freshness,
        takes=("domain",),
    ),
    ReadyQuestion(
        name="coverage",
        title="Coverage",
        about="pages read, of those that a site lists or that are known of it",
        columns=(
            ("domain", "text"),
            ("day", "time"),
            ("known", "number"),
            ("listed", "number"),
            ("expected", "number"),
            ("read", "number"),
            ("failed", "number"),
            ("read_share", "share"),
        ),
        chart=Chart("bars", ("domain",), "read_share"),
        sql=_coverage,
        takes=("domain",),
    ),
    ReadyQuestion(
        name="cost",
        title="Cost",
        about="cost per record, by provider and model",
        columns=(
            ("kind", "text"),
            ("provider", "text"),
            ("requests", "number"),
            ("cost", "number"),
            ("records", "number"),
            ("cost_per_record", "number"),
        ),
        chart=Chart("bars", ("provider",), "cost_per_record"),
        sql=_cost,
    ),
    ReadyQuestion(
        name="politeness",
        title="Politeness",
        about="pauses between requests, and what sites said of them",
        columns=(
            ("domain", "text"),
            ("requests", "number"),
            ("early_share", "share"),
            ("median_wait_ms", "number"),
            ("shortest_wait_ms", "number"),
            ("median_delay_ms", "number"),
            ("told_to_wait", "number"),
            ("blocked", "number"),
        ),
        chart=Chart("bars", ("domain",), "median_wait_ms"),
        sql=_politeness,
    ),
    ReadyQuestion(
        name="funnel",
        title="Funnel",
        about="from keywords to approved programs",
        columns=(("vertical", "text"), ("step", "text"), ("number", "number")),
        chart=Chart("bars", ("vertical", "step"), "number"),
        sql=_funnel,
    ),
    ReadyQuestion(
        name="review-time",
        title="Time to review",
        about="from submission or discovery to the decision, and what waits",
        columns=(
            ("kind", "text"),
            ("vertical", "text"),
            ("decided", "number"),
            ("median_hours", "number"),
            ("ninth_decile_hours", "number"),
            ("waiting", "number"),
        ),
        chart=Chart("bars", ("kind", "vertical"), "median_hours"),
        sql=_review_time,
    ),
)
QUESTIONS: Mapping[str, ReadyQuestion] = {question.name: question for question in _ALL}


def question_of(name: str) -> ReadyQuestion:
    """The question of a name; raises if there is none."""
    if name not in QUESTIONS:
        raise NotFoundError(
            f"There is no question {name[:60]!r}; choose from: {', '.join(QUESTIONS)}."
        )
    return QUESTIONS[name]
