"""JSON responses, with secrets masked in error texts, which may contain URLs with passwords."""

from __future__ import annotations

import re
from typing import Any

from fastapi.responses import JSONResponse

from messor.core.masking import mask

_SECRET_BEARING = re.compile(r"error|reason|message|detail|refusal|outcome")


class MaskedResponse(JSONResponse):
    """A JSON response whose texts under names such as `error_message` are masked."""

    def render(self, content: Any) -> bytes:
        return super().render(_masked(content))


def _masked(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _masked(found, key) for key, found in value.items()}
    if isinstance(value, list):
        return [_masked(one, name) for one in value]
    if isinstance(value, str) and _SECRET_BEARING.search(name):
        return mask(value)
    return value
