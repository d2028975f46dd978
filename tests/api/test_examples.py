"""Every operation has examples: they fit their schemas, and the API accepts those of bodies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import httpx
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from messor.api.app import make_api
from messor.settings import Settings
from messor.store.database import Database

FORMATS = Draft202012Validator.FORMAT_CHECKER
# What their examples name has to be set up first.
OF_SETTINGS = {"set_domain_vertical", "add_standing_export"}
WAITS = {"ingest_site"}  # for a worker


@cache
def document() -> dict[str, Any]:
    return make_api(Settings(), Database("postgresql://nowhere")).openapi()


def examples_of(operation: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Name, schema and example of everything in an operation that has one."""
    for parameter in operation.get("parameters", []):
        yield parameter["name"], parameter["schema"], parameter["example"]
    for media in operation.get("requestBody", {}).get("content", {}).values():
        yield "body", media["schema"], media["example"]
    for status, answer in operation["responses"].items():
        for kind, media in answer.get("content", {}).items():
            if status.startswith("2") and "json" in kind:
                yield status, media["schema"], media["example"]


def test_every_operation_has_examples_that_fit_their_schemas() -> None:
    for operations in document()["paths"].values():
        for operation in operations.values():
            for name, schema, example in examples_of(operation):
                whole = {**schema, "components": document()["components"]}
                checker = Draft202012Validator(whole, format_checker=FORMATS)
                faults = [each.message for each in checker.iter_errors(example)]
                assert faults == [], (operation["operationId"], name)


async def test_examples_of_bodies_are_accepted(admin: httpx.AsyncClient) -> None:
    """They may be refused for what is not there, never for their form."""
    for path, operations in document()["paths"].items():
        for method, operation in operations.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if body is None or operation["operationId"] in WAITS:
                continue
            place = path
            for parameter in operation["parameters"]:
                if parameter["in"] == "path":
                    place = place.replace(f"{{{parameter['name']}}}", str(parameter["example"]))
            answer = await admin.request(method, place, json=body["example"])
            assert answer.status_code < 500, (place, answer.text)
            is_json = "json" in answer.headers.get("content-type", "")
            code = answer.json().get("code") if is_json else None
            assert code != "usage" or operation["operationId"] in OF_SETTINGS, answer.text
            assert code != "invalid", (place, answer.text)
