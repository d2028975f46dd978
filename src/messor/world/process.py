"""A simulated web in a process of its own, for tests, the benchmark and the demo command."""

from __future__ import annotations

import http.client
import json
import select
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from messor.errors import UnavailableError
from messor.world.conditions import Conditions
from messor.world.requestlog import LoggedRequest, read_log
from messor.world.world import Profile

_STOP_SECONDS = 10.0


class WorldProcess:
    """Starts on entering, stops on leaving; the child also ends when this process does."""

    def __init__(
        self,
        profile: Profile | str = Profile.DEMO,
        seed: int = 7,
        *,
        hosts: int | None = None,
        pages: int | None = None,
        page_bytes: int = 51_000,
        epoch: int = 0,
        jitter_ms: int = 0,
        tls: bool = False,
        conditions: Conditions | None = None,
        log_file: Path | None = None,
        start_timeout: float = 120.0,
    ) -> None:
        self._folder = TemporaryDirectory(prefix="messor-world-log-")
        self.log_file = log_file or Path(self._folder.name) / "requests.tsv"
        self._start_timeout = start_timeout
        conditions = conditions or Conditions()
        options = {
            "--profile": Profile(profile).value,
            "--seed": seed,
            "--hosts": hosts,
            "--pages": pages,
            "--page-bytes": page_bytes,
            "--epoch": epoch,
            "--jitter-ms": jitter_ms,
            "--log": self.log_file,
            "--addresses": conditions.addresses,
            "--pause-ms": conditions.pause_ms,
            "--stalling": conditions.stalling,
        }
        flags = {
            "--tls": tls,
            "--refusing": conditions.refusing,
            "--no-validators": not conditions.validators,
        }
        given = [str(x) for pair in options.items() if pair[1] is not None for x in pair]
        given += [flag for flag, is_set in flags.items() if is_set]
        self._command = [sys.executable, "-m", "messor.world", *given]
        self._child: subprocess.Popen[bytes] | None = None
        self._said: dict[str, Any] = {}

    def start(self) -> Self:
        self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._child.stdout is not None
        ready, _, _ = select.select([self._child.stdout], [], [], self._start_timeout)
        line = self._child.stdout.readline() if ready else b""
        if not line:
            self.stop()
            raise UnavailableError("The simulated web did not start.")
        self._said = json.loads(line)
        return self

    def stop(self) -> None:
        """Ends the child and keeps its log."""
        child, self._child = self._child, None
        if child is None:
            return
        child.terminate()
        try:
            child.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        assert self._child is not None, "not started"
        return self._child.pid

    @property
    def names(self) -> dict[str, str]:
        return dict(self._said["names"])

    @property
    def sites(self) -> list[dict[str, Any]]:
        return list(self._said["sites"])

    @property
    def ca_file(self) -> str | None:
        found: str | None = self._said["ca_file"]
        return found

    @property
    def ports(self) -> list[int]:
        return [port for port in (self._said["port"], self._said["tls_port"]) if port]

    def settings_env(self) -> dict[str, str]:
        """The environment that lets Messor reach this web and nothing else new."""
        env = {
            "MESSOR_ALLOWED_NETWORKS__ADDRESSES": json.dumps(["127.0.0.0/8"]),
            "MESSOR_ALLOWED_NETWORKS__PORTS": json.dumps(self.ports),
            "MESSOR_ALLOWED_NETWORKS__NAMES": json.dumps(self.names),
        }
        if self.ca_file:
            env["MESSOR_CA_FILE"] = self.ca_file
        return env

    def requests(self) -> list[LoggedRequest]:
        """What was asked so far, in order of arrival; also after `stop`."""
        if self._child is not None:
            self._control("/flush")
        return read_log(self.log_file)

    def counters(self) -> dict[str, int]:
        return self._control("/counters")

    def set_epoch(self, epoch: int) -> None:
        self._control(f"/epoch/{epoch}")

    def _control(self, path: str) -> dict[str, int]:
        door = http.client.HTTPConnection(urlsplit(self._said["control"]).netloc, timeout=30)
        try:
            door.request("POST", path)
            counters: dict[str, int] = json.loads(door.getresponse().read())
        finally:
            door.close()
        return counters
