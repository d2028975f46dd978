"""Models and operations are those of the API; the client imports nothing of Messor."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from messor_client import AsyncClient, Client

PACKAGE = Path(__file__).parents[2] / "packages" / "client"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """`generate.py`, which is a script."""
    sys.path.insert(0, str(PACKAGE))
    try:
        import generate  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415
    finally:
        sys.path.remove(str(PACKAGE))
    found: ModuleType = generate
    return found


def test_the_modules_are_what_the_description_gives(generator: ModuleType) -> None:
    for name, text in generator.current().items():
        written = (generator.TARGET / name).read_text("utf-8")
        assert written == text, "run: python packages/client/generate.py"


def test_both_clients_have_every_operation(generator: ModuleType) -> None:
    document: dict[str, Any] = generator.make_api(
        generator.Settings(), generator.Database("postgresql://nowhere")
    ).openapi()
    for operations in document["paths"].values():
        for operation in operations.values():
            name = operation["operationId"]
            if name not in generator.LEFT_OUT:
                assert hasattr(Client, name), name
                assert hasattr(AsyncClient, name), name


def test_the_client_stands_alone() -> None:
    for path in (PACKAGE / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = [getattr(node, "module", None) or "", *(each.name for each in node.names)]
                assert not any(name.split(".")[0] == "messor" for name in names), path
