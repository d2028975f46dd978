"""Tables: calls of external models and what they cost."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from sqlalchemy.orm import Mapped

from messor.store.base import (
    Base,
    bigint,
    bigint_key,
    column,
    ctext,
    index,
    json,
    stored,
    utc,
    utc_now,
)


class AiUsageTable(Base):
    """Spending per cap; names no page, so purging one does not unspend it. Jobs: month 0001-01-01."""

    __tablename__ = "ai_usage"
    __table_args__ = stored(fillfactor=80)

    scope: Mapped[ctext] = column(key=True, check="scope IN ('domain', 'job', 'month')")
    key: Mapped[ctext] = column(key=True)
    month: Mapped[date] = column(key=True)
    calls: Mapped[bigint] = column(default="0")
    tokens: Mapped[bigint] = column(default="0", check="tokens >= 0")
    cost: Mapped[Decimal] = column(default="0", check="cost >= 0")
    used_at: Mapped[utc_now]


class AiCallTable(Base):
    """One question to a model; while `asked`, tokens and cost are what was set aside for it."""

    __tablename__ = "ai_calls"
    __table_args__ = (
        # The same question is put once at a time, and answered once.
        index("ai_calls_one_answer", "input_hash", "ending IN ('asked', 'answered')", unique=True),
        index("ai_calls_input", "input_hash, id DESC"),
        index("ai_calls_page", "page_id"),
        index("ai_calls_snapshot", "snapshot_id"),
        index("ai_calls_month", "month, domain"),
        # Whether a cap is reached by what was spent, or only by what calls under way have set aside.
        index("ai_calls_under_way", "month, domain", "ending = 'asked'"),
    )

    id: Mapped[bigint_key]
    # model, prompt version, schema, text
    input_hash: Mapped[bytes] = column(check="length(input_hash) = 32")
    purpose: Mapped[str]  # extract:offer,call_to_action or relevance:funding
    model: Mapped[str]
    prompt_version: Mapped[str]
    page_id: Mapped[bigint | None]
    snapshot_id: Mapped[bigint | None]
    domain: Mapped[ctext]
    job: Mapped[ctext]
    month: Mapped[date]  # it counts for
    ending: Mapped[str] = column(
        default="'asked'",
        check="ending IN ('asked', 'answered', 'refused', 'bad_answer', 'truncated', 'timed_out', "
        "'overloaded', 'unreachable', 'rejected', 'lost')",
    )
    detail: Mapped[str] = column(default="''")  # in a sentence, when it is not an answer
    tokens: Mapped[bigint]
    cost: Mapped[Decimal]
    prompt_tokens: Mapped[bigint | None]  # as the endpoint counted them
    completion_tokens: Mapped[bigint | None]
    answer: Mapped[json | None]
    unverified: Mapped[json] = column(default="'[]'")  # values that the page does not support
    asked_at: Mapped[utc_now]
    ended_at: Mapped[utc | None]
