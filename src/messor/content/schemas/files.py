"""The JSON Schema of each record kind, as a file."""

from __future__ import annotations

import json

from messor.content.kinds import KINDS


def schema_files() -> dict[str, str]:
    """Return the JSON Schema of each kind by file name."""
    found = {}
    for name, kind in KINDS.items():
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **kind.model.model_json_schema(),
            "title": name,
        }
        schema["properties"]["kind"] = {"const": name}
        found[f"{name}.json"] = json.dumps(schema, indent=2, sort_keys=True) + "\n"
    return found
