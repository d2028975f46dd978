"""A scratch copy of the project, in which mutants are tried one after the other.

It holds the files that git knows, so uncommitted changes of known files are included, and has a
PostgreSQL of its own that is migrated once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mutants.listed import ROOT, Mutant

# pytest's exit codes. Any other means that the tests did not run.
_PASSED = 0
_FAILED = 1
_TIMEOUT = 300.0
_SERVER = "MESSOR_TEST_DATABASE_URL"  # honoured by tests/conftest.py
_SUMMARY = re.compile(r"^(FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How a run of tests ended."""

    code: int
    failed: tuple[str, ...] = ()  # tests that did not pass
    broken: tuple[str, ...] = ()  # tests whose fixtures did not work
    last_line: str = ""


@dataclass(frozen=True)
class Scratch:
    """A copy of the project and, if given, the server that its tests use."""

    tree: Path
    server: str | None = None

    def run_tests(
        self, tests: Sequence[str], *, own_server: bool = False, to_the_end: bool = False
    ) -> Outcome:
        """Run tests with the copy's source before the installed one."""
        source = os.pathsep.join(str(self.tree / part) for part in ("src", "packages/simweb/src"))
        environment = {k: v for k, v in os.environ.items() if k != _SERVER}
        environment |= {"PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": ""}
        if self.server and not own_server:
            environment[_SERVER] = self.server
        try:
            ended = subprocess.run(
                [*_PYTEST, *([] if to_the_end else ["-x"]), *tests],
                cwd=self.tree,
                env=environment,
                capture_output=True,
                text=True,
                timeout=None if to_the_end else _TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            # A behaviour that never ends is noticed as well.
            return Outcome(_FAILED, failed=("timed out",))
        return _read(ended.returncode, ended.stdout)

    def try_mutant(self, mutant: Mutant) -> str:
        """Return what became of a mutant: killed, survived, or a reason why it could not be tried."""
        problem = mutant.problem(self.tree)
        if problem is not None:
            return f"stale: {problem}"
        path = self.tree / mutant.path
        written = path.read_text("utf-8")
        write_source(path, written.replace(mutant.old, mutant.new))
        try:
            outcome = self.run_tests(mutant.tests, own_server=mutant.changes_migrations)
        finally:
            write_source(path, written)
        return _end(outcome)


_PYTEST = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no"]
_PYTEST += ["-p", "no:cacheprovider"]


def _read(code: int, printed: str) -> Outcome:
    found = _SUMMARY.findall(printed)
    lines = [line for line in printed.splitlines() if line.strip()]
    return Outcome(
        code,
        tuple(test for kind, test in found if kind == "FAILED"),
        tuple(test for kind, test in found if kind == "ERROR"),
        lines[-1] if lines else "nothing was printed",
    )


def _end(outcome: Outcome) -> str:
    if outcome.code == _PASSED:
        return "survived"
    if outcome.code == _FAILED and outcome.failed:
        return "killed"
    if outcome.code == _FAILED:
        return f"not tried: the fixtures of {outcome.broken[0]} fail with it"
    return f"not tried: pytest exited with {outcome.code}: {outcome.last_line}"


def copy_tree(to: Path) -> None:
    """Copy what git tracks; the corpora beside the project are linked, the environment is shared."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0"):
        source = ROOT / name
        if name and source.is_file():
            target = to / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    corpora = ROOT.parent / "shared"
    if corpora.is_dir():
        (to.parent / "shared").symlink_to(corpora)
    static = "src/messor/console/static/vendor"
    if (ROOT / static).is_dir():
        shutil.copytree(ROOT / static, to / static)


def write_source(path: Path, text: str) -> None:
    """Write a file and forget its bytecode, which Python trusts if only time and size are the same."""
    path.write_text(text, "utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()
