"""What a parser is: a name, a version, the kinds of records it makes, and two questions to a page.

Ours and those of others keep to the same protocol. A parser reads and states; whether a record
may be believed is left to `validation`, and what becomes of it to `store`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol, runtime_checkable

from messor.content.records import Record
from messor.content.view import PageView


@runtime_checkable
class Parser(Protocol):
    """Makes records of pages. It keeps no state between them."""

    @property
    def name(self) -> str:
        """The same in all versions."""

    @property
    def version(self) -> str:
        """Changes whenever the same page may give other records."""

    @property
    def kinds(self) -> AbstractSet[str]:
        """The kinds of records it may make."""

    @property
    def is_generic(self) -> bool:
        """Whether it knows no site; one that does goes before all that do not."""

    def accepts(self, page: PageView) -> bool:
        """Whether the page is one of those it was made for; cheap."""

    def parse(self, page: PageView) -> list[Record]:
        """The records that the page states, the most important first."""


class Selective(Parser, Protocol):
    """A parser whose kinds cost it apart, and that can leave out those that nobody wants."""

    def parse_only(self, page: PageView, kinds: AbstractSet[str]) -> list[Record]:
        """The records of these kinds that the page states, as `parse` would answer them."""
