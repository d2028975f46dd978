"""The archive of an installation: this machine's folder, and the object stores that all share.

Everything that reads or writes bytes passes here. A plain folder stands for an archive without object
stores. All methods block: call them off the event loop.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from messor.archive.block_cache import BLOCK, BlockCache
from messor.archive.location import is_remote, located
from messor.archive.objects import ObjectStore, StoreOptions, open_store

if TYPE_CHECKING:
    from messor.settings import Settings

FOLDER = "archive"
CACHE = "archive-cache"


class Archive:
    """Reads segments wherever they are."""

    def __init__(
        self,
        folder: Path,
        *,
        store: ObjectStore | None = None,
        options: StoreOptions | None = None,
        cache: BlockCache | None = None,
    ) -> None:
        self.folder = folder
        self.store = store  # where new segments go; None: to the folder
        self._options = options or StoreOptions()
        self._cache = cache
        self._stores = {store.url: store} if store is not None else {}

    @classmethod
    def of(cls, settings: Settings) -> Archive:
        """The archive that the settings describe."""
        options = StoreOptions.of(settings)
        url = settings.archive_url
        return cls(
            settings.data_dir / FOLDER,
            store=open_store(url, options) if url else None,
            options=options,
            cache=BlockCache(settings.data_dir / CACHE, settings.archive_cache_mb * 1_000_000),
        )

    def read(self, name: str, offset: int, length: int) -> bytes:
        """Bytes of a segment; FileNotFoundError where it is not, or on another machine's disk."""
        if not is_remote(name):
            return _read_file(self.folder / name, offset, length)
        place = located(name)
        start = place.base + offset
        end, parts = start + length, []
        for number in range(start // BLOCK, (end - 1) // BLOCK + 1):
            block = self._block(place.url, number)
            parts.append(block[max(start - number * BLOCK, 0) : end - number * BLOCK])
        return b"".join(parts)

    def read_afresh(self, name: str, offset: int, length: int) -> bytes:
        """The same out of the whole object: for when a range, or what was cached of it, is wrong."""
        self.forget(name)
        place = located(name)
        store = self.store_of(place.url)
        content = store.whole(store.key_of(place.url))
        self.remember(place.url, content)
        start = place.base + offset
        return content[start : start + length]

    def _block(self, url: str, number: int) -> bytes:
        cached = self._cache.get(url, number) if self._cache is not None else None
        if cached is not None:
            return cached
        store = self.store_of(url)
        data = store.read(store.key_of(url), number * BLOCK, BLOCK)
        if self._cache is not None:
            self._cache.put(url, number, data)
        return data

    def forget(self, name: str) -> None:
        """Drop what is cached of a segment: it was wrong, or was erased."""
        if self._cache is not None and is_remote(name):
            self._cache.drop(located(name).url)

    def remember(self, url: str, data: bytes) -> None:
        """Cache an object just written: who reads it next is probably on this machine."""
        if self._cache is not None:
            view = memoryview(data)
            for start in range(0, len(data), BLOCK):
                self._cache.put(url, start // BLOCK, view[start : start + BLOCK])

    def has(self, name: str) -> bool:
        """Whether a segment can be read here; an object can be everywhere."""
        return is_remote(name) or (self.folder / name).exists()

    def store_of(self, url: str) -> ObjectStore:
        """The store that holds an object: a known one, or else its bucket as a whole."""
        for known, store in self._stores.items():
            if url.startswith(f"{known}/"):
                return store
        scheme, _, rest = url.partition("://")
        root = f"{scheme}://{rest.partition('/')[0]}"
        store = self._stores[root] = open_store(root, self._options)
        return store


ArchiveSource = Archive | Path | str


def archive_at(source: ArchiveSource) -> Archive:
    """A source as an archive."""
    return source if isinstance(source, Archive) else Archive(Path(source))


def _read_file(path: Path, offset: int, length: int) -> bytes:
    file = os.open(path, os.O_RDONLY)
    try:
        return os.pread(file, length, offset)
    finally:
        os.close(file)
