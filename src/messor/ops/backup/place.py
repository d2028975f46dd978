"""Places for backups: a folder, or an object store. What is written is there whole, or not at all.

All methods block: call them off the event loop.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from messor.archive.objects import ObjectStore, StoreOptions, open_store
from messor.errors import UnavailableError, UsageError
from messor.settings import Settings

PART_BYTES = 64_000_000  # of an object: larger files are several
CHUNK_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a backup, by its name within the place."""

    name: str
    bytes: int
    sha256: str


class FileSink(Protocol):
    """A file being written; it is there when the block ends without an error."""

    written: StoredFile

    def write(self, data: bytes) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...


class BackupPlace(Protocol):
    """What a place can do."""

    @property
    def url(self) -> str: ...

    def create(self, name: str) -> FileSink:
        """Begin a file; one of that name is replaced when the new one is complete."""

    def read(self, name: str) -> Iterator[bytes]:
        """Chunks of a file; FileNotFoundError without one."""

    def names(self, prefix: str) -> list[str]:
        """Names of complete files that begin so."""

    def remove(self, prefix: str) -> None:
        """Remove all files whose names begin so."""


class _Sink:
    """Counts and hashes what passes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._hash = hashlib.sha256()
        self._bytes = 0
        self.written = StoredFile(name, 0, "")

    def _count(self, data: bytes) -> None:
        self._hash.update(data)
        self._bytes += len(data)

    def _close(self) -> None:
        self.written = StoredFile(self._name, self._bytes, self._hash.hexdigest())


class _FolderSink(_Sink):
    def __init__(self, name: str, path: Path) -> None:
        super().__init__(name)
        self._path = path
        self._part = path.with_name(f".{path.name}.part")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._part.unlink(missing_ok=True)
        self._file = os.fdopen(
            os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        )

    def write(self, data: bytes) -> int:
        self._count(data)
        return self._file.write(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with self._file:
            if kind is None:
                self._file.flush()
                os.fsync(self._file.fileno())
        if kind is not None:
            self._part.unlink(missing_ok=True)
            return
        self._part.replace(self._path)
        self._close()


@dataclass(frozen=True, slots=True)
class BackupFolder:
    """A folder of this machine, or a share mounted there."""

    folder: Path

    @property
    def url(self) -> str:
        return str(self.folder)

    def create(self, name: str) -> FileSink:
        return _FolderSink(name, self.folder / name)

    def read(self, name: str) -> Iterator[bytes]:
        with (self.folder / name).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def names(self, prefix: str) -> list[str]:
        found = (path.relative_to(self.folder) for path in self.folder.rglob("*") if path.is_file())
        return sorted(
            str(path) for path in found if str(path).startswith(prefix) and path.name[0] != "."
        )

    def remove(self, prefix: str) -> None:
        for name in self.names(prefix):
            (self.folder / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # of a file, or one that still holds something
            if (self.folder / prefix).is_dir():
                shutil.rmtree(self.folder / prefix)


class _ObjectSink(_Sink):
    def __init__(self, name: str, store: ObjectStore) -> None:
        super().__init__(name)
        self._store = store
        self._buffer = bytearray()
        self._parts = 0

    def write(self, data: bytes) -> int:
        self._count(data)
        self._buffer += data
        while len(self._buffer) >= PART_BYTES:
            self._put(bytes(self._buffer[:PART_BYTES]))
            del self._buffer[:PART_BYTES]
        return len(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            if self._buffer or self._parts == 0:
                self._put(bytes(self._buffer))
            self._close()

    def _put(self, data: bytes) -> None:
        self._store.put(_part(self._name, self._parts), data)
        self._parts += 1


def _part(name: str, number: int) -> str:
    return f"{name}.part{number:05d}"


@dataclass(frozen=True, slots=True)
class BackupStore:
    """An object store; a file is one object per 64 MB."""

    store: ObjectStore

    @property
    def url(self) -> str:
        return self.store.url

    def create(self, name: str) -> FileSink:
        return _ObjectSink(name, self.store)

    def read(self, name: str) -> Iterator[bytes]:
        yield self.store.whole(_part(name, 0))
        number = 1
        while True:
            try:
                data = self.store.whole(_part(name, number))
            except FileNotFoundError:
                return
            yield data
            number += 1

    def names(self, prefix: str) -> list[str]:
        keys = (each.key for each in self.store.listed(prefix.rpartition("/")[0] or None))
        found = {key.rpartition(".part")[0] for key in keys if ".part" in key}
        return sorted(name for name in found if name.startswith(prefix))

    def remove(self, prefix: str) -> None:
        keys = [each.key for each in self.store.listed(prefix.rpartition("/")[0] or None)]
        self.store.delete([key for key in keys if key.startswith(prefix)])


def place_at(where: str, settings: Settings) -> BackupPlace:
    """The place that a path or an URL means; raises a sentence if it cannot be one."""
    if "://" in where:
        return BackupStore(open_store(where.rstrip("/"), StoreOptions.of(settings)))
    return BackupFolder(Path(where).absolute())


def existing_place(where: str, settings: Settings) -> BackupPlace:
    """A place to read from."""
    if "://" not in where and not Path(where).is_dir():
        raise UsageError(f"{where} is not a folder. Give the folder that backups were written to.")
    return place_at(where, settings)


@contextlib.contextmanager
def plain_errors(place: BackupPlace) -> Iterator[None]:
    """Errors of a folder as one sentence."""
    try:
        yield
    except FileNotFoundError as error:
        missing = error.filename or str(error)
        raise UnavailableError(f"The backup at {place.url} lacks {missing}.") from error
    except OSError as error:
        raise UnavailableError(
            f"{place.url} cannot be used for backups: {error.strerror or error}."
        ) from error
