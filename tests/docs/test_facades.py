"""The interfaces import only what a room offers them: the modules that its `__init__` names in
`PUBLIC`, or names of the package itself.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "messor"
INTERFACES = ("cli", "api", "console", "mcp")
ROOMS = sorted(
    folder.name
    for folder in SOURCE.iterdir()
    if (folder / "__init__.py").exists() and folder.name not in INTERFACES
)


def imported(interface: str) -> Iterator[tuple[str, str]]:
    """Room and module of every import of a room's module by an interface."""
    for path in sorted((SOURCE / interface).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "messor."
            ):
                continue
            _, room, *inner = (node.module or "").split(".")
            for name in node.names:
                folder = SOURCE.joinpath(room, *inner)
                is_module = (folder / f"{name.name}.py").exists() or (folder / name.name).is_dir()
                module = [*inner, name.name] if is_module else inner
                if room in ROOMS and module:
                    yield room, ".".join(module)


USED = {pair for interface in INTERFACES for pair in imported(interface)}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_offers_just_what_the_interfaces_import(room: str) -> None:
    offered = importlib.import_module(f"messor.{room}").PUBLIC
    assert list(offered) == sorted(module for where, module in USED if where == room)


def test_every_room_is_looked_at() -> None:
    assert len(ROOMS) > 20
    assert ("registry", "domains") in USED
