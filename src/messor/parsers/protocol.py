"""The parser protocol: a name, a version, the record kinds, and two methods on a page.

Built-in and third-party parsers follow the same protocol. A parser only reads; `validation` decides
which records are accepted, and `records.store` stores them.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol, runtime_checkable

from messor.content.records import Record
from messor.content.view import PageView


@runtime_checkable
class Parser(Protocol):
    """Extracts records from pages; stateless."""

    @property
    def name(self) -> str:
        """The same in all versions."""

    @property
    def version(self) -> str:
        """Must change whenever the same page may give other records."""

    @property
    def kinds(self) -> AbstractSet[str]:
        """The kinds of records it may return."""

    @property
    def is_generic(self) -> bool:
        """Whether it is not site-specific; site-specific parsers take precedence."""

    def accepts(self, page: PageView) -> bool:
        """Whether the parser handles the page; must be cheap."""

    def parse(self, page: PageView) -> list[Record]:
        """Return the records of the page, the most important first."""


class Selective(Parser, Protocol):
    """A parser that can skip kinds that are not requested."""

    def parse_only(self, page: PageView, kinds: AbstractSet[str]) -> list[Record]:
        """Return the records of these kinds, as `parse` would."""
