"""The title of a record, from the fields that its kind names for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from messor.content.kinds import KINDS

# Of kinds that another package's parser brings.
_OTHERS = ("name", "title", "question", "label", "text", "email", "phone", "url")


def title_fields(kind: str) -> tuple[str, ...]:
    """Return the fields that can be a record's title, by precedence."""
    declared = KINDS.get(kind)
    return _OTHERS if declared is None else declared.title_fields


def title_of(kind: str, data: Mapping[str, Any]) -> str:
    """Return a title for a record of this kind; its first value if it states no title field."""
    values = [data[name] for name in title_fields(kind) if data.get(name)] or list(data.values())
    text = values[0] if values else ""
    return text if isinstance(text, str) else msgspec.json.encode(text).decode()
