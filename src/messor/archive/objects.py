"""Objects: immutable, written once as a whole, read by range. Blocks: call it off the event loop.

No store is trusted: what was written is looked at again before it counts, by size and MD5 where the
store tells it and by reading it back where not; a range that is refused or answered with anything but
itself is cut out of the whole object. Names are never used twice, so a store that overwrites silently
does no harm.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from messor.core.masking import mask_text
from messor.errors import UnavailableError, UsageError

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Backend

    from messor.settings import Settings

RETRIES = 4
RETRY_SECONDS = 15
TIMEOUT_SECONDS = 60
DELETED_AT_ONCE = 500

_MD5 = re.compile(r'"?([0-9a-f]{32})"?\Z')


class ArchiveAwayError(UnavailableError):
    """The object store does not answer, or not truly; the same call may succeed later."""

    code = "archive_away"


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object in a listing."""

    key: str
    bytes: int
    written_at: datetime


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How stores are reached; what is None is found by the store's own rules."""

    endpoint: str | None = None
    region: str | None = None
    key_id: str | None = None
    secret: str | None = None
    encryption: Literal["AES256", "aws:kms"] | None = None
    kms_key: str | None = None

    @classmethod
    def of(cls, settings: Settings) -> StoreOptions:
        secret = settings.archive_secret
        return cls(
            endpoint=settings.archive_endpoint,
            region=settings.archive_region,
            key_id=settings.archive_key_id,
            secret=secret.get_secret_value() if secret is not None else None,
            encryption=settings.archive_encryption,
            kms_key=settings.archive_kms_key,
        )


class ObjectStore:
    """One place for objects: a bucket with a prefix, a folder, or memory."""

    def __init__(self, url: str, backend: Backend) -> None:
        self.url = url.rstrip("/")
        self._backend = backend

    def key_of(self, url: str) -> str:
        """The key of an object of this store, of its URL."""
        return url.removeprefix(f"{self.url}/")

    def url_of(self, key: str) -> str:
        return f"{self.url}/{key}"

    def put(self, key: str, data: bytes | memoryview) -> None:
        """Write a new object; when this returns, the store has it.

        Writing the same bytes again succeeds: the answer to the first attempt may have been lost.
        """
        import obstore  # noqa: PLC0415 - only where objects are used

        with _translated(self.url):
            try:
                obstore.put(self._backend, key, data, mode="create", use_multipart=False)
            except obstore.exceptions.AlreadyExistsError:
                pass  # whose it is shows below
            except obstore.exceptions.NotSupportedError:
                obstore.put(self._backend, key, data, use_multipart=False)
            self._confirm(key, data)

    def _confirm(self, key: str, data: bytes | memoryview) -> None:
        """Ask the store what it holds, and believe only that."""
        import obstore  # noqa: PLC0415 - as above

        is_whole = False
        with contextlib.suppress(FileNotFoundError):
            meta = obstore.head(self._backend, key)
            tag = _MD5.match(meta["e_tag"] or "")
            is_whole = meta["size"] == len(data)
            if is_whole and (tag is None or tag[1] != _md5(data)):
                is_whole = bytes(obstore.get(self._backend, key).bytes()) == bytes(data)
        if not is_whole:
            raise ArchiveAwayError(
                f"{mask_text(self.url)} did not store what was written to {key}."
            )

    def read(self, key: str, start: int, length: int) -> bytes:
        """A range of an object, shorter where the object ends; FileNotFoundError without one."""
        import obstore  # noqa: PLC0415 - as above

        with _translated(self.url):
            try:
                data = bytes(obstore.get_range(self._backend, key, start=start, length=length))
            except obstore.exceptions.BaseError:
                return self.whole(key)[start : start + length]
            # A range that was ignored is longer than what was asked for.
            return data if len(data) <= length else self.whole(key)[start : start + length]

    def whole(self, key: str) -> bytes:
        """A whole object; FileNotFoundError without one."""
        import obstore  # noqa: PLC0415 - as above

        with _translated(self.url):
            return bytes(obstore.get(self._backend, key).bytes())

    def size(self, key: str) -> int | None:
        """The size of an object; None without one."""
        import obstore  # noqa: PLC0415 - as above

        with _translated(self.url):
            try:
                return int(obstore.head(self._backend, key)["size"])
            except FileNotFoundError:
                return None

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; ones that do not exist are no error."""
        import obstore  # noqa: PLC0415 - as above

        with _translated(self.url):
            for start in range(0, len(keys), DELETED_AT_ONCE):
                some = list(keys[start : start + DELETED_AT_ONCE])
                try:
                    obstore.delete(self._backend, some)
                except FileNotFoundError:  # a folder stops there
                    for key in some:
                        with contextlib.suppress(FileNotFoundError):
                            obstore.delete(self._backend, key)

    def listed(self, prefix: str | None = None) -> Iterator[StoredObject]:
        """All objects; what was written a moment ago may be missing."""
        import obstore  # noqa: PLC0415 - as above

        with _translated(self.url):
            for page in obstore.list(self._backend, prefix):
                for each in page:
                    yield StoredObject(each["path"], each["size"], each["last_modified"])


def open_store(url: str, options: StoreOptions) -> ObjectStore:
    """The store at a URL; nothing is asked of it yet."""
    try:
        from obstore import store as backends  # noqa: PLC0415 - only where objects are used
    except ImportError as error:
        raise UnavailableError(
            "The archive is an object store, but obstore is not installed. "
            "Install it: pip install 'messor[s3]'"
        ) from error
    parts = urlsplit(url)
    if parts.scheme == "file":
        return ObjectStore(url, backends.LocalStore(parts.path, mkdir=True))
    if parts.scheme != "s3" or not parts.netloc:
        raise UsageError(
            f"{mask_text(url)!r} is not an archive URL. Give one such as s3://bucket/prefix."
        )
    backend = backends.S3Store(
        parts.netloc,
        prefix=parts.path.strip("/") or None,
        config=_config(options),
        client_options={
            "allow_http": (options.endpoint or "").startswith("http://"),
            "timeout": timedelta(seconds=TIMEOUT_SECONDS),
        },
        retry_config={
            "max_retries": RETRIES,
            "retry_timeout": timedelta(seconds=RETRY_SECONDS),
        },
    )
    return ObjectStore(url, backend)


def _config(options: StoreOptions) -> Any:
    """What S3 is told: SHA-256 of each body, which it checks, and how to encrypt it."""
    given = {
        "endpoint": options.endpoint,
        "region": options.region or ("us-east-1" if options.endpoint else None),
        "access_key_id": options.key_id,
        "secret_access_key": options.secret,
        "checksum_algorithm": "SHA256",
        "server_side_encryption": options.encryption,
        "sse_kms_key_id": options.kms_key,
    }
    return {name: value for name, value in given.items() if value is not None}


@contextlib.contextmanager
def _translated(url: str) -> Iterator[None]:
    """Errors of a store as ours; a missing object stays a FileNotFoundError."""
    import obstore  # noqa: PLC0415 - as above

    try:
        yield
    except FileNotFoundError:
        raise
    except (obstore.exceptions.BaseError, OSError) as error:
        reason = str(error).partition("\n")[0][:300]
        raise ArchiveAwayError(f"The archive {mask_text(url)} cannot be used: {reason}") from error


def _md5(data: bytes | memoryview) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
