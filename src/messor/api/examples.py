"""Examples in the OpenAPI document: one for every body, answer and parameter, made from its schema.

Values are chosen by the name of their field, so that examples read like a crawl of example.org; a test holds
each of them against its schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schemas = Mapping[str, Any]

DEEPEST = 6
FORMATS = {
    "uuid": "019a7c1e-5f2b-7c3a-9d41-6b0f8f2e4a10",
    "date-time": "2026-11-02T09:30:00Z",
    "date": "2026-11-02",
    "binary": "bytes",
}
TEXTS = {
    "domain": "example.org",
    "host": "www.example.org",
    "url": "https://example.org/kettles",
    "what": "https://example.org/kettles",
    "email": "ada@example.org",
    "recipient": "ada@example.org",
    "contact": "ada@example.org",
    "currency": "EUR",
    "language": "en",
    "cadence": "@every 6h",
    "since": "7d",
    "every": "7d",
    "zone": "Europe/Berlin",
    "vertical": "wellness",
    "sql": "SELECT domain, count(*) AS products FROM products GROUP BY domain",
    "actor": "ada@example.org",
    "submitted_by": "ada@example.org",
    "reviewed_by": "ada@example.org",
    "kinds": "page,product",
    "type": "domain.approved",
    "job_type": "export",
    "question": "price-trends",
    "slug": "example",
    "trace_id": "7d3f0c1ab2e94f5c8a6b1d2e3f4a5b6c",
    "name": "cheaper-kettles",
    "title": "Copper kettle",
    "path": "/kettles",
    "reason": "agreed with the site",
    "label": "Copper kettle",
}
# Bodies whose fields depend on each other.
BODIES: Mapping[str, Any] = {
    "limit_traffic": {
        "crawl_hours": "22-6",
        "time_zone": "Europe/Berlin",
        "megabytes_per_day": 2000,
    },
    "approve_price": {"page": "USD 0.01", "month": "USD 20", "reason": "agreed with the site"},
    "decide_many": {"domains": ["example.org"], "decision": {"act": "approve"}},
    "add_watch": {
        "name": "Cheaper kettles",
        "noun": "products",
        "condition": {"when": "falls", "field": "price", "percent": 10},
        "filters": {"domain": "example.org"},
        "channel": "feed",
    },
    "start_export": {
        "noun": "records",
        "format": "parquet",
        "filters": {"domain": "example.org", "kind": "contact"},
    },
    "submit_domain": {
        "domain": "example.org",
        "context": "Kettles for our price comparison",
        "max_crawl_depth": 3,
    },
    "act_on_tasks": {"act": "retry", "domain": "example.org"},
    "add_retention_rule": {"name": "old-pages", "days": 730, "domain": "example.org"},
    "configure_domain": {"delay": 2, "max_crawl_depth": 4},
    "add_proxy": {"url": "socks5://user@proxy.example:1080", "password": "…"},
    "check_given_robots": {
        "url": "https://example.org/private/",
        "robots_txt": "User-agent: *\nDisallow: /private/\n",
    },
}


def add_examples(document: dict[str, Any]) -> None:
    """Complete the document in place."""
    schemas = document["components"]["schemas"]
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", []):
                parameter.setdefault(
                    "example", _of(parameter["schema"], parameter["name"], schemas)
                )
            for media in operation.get("requestBody", {}).get("content", {}).values():
                made = BODIES.get(operation["operationId"])
                media["example"] = made or _of(media["schema"], "", schemas, is_request=True)
            for status, answer in operation["responses"].items():
                for kind, media in answer.get("content", {}).items():
                    if status.startswith("2") and "json" in kind:
                        media["example"] = _of(media["schema"], "", schemas)


def _of(  # noqa: PLR0911 - one per shape of a schema
    schema: Schemas, name: str, schemas: Schemas, *, depth: int = 0, is_request: bool = False
) -> Any:
    """An example of a schema; of a request only what it requires."""
    if "$ref" in schema:
        named = schemas[schema["$ref"].rpartition("/")[2]]
        return _of(named, name, schemas, depth=depth + 1, is_request=is_request)
    for key in ("const", "default"):
        if schema.get(key) not in (None, [], {}):
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        given = [option for option in options if option.get("type") != "null"]
        if depth > DEEPEST and len(given) < len(options):
            return None
        return _of(given[0], name, schemas, depth=depth + 1, is_request=is_request)
    if schema.get("type") == "object":
        return _object(schema, schemas, depth=depth, is_request=is_request)
    if schema.get("type") == "array":
        if depth > DEEPEST and not schema.get("minItems"):  # it may contain itself
            return []
        item = _of(schema.get("items", {}), name, schemas, depth=depth + 1, is_request=is_request)
        return [item]
    return _plain(schema, name)


def _object(schema: Schemas, schemas: Schemas, *, depth: int, is_request: bool) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    wanted = [name for name in properties if name in required or not is_request]
    if is_request and not wanted:
        wanted = list(properties)[:1]
    return {
        name: _of(properties[name], name, schemas, depth=depth + 1, is_request=is_request)
        for name in wanted
    }


def _plain(schema: Schemas, name: str) -> Any:
    kind = schema.get("type")
    if kind == "string":
        return _text(schema, name)
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        low = schema.get("minimum", schema.get("exclusiveMinimum"))
        one = 17 if kind == "integer" and name.endswith("id") else 1
        one = one if low is None else max(one, low + ("exclusiveMinimum" in schema))
        return min(one, schema.get("maximum", one))
    return {"name": "Copper kettle"} if kind is None and name == "data" else None


def _text(schema: Schemas, name: str) -> str:
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    pattern = schema.get("pattern", "")
    if pattern.startswith("^-?P") or schema.get("format") == "duration":
        return "P1D"
    for suffix, text in TEXTS.items():
        if name == suffix or name.endswith(f"_{suffix}") or name == f"{suffix}s":
            return text
    return _matching(pattern) or name.replace("_", "-") or "text"


def _matching(pattern: str) -> str:
    """A text for the patterns that names and cursors have."""
    if "[0-9]{1,19}-" in pattern:
        return "1-17"
    if "[A-Z]{3}" in pattern:
        return "EUR"
    if "\\." in pattern:
        return "domain.approved"
    return ""
