"""Base models: unknown input is rejected, undeclared output is dropped."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

NO_NUL = r"^[^\x00]*$"
BIGGEST = 2**63 - 1


class In(BaseModel):
    """A request body; unknown fields are rejected."""

    model_config = ConfigDict(extra="forbid")


class Out(BaseModel):
    """A response body."""

    model_config = ConfigDict(from_attributes=True, extra="forbid")


def text(max_length: int, min_length: int = 0) -> object:
    """A string that can be stored."""
    return Field(min_length=min_length, max_length=max_length, pattern=NO_NUL)


Address = Annotated[str, text(8_000, 1)]
Reason = Annotated[str, text(2_000, 1)]
Context = Annotated[str, text(4_000)]
Name = Annotated[str, text(253, 1)]

BigId = Annotated[int, Path(ge=1, le=BIGGEST)]
DomainName = Annotated[
    str, Path(min_length=1, max_length=253, pattern=NO_NUL, description="For example example.org")
]
