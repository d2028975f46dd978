"""A service's response: its status, headers and JSON, read with a size limit and a type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")


@dataclass(frozen=True)
class ServiceResponse:
    """A service's response; `body` is decoded and within the cap."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_json(self) -> bool:
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        return kind == "application/json" or kind.endswith("+json")

    @cached_property
    def value(self) -> Any:
        """The JSON value, or None when there is none."""
        if not self.is_json:
            return None
        try:
            return self.read(Any)
        except (ValueError, RecursionError):
            return None

    def read(self, kind: type[T] | Any) -> T:
        """Parse the JSON into a type; unknown fields are ignored.

        Raises ValueError, or RecursionError for excessive nesting.
        """
        try:
            found: T = msgspec.json.decode(self.body, type=kind)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            # A lone surrogate, which JavaScript writes and this decoder rejects.
            found = msgspec.convert(json.loads(self.body), kind)
        return found
