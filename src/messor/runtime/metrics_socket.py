"""Each process's metrics, on a socket in the data folder, and the collection of all of them.

A process writes its metrics to whoever connects; nothing is written to disk, and an idle process
does nothing. `gather` asks all processes of a machine and adds the label `process`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path

from prometheus_client.core import Metric
from prometheus_client.parser import text_string_to_metric_families

from messor.core.heartbeat import Heartbeat
from messor.core.metrics import Metrics

FOLDER = "metrics"
ANSWER_SECONDS = 10.0  # for a process to answer; the figures of a busy database take a moment
CREATED = "_created"  # when a counter began; Prometheus does not need it

More = Callable[[], Awaitable[str]]
Responds = Callable[[], Awaitable[bool]]


async def _nothing() -> str:
    return ""


class MetricsSocket:
    """Gives out the metrics of this process while it runs."""

    def __init__(
        self,
        data_dir: Path,
        role: str,
        metrics: Metrics,
        *,
        responds: Responds,
        more: More = _nothing,
    ) -> None:
        self._folder = data_dir / FOLDER
        self._name = f"{role}-{os.getpid()}"
        self._metrics = metrics
        self._responds = responds
        self._more = more
        self._stop = asyncio.Event()
        self.heartbeat = Heartbeat()

    def stop(self) -> None:
        self._stop.set()

    async def run(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        own = self._folder / f"{self._name}.sock"
        own.unlink(missing_ok=True)
        with _short(self._folder) as place:
            server = await asyncio.start_unix_server(self._answer, f"{place}/{own.name}")
        try:
            await self._stop.wait()
        finally:
            server.close()
            own.unlink(missing_ok=True)

    async def _answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._metrics.ready.set(await self._responds())
            writer.write((self._metrics.text() + await self._more()).encode())
            await writer.drain()
        except ConnectionError:
            return  # the one who asked has gone
        finally:
            writer.close()


@contextlib.contextmanager
def _short(folder: Path) -> Iterator[str]:
    """A path of a few bytes for the folder: a socket's may have 107 at most."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


async def gather(data_dir: Path) -> list[Metric]:
    """The metrics of all processes that use this data folder, by family."""
    folder = data_dir / FOLDER
    if not folder.is_dir():
        return []
    with _short(folder) as place:
        names = sorted(each.name for each in folder.glob("*.sock"))
        texts = await asyncio.gather(*(_ask(f"{place}/{name}") for name in names))
    families: dict[str, Metric] = {}
    for name, text in zip(names, texts, strict=True):
        if text is None:
            _remove_dead(folder / name)
            continue
        _merge(families, name.removesuffix(".sock"), text)
    return list(families.values())


async def _ask(path: str) -> str | None:
    """What a process says; None if nobody listens there any more, empty if it does not answer."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                return (await reader.read()).decode()
            finally:
                writer.close()
    except ConnectionRefusedError:
        return None
    except (OSError, TimeoutError):
        return ""


def _remove_dead(path: Path) -> None:
    """Remove the socket of a killed process, unless another one has its number by now."""
    pid = path.stem.rpartition("-")[2]
    if not Path(f"/proc/{pid}").exists():
        path.unlink(missing_ok=True)


def _merge(families: dict[str, Metric], process: str, text: str) -> None:
    for family in text_string_to_metric_families(text):
        if family.name.endswith(CREATED):
            continue
        known = families.setdefault(
            family.name, Metric(family.name, family.documentation, family.type)
        )
        for sample in family.samples:
            known.add_sample(sample.name, {"process": process, **sample.labels}, sample.value)


def is_ready(families: Sequence[Metric]) -> bool:
    """Whether there are processes, and the database responds to each."""
    values = [s.value for each in families if each.name == "messor_ready" for s in each.samples]
    return bool(values) and all(values)
