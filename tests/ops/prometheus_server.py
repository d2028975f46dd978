"""Debian's real Prometheus, for tests: started on rules of ours, asked through its API."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import subprocess
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "messor.rules.yml"
DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
IS_INSTALLED = shutil.which("prometheus") is not None


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        number: int = taken.getsockname()[1]
        return number


class PrometheusServer:
    """A running server."""

    def __init__(self, port: int) -> None:
        self._base = f"http://127.0.0.1:{port}"

    async def get(self, path: str, **query: str) -> Any:
        url = f"{self._base}{path}?{urllib.parse.urlencode(query)}"

        def read() -> Any:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.loads(answer.read())

        return await asyncio.to_thread(read)

    async def query(self, expression: str) -> list[dict[str, Any]]:
        answer = await self.get("/api/v1/query", query=expression)
        found: list[dict[str, Any]] = answer["data"]["result"]
        return found

    async def firing(self) -> set[str]:
        answer = await self.get("/api/v1/alerts")
        return {
            each["labels"]["alertname"]
            for each in answer["data"]["alerts"]
            if each["state"] == "firing"
        }

    async def is_ready(self) -> bool:
        try:
            await self.get("/api/v1/query", query="1")
        except OSError:
            return False
        return True


def _start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    words = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "prometheus.log").open("w") as log:
        return subprocess.Popen(words, stdout=log, stderr=log)


@asynccontextmanager
async def prometheus(folder: Path, target: str) -> AsyncIterator[PrometheusServer]:
    """Prometheus with our configuration and rules, in a hurry: a second for everything."""
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["scrape_configs"][0]["static_configs"] = [{"targets": [target]}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    hasty = re.sub(r"^( +)for: .*$", r"\1for: 0s", RULES.read_text(), flags=re.MULTILINE)
    (folder / "messor.rules.yml").write_text(hasty)
    port = free_port()
    process = _start(folder, port)
    try:
        yield PrometheusServer(port)
    finally:
        process.terminate()
        process.wait(20)


def values_of_alerts() -> dict[str, str]:
    """What each alert compares: it must have a value also while the alert is silent."""
    found = {}
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                value, operator, _ = re.split(r" (>|<) (?=[0-9.]+$)", rule["expr"])
                assert operator
                found[rule["alert"]] = value
    return found


def recorded_values() -> list[str]:
    groups = yaml.safe_load(RULES.read_text())["groups"]
    return [rule["record"] for group in groups for rule in group["rules"] if "record" in rule]


def dashboard_queries() -> list[tuple[str, str]]:
    """Title and expression of every query of every panel."""
    return [
        (panel["title"], target["expr"])
        for board in DASHBOARDS
        for panel in json.loads(board.read_text())["panels"]
        for target in panel["targets"]
    ]
