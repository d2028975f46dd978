"""A market's script: its places, words and the roles of its sites, read from files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

Words: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Spot:
    """The location of a site's organisation."""

    town: str
    region: str
    country: str
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Role:
    """What some sites of a market have in common, and the sentences they are written with."""

    kind: str
    group: str  # the class of such sites, under the key `class`
    count: tuple[int, int]
    section: str
    names: Sequence[str]
    taglines: Sequence[str]
    intro: Sequence[str]
    story: Sequence[str]
    says: Sequence[str]
    headings: Sequence[str]
    items: Sequence[str] = ()
    groups: Mapping[str, Words] = field(default_factory=dict)
    schema: Sequence[str] = ()
    item_schema: str = ""
    language: str = "en"
    relevant: bool = False
    listing: bool = False
    bare: bool = False
    price: tuple[int, int] | None = None
    amount: tuple[int, int] | None = None
    standing: Sequence[str] = ("about", "contact")

    @classmethod
    def of(cls, table: dict[str, Any]) -> Role:
        return cls(group=table.pop("class"), **table)

    def all_items(self) -> list[str]:
        grouped = [item for words in self.groups.values() for item in words["items"]]
        return [*self.items, *grouped]


@dataclass(frozen=True, slots=True)
class Script:
    """Everything a market is drawn from."""

    name: str
    currency: str
    words: Words
    places: Sequence[Spot]
    roles: Sequence[Role]

    def subjects(self) -> list[str]:
        """Search subjects in English, as sites name them."""
        wanted = (role for role in self.roles if role.relevant and role.language == "en")
        return [item for role in wanted for item in role.all_items()]


def _table(name: str) -> dict[str, Any]:
    text = (files("simweb") / "market" / "scripts" / f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def script(name: str) -> Script:
    """The script of a market: its own roles, then those that every market has."""
    common, own = _table("common"), _table(name)
    return Script(
        name,
        own["currency"],
        {**common["words"], **own["words"]},
        [Spot(**row) for row in own["place"]],
        [Role.of(row) for row in (*own["role"], *common["role"])],
    )


@cache
def labels(language: str) -> dict[str, Any]:
    """Captions of the pages that every site has."""
    found: dict[str, Any] = _table("labels")[language]
    return found
