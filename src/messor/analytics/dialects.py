"""What the stores' SQL has in its own words: the questions are written once, over these."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol


class SqlDialect(Protocol):
    """Functions that each store names differently."""

    def median(self, value: str) -> str: ...

    def percentile(self, value: str, part: float) -> str: ...

    def seconds(self, moment: str) -> str:
        """A time as seconds since 1970."""

    def moment(self, moment: datetime) -> str:
        """A time as a literal."""

    def text(self, value: str) -> str:
        """A text as a literal."""


def _micros(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


class DuckDialect:
    """DuckDB's."""

    def median(self, value: str) -> str:
        return self.percentile(value, 0.5)

    def percentile(self, value: str, part: float) -> str:
        return f"quantile_cont({value}, {part})"

    def seconds(self, moment: str) -> str:
        return f"epoch({moment})"

    def moment(self, moment: datetime) -> str:
        return f"TIMESTAMPTZ '{_micros(moment)}+00'"

    def text(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"


class ClickHouseDialect:
    """ClickHouse's."""

    def median(self, value: str) -> str:
        return self.percentile(value, 0.5)

    def percentile(self, value: str, part: float) -> str:
        return f"quantileExactInclusive({part})({value})"

    def seconds(self, moment: str) -> str:
        return f"toUnixTimestamp64Micro({moment}) / 1e6"

    def moment(self, moment: datetime) -> str:
        return f"toDateTime64('{_micros(moment)}', 6, 'UTC')"

    def text(self, value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
