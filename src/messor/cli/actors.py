"""Actors by the names people know them by, in lines for people; data for machines keeps their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.access import members
from messor.store.database import Database

_ACTOR = re.compile(r"\b(?:member|key):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")

Names = dict[str, str]


async def names_in(database: Database, texts: Iterable[str | None]) -> Names:
    """The names of all actors that texts mention."""
    found = {actor for text in texts if text for actor in _ACTOR.findall(text)}
    return await members.names(database, found) if found else {}


def with_names(text: str, names: Names) -> str:
    """The text with names in place of actors; one without a name stays as it is."""
    return _ACTOR.sub(lambda match: names.get(match[0], match[0]), text) if names else text
