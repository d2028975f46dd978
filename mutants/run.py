"""Applies each breakage of `mutants/*.toml` to a scratch copy and runs the tests that must fail.

Run as `python -m mutants.run`. A mutant whose tests pass has survived: nothing checks what it breaks.
The tests are run without any mutant first, because a test that fails anyway kills nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from tests.template_server import template_server

from mutants.listed import Mutant, load
from mutants.scratch import Scratch, copy_tree

_IN_MEMORY = Path("/dev/shm")
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Tried:
    """A mutant and what became of it."""

    mutant: Mutant
    end: str
    seconds: float

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {**self.mutant.as_dict(), "end": self.end, "seconds": round(self.seconds, 1)}


class Copies:
    """Scratch copies, each used by one task at a time."""

    def __init__(self, copies: Sequence[Scratch]) -> None:
        self.count = len(copies)
        self._free: SimpleQueue[Scratch] = SimpleQueue()
        for copy in copies:
            self._free.put(copy)

    def each(self, work: Callable[[Scratch, T], R], items: Sequence[T]) -> Iterator[R]:
        """Do the work for each item on a free copy; results come as they are ready."""

        def on_a_copy(item: T) -> R:
            copy = self._free.get()
            try:
                return work(copy, item)
            finally:
                self._free.put(copy)

        with ThreadPoolExecutor(self.count) as pool:
            for done in as_completed([pool.submit(on_a_copy, item) for item in items]):
                yield done.result()


@contextmanager
def made_copies(count: int) -> Iterator[Copies]:
    """Copies of the project, each with a server of its own; removed at the end."""
    with ExitStack() as stack:
        copies = []
        for _ in range(count):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mutants-")))
            copy_tree(folder / "tree")
            memory = tempfile.TemporaryDirectory(
                prefix="mutants-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else folder
            )
            server = stack.enter_context(template_server(Path(stack.enter_context(memory))))
            copies.append(Scratch(folder / "tree", server))
        yield Copies(copies)


def failing_tests(copies: Copies, mutants: Sequence[Mutant]) -> dict[str, str]:
    """The named tests, or files of them, that do not pass without a mutant, each with what happens."""
    by_file: dict[str, set[str]] = {}
    for test in sorted({test for mutant in mutants for test in mutant.tests}):
        by_file.setdefault(test.partition("::")[0], set()).add(test)
    found: dict[str, str] = {}
    for tests, outcome in copies.each(
        lambda copy, tests: (tests, copy.run_tests(tests, to_the_end=True)),
        [sorted(tests) for tests in by_file.values()],
    ):
        if outcome.code > 1:
            found |= dict.fromkeys(tests, f"does not run without it: {outcome.last_line}")
        failed = (*outcome.failed, *outcome.broken)
        found |= dict.fromkeys(failed, "fails without it")
    return found


def try_all(copies: Copies, mutants: Sequence[Mutant]) -> Iterator[Tried]:
    """Try each mutant whose tests pass without it."""
    failing = failing_tests(copies, mutants)

    def attempt(copy: Scratch, mutant: Mutant) -> Tried:
        started = time.monotonic()
        reason = next((f"{t} {why}" for t, why in failing.items() if mutant.names(t)), None)
        end = f"not tried: {reason}" if reason else copy.try_mutant(mutant)
        return Tried(mutant, end, time.monotonic() - started)

    yield from copies.each(attempt, mutants)


def report(tried: Sequence[Tried], seconds: float, *, as_json: bool) -> None:
    """Print what became of them, with those that were not killed by requirement."""
    alive = sorted((t for t in tried if t.end != "killed"), key=lambda t: t.mutant.row)
    kinds = Counter(t.end.partition(":")[0] for t in tried)
    if as_json:
        print(
            json.dumps(
                {"seconds": round(seconds), **kinds, "mutants": [t.as_dict() for t in tried]},
                indent=1,
            )
        )
        return
    for one in alive:
        print(f"{one.mutant.row}: {one.end}: {one.mutant.old!r} in {one.mutant.path}")
    print(f"{kinds['killed']} of {len(tried)} mutants killed in {seconds:.0f} s")


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """The mutants that the options ask for."""
    mutants = [
        mutant
        for mutant in load()
        if not arguments.row or mutant.row.startswith(tuple(arguments.row))
    ]
    if arguments.sample and arguments.sample < len(mutants):
        print(f"sample of seed {arguments.seed}", file=sys.stderr)
        return random.Random(arguments.seed).sample(mutants, arguments.sample)
    return mutants


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n", maxsplit=1)[0],
        epilog="Example: python -m mutants.run --row AMI-45 --row ORB",
    )
    parser.add_argument("--row", action="append", help="only this requirement, or specification")
    parser.add_argument("--sample", type=int, help="a random sample of this many")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000), help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="mutants tried at the same time")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser.parse_args()


def main() -> int:
    """Try the chosen mutants; exit with 1 unless all were killed."""
    arguments = _arguments()
    mutants = chosen(arguments)
    if not mutants:
        print("No mutant belongs to these rows; see mutants/*.toml.", file=sys.stderr)
        return 2
    started = time.monotonic()
    tried: list[Tried] = []
    with made_copies(min(arguments.jobs, len(mutants))) as copies:
        print(f"running the tests of {len(mutants)} mutants without them", file=sys.stderr)
        for one in try_all(copies, mutants):
            tried.append(one)
            print(
                f"{len(tried)}/{len(mutants)} {one.mutant.row} {one.end} ({one.seconds:.0f} s)",
                file=sys.stderr,
            )
    report(tried, time.monotonic() - started, as_json=arguments.json)
    return 0 if all(one.end == "killed" for one in tried) else 1


if __name__ == "__main__":
    sys.exit(main())
