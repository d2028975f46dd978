"""The crew: worker processes that may be killed, stopped and replaced, and never outlive the run."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

from messor.errors import UnavailableError

FAREWELL_SECONDS = 30.0  # for the pages under way and the last flush


class Crew:
    """Starts `messor worker` processes in one folder, with one environment."""

    def __init__(self, folder: Path, settings: Mapping[str, str], *, skew: float = 0.0) -> None:
        self._folder = folder
        self._skew = skew
        self._faketime = find_faketime() if skew else None
        self._started = 0
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("MESSOR_")
        } | dict(settings)
        self._workers: dict[int, subprocess.Popen[bytes]] = {}
        self._stopped: set[int] = set()
        self.gave_up: list[str] = []  # workers that ended though nobody had asked them to

    @property
    def awake(self) -> set[int]:
        return set(self._workers) - self._stopped

    def start(self) -> int:
        """A new worker; a session of its own keeps Ctrl-C in the terminal from reaching it."""
        with self._log.open("ab") as log:
            worker = subprocess.Popen(
                [sys.executable, "-m", "messor", "worker", "--only", "visit"],
                cwd=self._folder,
                env=self._environment | self._clock(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._workers[worker.pid] = worker
        return worker.pid

    def _clock(self) -> dict[str, str]:
        """What makes a worker's clock wrong: one is ahead, the next behind."""
        self._started += 1
        if self._faketime is None:
            return {}
        seconds = self._skew if self._started % 2 else -self._skew
        return {
            "LD_PRELOAD": str(self._faketime),
            "FAKETIME": f"{seconds:+.0f}",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def kill(self, pid: int) -> None:
        worker = self._workers.pop(pid)
        self._stopped.discard(pid)
        worker.kill()
        worker.wait()

    def stop(self, pid: int) -> None:
        """Halt a worker where it stands."""
        self._stopped.add(pid)
        os.kill(pid, signal.SIGSTOP)

    def resume(self, pid: int) -> None:
        self._stopped.discard(pid)
        os.kill(pid, signal.SIGCONT)

    def look_after(self) -> bool:
        """Note workers that ended by themselves; False when nobody is left."""
        for pid, worker in list(self._workers.items()):
            if worker.poll() is not None:
                del self._workers[pid]
                self._stopped.discard(pid)
                self.gave_up.append(f"worker {pid} ended with code {worker.returncode}")
        return bool(self._workers)

    def dismiss(self) -> None:
        """End everybody: politely first, so that the archive is sealed, then for certain."""
        for pid in self._workers:
            for number in (signal.SIGCONT, signal.SIGTERM):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
        deadline = time.monotonic() + FAREWELL_SECONDS
        try:
            for worker in self._workers.values():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    worker.wait(max(deadline - time.monotonic(), 0.01))
        finally:
            for worker in self._workers.values():
                worker.kill()
                worker.wait()
            self._workers.clear()

    def said(self) -> str:
        """What workers wrote beyond their greeting."""
        if not self._log.exists():
            return ""
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(line for line in lines if " is running. " not in line)

    @property
    def _log(self) -> Path:
        return self._folder / "workers.log"


def find_faketime() -> Path:
    """The library that shifts a process's clock; Debian's package `faketime` brings it."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    if not found:
        raise UnavailableError("Skewed clocks need libfaketime: apt-get install faketime")
    return found[0]


def sweep(folder: Path) -> list[int]:
    """End what still runs below a folder of this run; answers who it was."""
    ended = []
    folder = folder.resolve()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and Path(process.cwd()).is_relative_to(folder):
                process.kill()
                ended.append(process.pid)
    return ended
