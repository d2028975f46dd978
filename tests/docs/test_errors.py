"""docs/errors.md lists every code with its status and exit code, and no other."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

from messor.api import problems
from messor.errors import MessorError
from messor.scrape.refusals import ScrapeRefusedError

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "messor"
PAGE = (ROOT / "docs" / "errors.md").read_text("utf-8")
ROWS = {
    code: (status, exit_code)
    for code, status, exit_code in re.findall(
        r"^\| `(\w+)` \| (\d*) *\| (\d*) *\| [^|]+ \| [^|]+ \|$", PAGE, re.MULTILINE
    )
}
# Codes that no class has: those of the framework, and those written where a problem is made.
LITERAL = {"internal": "500", "busy": "503", "database_unavailable": "503", "refused": ""}


def kinds(kind: type[MessorError] = MessorError) -> Iterator[type[MessorError]]:
    yield kind
    for below in kind.__subclasses__():
        if below.__module__.startswith("messor."):
            yield from kinds(below)


def declared() -> dict[str, set[tuple[str, str]]]:
    """Status and exit code of every code, as its classes state them."""
    for path in sorted(SOURCE.rglob("*.py")):
        if '\n    code = "' in path.read_text("utf-8"):
            importlib.import_module(
                ".".join(("messor", *path.relative_to(SOURCE).with_suffix("").parts))
            )
    found: dict[str, set[tuple[str, str]]] = {}
    for kind in kinds():
        if not issubclass(kind, ScrapeRefusedError):  # listed in docs/firecrawl.md
            status = next(
                (problems.STATUSES[one] for one in kind.__mro__ if one in problems.STATUSES), ""
            )
            found.setdefault(kind.code, set()).add((str(status), str(kind.exit_code)))
    return found


def test_every_code_is_listed_as_the_code_has_it() -> None:
    known = declared()
    for code, answers in known.items():
        assert ROWS.get(code) in answers, (code, answers)
    framework = {code: str(status) for status, code in problems.CODES.items()}
    for code, status in {**framework, **LITERAL}.items():
        if code not in known:
            assert ROWS.get(code, ("", ""))[0] == status, code
    assert set(ROWS) == {*known, *framework, *LITERAL}


def test_codes_written_where_a_problem_is_made_are_known() -> None:
    tree = ast.parse((ROOT / "src" / "messor" / "api" / "problems.py").read_text("utf-8"))
    written = {
        node.args[2].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "problem"
        and isinstance(node.args[2], ast.Constant)
    }
    assert written <= set(ROWS), written


def test_every_refusal_of_firecrawls_api_is_listed_there() -> None:
    page = (ROOT / "docs" / "firecrawl.md").read_text("utf-8")
    for kind in kinds(ScrapeRefusedError):
        if kind is not ScrapeRefusedError:
            assert f"| `{kind.code}` |" in page, kind.code
