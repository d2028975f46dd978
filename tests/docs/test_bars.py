"""Bars that last: short functions, modules named by nouns, one name per class, nothing written twice."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent.parent / "src" / "messor"
VERSIONS = SOURCE / "store" / "migrations" / "versions"
LONGEST, P99 = 80, 35  # lines of a function
MOST_GERUNDS = 5  # modules named by a bare gerund, each a term of art
NOUNS = {"listing"}  # they end like gerunds
MOST_SHARED_NAMES = 10  # public classes
RUN = 15  # lines
LONGEST_TEMPLATE_LINE = 160
# Tables and lists are declared there, each like the others.
DECLARATIONS = ("models.py", "queries.py")


@cache
def modules() -> dict[Path, ast.Module]:
    return {
        path: ast.parse(path.read_text("utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
        if VERSIONS not in path.parents
    }


def test_functions_are_short() -> None:
    lengths = sorted(
        ((node.end_lineno or 0) - node.lineno + 1, node.name)
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert lengths[-1][0] <= LONGEST, lengths[-1]
    assert lengths[len(lengths) * 99 // 100][0] <= P99


def test_modules_are_named_by_nouns() -> None:
    gerunds = [
        path
        for path in modules()
        if path.stem.endswith("ing") and "_" not in path.stem and path.stem not in NOUNS
    ]
    assert len(gerunds) <= MOST_GERUNDS, gerunds


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    shared = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert len(shared) <= MOST_SHARED_NAMES, shared


def test_lines_of_templates_can_be_read() -> None:
    for template in SOURCE.rglob("*.html"):
        for number, line in enumerate(template.read_text("utf-8").splitlines(), 1):
            assert len(line) <= LONGEST_TEMPLATE_LINE, f"{template}:{number}"


def code_lines(path: Path, tree: ast.Module) -> list[tuple[int, str]]:
    """Lines of code with their numbers: no comments, docstrings, imports or blank lines."""
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Expr) and not (
            isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        ):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    text = path.read_text("utf-8")
    code: dict[int, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if number not in left_out and line.strip():
            code[number] = line.strip()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and code.get(token.start[0], "").startswith("#"):
            del code[token.start[0]]
    return sorted(code.items())


def repeated(files: dict[str, list[tuple[int, str]]]) -> Iterator[tuple[str, str]]:
    """Places of different files that share a run of lines."""
    first: dict[tuple[str, ...], tuple[str, int]] = {}
    for name, lines in files.items():
        for at in range(len(lines) - RUN):
            run = tuple(text for _, text in lines[at : at + RUN + 1])
            where, line = first.setdefault(run, (name, lines[at][0]))
            if where != name:
                yield f"{where}:{line}", f"{name}:{lines[at][0]}"


def test_nothing_is_written_twice() -> None:
    files = {
        str(path.relative_to(SOURCE)): code_lines(path, tree)
        for path, tree in modules().items()
        if path.name not in DECLARATIONS
    }
    assert list(repeated(files)) == []


def test_what_is_written_twice_is_seen() -> None:
    lines = [(number, f"line {number}") for number in range(RUN + 1)]
    assert list(repeated({"a": lines, "b": lines})) == [("a:0", "b:0")]
    assert list(repeated({"a": lines[:-1], "b": lines[:-1]})) == []
