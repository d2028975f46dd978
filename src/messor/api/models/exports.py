"""Bodies of export requests."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from messor.exports.formats import FORMATS
from messor.exports.nouns import NOUNS
from messor.rights.uses import ApprovedUse

ColumnName = Annotated[str, Field(pattern=r"^[a-z_]{1,60}$")]


class ExportBody(BaseModel):
    """The rows and columns of a list to export."""

    model_config = ConfigDict(extra="forbid")

    noun: Literal[tuple(NOUNS)] = Field(description="What to export")  # type: ignore[valid-type]
    format: Literal[tuple(FORMATS)] = Field(  # type: ignore[valid-type]
        default="jsonl", description="File format"
    )
    filters: dict[str, Any] = Field(
        default_factory=dict, max_length=50, description="Filters of the noun's list"
    )
    columns: list[ColumnName] = Field(
        default_factory=list, max_length=100, description="Columns in their order; empty: all"
    )
    bom: bool = Field(default=False, description="Begin a CSV file with a byte order mark")
    uses: list[ApprovedUse] = Field(
        default_factory=list,
        max_length=20,
        description="What it is for; empty: the uses of your key, else those that each domain is"
        " approved for",
    )


class ExportIn(ExportBody):
    """What to export."""

    since: str | None = Field(
        default=None,
        max_length=60,
        pattern=r"^[0-9A-Za-z:.+-]+$",
        description="Only what changed since an export (its id) or a time (ISO 8601, or 7d)",
    )


class StandingExportIn(ExportBody):
    """What a standing export exports."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="Its name and folder")
    cadence: str = Field(max_length=200, description="Cron fields in UTC, or @every 6h")
    place: str = Field(max_length=60, description="A place of MESSOR_EXPORT_PLACES")
    is_incremental: bool = Field(
        default=False, description="Only what changed since the last delivered export"
    )
