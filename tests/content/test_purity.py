"""The room that reads pages is pure: no module state, no caches of its own, no files, no sockets."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import messor.content
from messor.content.memory import Memory
from messor.parsers.page_reading import read_records

FOLDER = Path(messor.content.__file__).parent
FORBIDDEN_MODULES = {
    "os",
    "io",
    "pathlib",
    "socket",
    "shutil",
    "tempfile",
    "urllib.request",
    "threading",
}
IN_MEMORY = {"BytesIO", "StringIO"}  # of io
FORBIDDEN_NAMES = {"lru_cache", "cache", "open"}
PAGE = """
<title>Desk lamp | Shop</title><nav><ul><li><a href=/a>Lamps</a></li><li><a href=/b>Sale -20 %</a></li></ul></nav>
<main class="product entry-content"><h1>Desk lamp</h1><p class="price">12.50 \u20ac</p><p>SKU: 4711-{n}</p>
<p id="stock">In stock</p><button class="add-to-cart">Add to cart</button>
<p>Call 030 901820 or write to info@shop{n}.example, Mon-Fri 9:00-17:00, 10115 Berlin.</p>
<p>Read more: the desk lamp number {n} was built to last, with a cast iron foot and a long arm.</p></main>
<footer>\u00a9 2026 Lamp{n} GmbH</footer>
"""


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(messor.content.__path__, "messor.content."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def sizes() -> dict[tuple[str, str], int]:
    """The sizes of all containers that a module holds."""
    return {
        (module.__name__, name): len(value)
        for module in modules()
        for name, value in vars(module).items()
        if isinstance(value, dict | list | set | bytearray) and not name.startswith("__")
    }


def test_reading_pages_leaves_no_trace_in_modules() -> None:
    before, memory = sizes(), Memory()
    for number in range(3):
        url = f"https://shop{number}.example/lamp-{number}"
        assert read_records(PAGE.format(n=number), url, memory=memory).records
        read_records(PAGE.format(n=number), url)
    assert sizes() == before


SOURCES = sorted(path for path in FOLDER.rglob("*.py") if path.stem != "__main__")  # a command


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_module_neither_caches_nor_opens_anything(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert FORBIDDEN_MODULES.isdisjoint(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = {each.name for each in node.names}
            is_memory = node.module == "io" and names <= IN_MEMORY
            assert is_memory or node.module not in FORBIDDEN_MODULES
            assert FORBIDDEN_NAMES.isdisjoint(names)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            pytest.fail(f"{node.names} is changed from within a function")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in FORBIDDEN_NAMES
