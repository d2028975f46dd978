"""The clients: a method per operation of the API, and what takes several requests.

Both carry out the same steps (`wire`); `operations` is generated from the API's description.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from messor_client import models
from messor_client.downloads import download_export, export_file
from messor_client.feed import ChangeBatch, CursorStore
from messor_client.operations import AsyncOperations, Operations
from messor_client.wire import Call, Pause, Reply, Retries, Steps, send

T = TypeVar("T")

AGENT = "messor-client/0.1"
DEFAULT_URL = "http://127.0.0.1:8321"
FEED_WAIT = 30  # seconds of a long poll
Headers = Mapping[str, str]


def _settings(base_url: str, key: str | None, timeout: float) -> dict[str, Any]:
    headers = {"User-Agent": AGENT, "Accept": "application/json, */*"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    return {"base_url": base_url, "headers": headers, "timeout": timeout}


def _request(call: Call[Any]) -> dict[str, Any]:
    headers = dict(call.headers)
    content = call.encoded()
    if content is not None:
        kind = "application/json" if call.content is None else "application/octet-stream"
        headers.setdefault("Content-Type", kind)
    return {
        "method": call.method,
        "url": call.path,
        "params": call.parameters(),
        "content": content,
        "headers": headers,
    }


def _fault(error: Exception) -> Reply:
    return Reply(0, {}, b"", fault=str(error) or type(error).__name__)


class Client(Operations):
    """A synchronous client; close it, or use it as a context manager."""

    def __init__(
        self,
        key: str | None = None,
        base_url: str = DEFAULT_URL,
        *,
        timeout: float = 60.0,
        retries: Retries | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = httpx.Client(**_settings(base_url, key, timeout))
        self._retries = retries or Retries()
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def export(self, noun: str, path: Path | str, **how: Any) -> models.Export:
        """Export a list into a file: start it, wait for it, download it, check its digest.

        `how` are the arguments of `start_export` (`format`, `filters`, `columns`, `since`, ...). An
        interrupted download continues where it ended.
        """
        return self._run(export_file(noun, Path(path), how, self._retries))

    def download(self, export: models.Export, path: Path | str) -> models.Export:
        """Download the file of a finished export."""
        return self._run(download_export(export, Path(path), self._retries))

    def follow_changes(
        self,
        store: CursorStore | None = None,
        *,
        cursor: str | None = None,
        wait: int = FEED_WAIT,
        forever: bool = True,
        **how: Any,
    ) -> Iterator[ChangeBatch]:
        """Batches of the change feed from the stored cursor on.

        The cursor is saved when the next batch is asked for: a batch counts once your loop's body has
        ended. `how` are the arguments of `list_changes` (`kinds`, `domain`, `limit`, `use`).
        """
        at = (store.load() if store else None) or cursor
        while True:
            batch = ChangeBatch.of(self.list_changes(cursor=at, wait=wait, **how))
            if batch.items:
                yield batch
            at = batch.cursor or at
            if store is not None and at is not None:
                store.save(at)
            if not (forever or batch.has_more):
                return

    def _send(self, call: Call[T]) -> T:
        return self._run(send(call, self._retries))

    def _run(self, steps: Steps[T]) -> T:
        """Carry out steps until they return."""
        reply: Reply | None = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if isinstance(step, Pause):
                self._sleep(step.seconds)
                reply = None
            else:
                reply = self._exchange(step)

    def _exchange(self, call: Call[Any]) -> Reply:
        try:
            with self._http.stream(**_request(call)) as response:
                headers = dict(response.headers)
                if call.into is None or response.status_code not in (200, 206):
                    return Reply(response.status_code, headers, response.read())
                with call.into.open("ab" if response.status_code == 206 else "wb") as file:
                    for part in response.iter_bytes():
                        file.write(part)
                return Reply(response.status_code, headers, b"")
        except httpx.TransportError as error:
            return _fault(error)


class AsyncClient(AsyncOperations):
    """An asynchronous client; close it, or use it as a context manager."""

    def __init__(
        self,
        key: str | None = None,
        base_url: str = DEFAULT_URL,
        *,
        timeout: float = 60.0,
        retries: Retries | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**_settings(base_url, key, timeout))
        self._retries = retries or Retries()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def export(self, noun: str, path: Path | str, **how: Any) -> models.Export:
        """As `Client.export`."""
        return await self._run(export_file(noun, Path(path), how, self._retries))

    async def download(self, export: models.Export, path: Path | str) -> models.Export:
        """As `Client.download`."""
        return await self._run(download_export(export, Path(path), self._retries))

    async def follow_changes(
        self,
        store: CursorStore | None = None,
        *,
        cursor: str | None = None,
        wait: int = FEED_WAIT,
        forever: bool = True,
        **how: Any,
    ) -> AsyncIterator[ChangeBatch]:
        """As `Client.follow_changes`."""
        at = (store.load() if store else None) or cursor
        while True:
            batch = ChangeBatch.of(await self.list_changes(cursor=at, wait=wait, **how))
            if batch.items:
                yield batch
            at = batch.cursor or at
            if store is not None and at is not None:
                store.save(at)
            if not (forever or batch.has_more):
                return

    async def _send(self, call: Call[T]) -> T:
        return await self._run(send(call, self._retries))

    async def _run(self, steps: Steps[T]) -> T:
        reply: Reply | None = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                reply = None
            else:
                reply = await self._exchange(step)

    async def _exchange(self, call: Call[Any]) -> Reply:
        try:
            async with self._http.stream(**_request(call)) as response:
                headers = dict(response.headers)
                if call.into is None or response.status_code not in (200, 206):
                    return Reply(response.status_code, headers, await response.aread())
                with call.into.open("ab" if response.status_code == 206 else "wb") as file:
                    async for part in response.aiter_bytes():
                        file.write(part)
                return Reply(response.status_code, headers, b"")
        except httpx.TransportError as error:
            return _fault(error)
