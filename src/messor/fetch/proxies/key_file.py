"""`secret.key` in the data folder: 32 random bytes in base64, readable by its owner only.

During key rotation a second line holds the former key. The file is always replaced as a whole.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from messor.errors import UnavailableError

KEY_FILE = "secret.key"
KEY_BYTES = 32


def new_key() -> bytes:
    return secrets.token_bytes(KEY_BYTES)


class KeyFile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        return self.path.exists()

    def state(self) -> tuple[int, int, int] | None:
        """Changes whenever the file is replaced; None while it does not exist."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_mode

    def make(self) -> None:
        """Create the file if missing; of two concurrent callers the first one's key is kept."""
        if not self.exists():
            self._write([new_key()], _link_if_missing)

    def replace(self, keys: Sequence[bytes]) -> None:
        """Replace the keys; the encryption key comes first."""
        self._write(keys, os.replace)

    def read(self) -> list[bytes]:
        """The encryption key, then the former one during rotation."""
        try:
            text = self.path.read_bytes()
            is_open = os.name == "posix" and self.path.stat().st_mode & 0o077
        except OSError as error:
            raise UnavailableError(
                f"The key {self.path} cannot be read: {error.strerror}."
            ) from error
        if is_open:
            raise UnavailableError(
                f"The key {self.path} is readable by others. Run: chmod 600 {self.path}"
            )
        keys = [_decoded(line) for line in text.split() or [b""]]
        if any(len(key) != KEY_BYTES for key in keys):
            raise UnavailableError(
                f"The key {self.path} is damaged: it must be 32 bytes in base64."
            )
        return keys

    def _write(self, keys: Sequence[bytes], publish: Callable[[Path, Path], None]) -> None:
        draft = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(fd, "wb") as out:
                    out.write(b"".join(base64.b64encode(key) + b"\n" for key in keys))
                    out.flush()
                    os.fsync(out.fileno())
                _keep_owner(draft, self.path)
                publish(draft, self.path)
            finally:
                draft.unlink(missing_ok=True)
            _sync(self.path.parent)
        except OSError as error:
            raise UnavailableError(
                f"The key {self.path} cannot be written: {error.strerror}."
            ) from error


def _link_if_missing(draft: Path, target: Path) -> None:
    with contextlib.suppress(FileExistsError):
        os.link(draft, target)


def _keep_owner(draft: Path, target: Path) -> None:
    """When root rotates for another account, the file stays readable for that account."""
    with contextlib.suppress(FileNotFoundError):
        found = target.stat()
        if found.st_uid != os.geteuid():
            os.chown(draft, found.st_uid, found.st_gid)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _decoded(line: bytes) -> bytes:
    try:
        return base64.b64decode(line, validate=True)
    except binascii.Error:
        return b""
