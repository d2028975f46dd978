"""Display names for actor ids in text output; JSON output keeps the ids."""

from __future__ import annotations

import re
from collections.abc import Iterable

from messor.access import members
from messor.store.database import Database

_ACTOR = re.compile(r"\b(?:member|key):[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")

Names = dict[str, str]


async def names_in(database: Database, texts: Iterable[str | None]) -> Names:
    """Return the names of all actors mentioned in the texts."""
    found = {actor for text in texts if text for actor in _ACTOR.findall(text)}
    return await members.names(database, found) if found else {}


def with_names(text: str, names: Names) -> str:
    """Replace actor ids in the text by names; ids without a name stay."""
    return _ACTOR.sub(lambda match: names.get(match[0], match[0]), text) if names else text
