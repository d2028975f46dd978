"""A simulated web in a process of its own, for tests, benchmarks and commands."""

from __future__ import annotations

import http.client
import json
import select
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from simweb.conditions import Conditions
from simweb.errors import WorldUnavailableError
from simweb.requestlog import LoggedRequest, read_log
from simweb.world import Profile

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
        market: str | None = None,
        engines: Sequence[str] = (),
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
            "--market": market,
            "--engines": ",".join(engines) or None,
        }
        flags = {
            "--tls": tls,
            "--refusing": conditions.refusing,
            "--no-validators": not conditions.validators,
        }
        arguments = [str(x) for pair in options.items() if pair[1] is not None for x in pair]
        arguments += [flag for flag, is_set in flags.items() if is_set]
        self._command = [sys.executable, "-m", "simweb", *arguments]
        self._child: subprocess.Popen[bytes] | None = None
        self._announced: dict[str, Any] = {}

    def start(self) -> Self:
        self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._child.stdout is not None
        ready, _, _ = select.select([self._child.stdout], [], [], self._start_timeout)
        line = self._child.stdout.readline() if ready else b""
        if not line:
            self.stop()
            raise WorldUnavailableError("The simulated web did not start.")
        self._announced = json.loads(line)
        return self

    def stop(self) -> None:
        """End the child and keep its log."""
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
        return dict(self._announced["names"])

    @property
    def sites(self) -> list[dict[str, Any]]:
        return list(self._announced["sites"])

    @property
    def search_engines(self) -> dict[str, dict[str, str]]:
        """The setting `search_engines` that points to the stand-ins of this web."""
        return dict(self._announced["search_engines"])

    @property
    def ca_file(self) -> str | None:
        found: str | None = self._announced["ca_file"]
        return found

    @property
    def ports(self) -> list[int]:
        return [port for port in (self._announced["port"], self._announced["tls_port"]) if port]

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
        """Requests so far, in order of arrival; also after `stop`."""
        if self._child is not None:
            self._control("/flush")
        return read_log(self.log_file)

    def counters(self) -> dict[str, int]:
        counters: dict[str, int] = self._control("/counters")
        return counters

    def set_epoch(self, epoch: int) -> None:
        """Let time pass, for the sites and for the search engines."""
        self._control(f"/epoch/{epoch}")

    def truth(self) -> dict[str, Any]:
        """The truth about a market's domains: `simweb.truth.Truth.as_json`."""
        return self._control("/truth")

    def serp(self, keyword: str, location: str = "", epoch: int = 0) -> dict[str, Any]:
        """The result page that engines serve: `simweb.truth.Serp.as_json`."""
        query = {"keyword": keyword, "location": location, "epoch": epoch}
        return self._control(f"/serp?{urlencode(query)}")

    def reachable(
        self, keywords: Iterable[str], locations: Sequence[str] = ("",), epoch: int = 0
    ) -> set[str]:
        """Domains with an organic or local result on some first page."""
        pages = (self.serp(word, place, epoch) for word in keywords for place in locations)
        return {
            result["domain"]
            for page in pages
            for result in page["results"]
            if result["block"] != "ad"
        }

    def _control(self, path: str) -> dict[str, Any]:
        connection = http.client.HTTPConnection(
            urlsplit(self._announced["control"]).netloc, timeout=30
        )
        try:
            connection.request("POST", path)
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        if response.status != 200:
            raise WorldUnavailableError(
                f"The simulated web rejected the control request {path}: {body.decode().strip()}"
            )
        document: dict[str, Any] = json.loads(body)
        return document
