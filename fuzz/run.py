"""`python -m fuzz.run`: fuzz the web's rules for some minutes and report what was found.

Progress goes to stderr and a table to stdout. Offending inputs are saved in a new temporary
folder, which is named; the exit code is 1 when there are any.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fuzz.cage import Cage
from fuzz.hunt import Haul
from fuzz.seeds import load_seeds
from fuzz.targets import TARGETS


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    names = options.target or list(TARGETS)
    seconds = 60 * options.minutes / len(names)
    hauls = [_hunted(name, options.seed, seconds) for name in names]
    sys.stdout.write(_table(hauls))
    folder = _save(hauls)
    if folder is None:
        return 0
    sys.stdout.write(f"\nOffending inputs: {folder}\n")
    return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description="Fuzz messor.web.")
    parser.add_argument("--minutes", type=float, default=10, help="in all (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the mutations (default: 0)")
    parser.add_argument(
        "--target", action="append", choices=list(TARGETS), help="repeatable (default: all)"
    )
    return parser


def _hunted(name: str, seed: int, seconds: float) -> Haul:
    seeds = load_seeds(name)
    sys.stderr.write(f"{name}: {len(seeds)} seeds, {seconds:.0f} s\n")
    haul = Cage(name, TARGETS[name], seeds, seed).run(seconds)
    sys.stderr.write(f"{name}: {haul.inputs} inputs, {len(haul.findings)} findings\n")
    return haul


def _table(hauls: Sequence[Haul]) -> str:
    head = ("target", "inputs", "seconds", "slowest ms", "probes", "skipped", "findings")
    rows = [
        (
            haul.target,
            str(haul.inputs),
            f"{haul.seconds:.0f}",
            f"{1000 * haul.slowest:.1f}",
            str(haul.probes),
            str(haul.skipped_probes),
            str(len(haul.findings)),
        )
        for haul in hauls
    ]
    lines = [
        "".join(cell.ljust(10) if i == 0 else cell.rjust(12) for i, cell in enumerate(row))
        for row in (head, *rows)
    ]
    for haul in hauls:
        lines += [
            f"{haul.target}: {found.kind}, seen {found.times_seen} times: {found.sentence}"
            for found in haul.findings.values()
        ]
    return "\n".join(lines) + "\n"


def _save(hauls: Sequence[Haul]) -> Path | None:
    """Write each finding's input to a file of its own; None when there is nothing to save."""
    if not any(haul.findings for haul in hauls):
        return None
    folder = Path(tempfile.mkdtemp(prefix="messor-fuzz-"))
    for haul in hauls:
        for number, found in enumerate(haul.findings.values()):
            (folder / f"{haul.target}-{number}-{found.kind}.bin").write_bytes(found.data)
    return folder


if __name__ == "__main__":
    sys.exit(main())
