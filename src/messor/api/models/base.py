"""What all models share: nothing unknown is taken in, nothing undeclared goes out."""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated, Self

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, model_validator

from messor.core.masking import mask

NO_NUL = r"^[^\x00]*$"
_TELLING = re.compile(r"error|reason|message|said|detail|refusal")
BIGGEST = 2**63 - 1


class In(BaseModel):
    """What a caller sends; a field that is not there is refused."""

    model_config = ConfigDict(extra="forbid")


class Out(BaseModel):
    """What is answered."""

    model_config = ConfigDict(from_attributes=True, extra="forbid")

    @model_validator(mode="after")
    def hide_secrets(self) -> Self:
        """Sentences about what went wrong may repeat an address with a password in it."""
        for name in _telling(type(self)):
            found = getattr(self, name)
            if found is not None:
                setattr(self, name, mask(found))
        return self


@cache
def _telling(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(name for name in model.model_fields if _TELLING.search(name))


def text(longest: int, shortest: int = 0) -> object:
    """A string that can be stored."""
    return Field(min_length=shortest, max_length=longest, pattern=NO_NUL)


Address = Annotated[str, text(8_000, 1)]
Reason = Annotated[str, text(2_000, 1)]
Context = Annotated[str, text(4_000)]
Name = Annotated[str, text(253, 1)]

BigId = Annotated[int, Path(ge=1, le=BIGGEST)]
DomainName = Annotated[
    str, Path(min_length=1, max_length=253, pattern=NO_NUL, description="Such as example.org")
]
