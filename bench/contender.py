"""How a contender talks to the runner: a job comes in, `ready` and a report go out.

The runner starts the clocks after `ready` and stops them at the report, so interpreters and
imports cost nobody anything. A contender ends when the runner closes its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn


@dataclass(frozen=True)
class Job:
    """The pages to crawl, and where things are."""

    starts: list[str]
    names: dict[str, str]  # "bench-000.test:80" -> "127.0.1.1:18080"
    pages: int  # of all hosts together
    per_host: int  # requests at a time to one host
    ca_file: str | None
    folder: str  # for output files
    dsn: str | None
    options: list[str]

    @property
    def targets(self) -> dict[str, tuple[str, int]]:
        """Where an authority is really served."""
        pairs = ((name, target.rpartition(":")) for name, target in self.names.items())
        return {name: (address, int(port)) for name, (address, _, port) in pairs}

    @property
    def output(self) -> Path:
        return Path(self.folder) / "pages.jsonl"

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def read_job() -> Job:
    return Job(**json.loads(sys.stdin.readline()))


def ready() -> None:
    """Say that all is prepared and wait for the start."""
    _say("ready")
    if sys.stdin.readline().strip() != "go":
        os._exit(1)
    threading.Thread(target=_end_with_runner, daemon=True).start()


def report(**figures: float) -> NoReturn:
    """Hand in the figures; the runner takes its last readings, then lets go."""
    _say(json.dumps(figures))
    threading.Event().wait()
    raise AssertionError


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _end_with_runner() -> None:
    sys.stdin.read()
    os._exit(0)
