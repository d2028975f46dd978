"""The embedded server's folder: its layout, and how Messor's own files in it are written.

    <data_dir>/postgres/        Messor's own: 0700, or 0711 when root runs a server under an account
        data/                   the cluster, owned by the account the server runs under
        data.new-*/             a cluster being created
        pgpass                  Messor's login: a password file in PostgreSQL's own format
        pgpass.next             the new password, during rotation
        socket/                 the server's socket; 0700, of the server's account
        socket.place            location of the socket in /tmp, where this path is too long
        server.conf  server.log settings, rewritten at every start, and the server's log
        start.lock  users.lock  see `locks`

Creating the cluster is left to `cluster`, running it to `launch`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from messor.errors import UnavailableError
from messor.store.connection import NEXT
from messor.store.embedded.passwords import new_password

ROLE = "messor"
DATABASE = "messor"

_PLACE = "socket.place"
_EARLIER_PASSWORD = "password"  # noqa: S105 - a file's name
_LOG_BOUND = 4_000_000  # bytes
_MIN_FREE = 64_000_000  # bytes; a new cluster and its first WAL need about as much


@dataclass(frozen=True)
class DataFolder:
    base: Path

    @property
    def data(self) -> Path:
        return self.base / "data"

    @property
    def log(self) -> Path:
        return self.base / "server.log"

    @property
    def start_lock(self) -> Path:
        return self.base / "start.lock"

    @property
    def users_lock(self) -> Path:
        return self.base / "users.lock"

    def make(self) -> None:
        """Create the folder and its parents; an existing one keeps its permissions."""
        missing = [place for place in (self.base, *self.base.parents) if not place.exists()]
        for place in reversed(missing):
            with contextlib.suppress(FileExistsError):
                place.mkdir(mode=0o700)
                # The server's account must be able to pass through, not to list or read.
                place.chmod(0o711 if os.geteuid() == 0 else 0o700)

    @property
    def socket(self) -> Path:
        return self.base / "socket"

    def noted_socket(self) -> Path | None:
        """The folder in /tmp that holds the socket instead."""
        try:
            return Path((self.base / _PLACE).read_text(encoding="utf-8", errors="surrogateescape"))
        except FileNotFoundError:
            return None

    def note_socket(self, place: Path) -> None:
        self.write(_PLACE, str(place))

    def data_version(self) -> int | None:
        try:
            return int((self.data / "PG_VERSION").read_text())
        except (FileNotFoundError, ValueError):
            return None

    @property
    def passfile(self) -> Path:
        return self.base / "pgpass"

    @property
    def next_passfile(self) -> Path:
        return self.base / f"pgpass{NEXT}"

    def make_password(self) -> str:
        """The password, created on the first call; it must be durable before the data that needs
        it.
        """
        self.adopt_password()
        if not self.passfile.exists():
            self.write_password(self.passfile, new_password())
        return self.passfile.read_text(encoding="ascii").strip().rpartition(":")[2]

    def write_password(self, passfile: Path, password: str) -> None:
        self.write(passfile.name, f"*:*:*:{ROLE}:{password}\n")

    def adopt_password(self) -> None:
        """Migrate the file of earlier releases, which held the bare password."""
        earlier = self.base / _EARLIER_PASSWORD
        if not self.passfile.exists() and earlier.exists():
            self.write_password(self.passfile, earlier.read_text(encoding="ascii").strip())

    def require_password(self) -> None:
        self.adopt_password()
        if not self.passfile.exists():
            raise UnavailableError(
                f"The password file of the embedded database is missing: restore {self.passfile}."
            )

    def promote_password(self) -> None:
        """The server now uses the new password: make it the only one."""
        self.next_passfile.replace(self.passfile)
        sync_directory(self.base)
        (self.base / _EARLIER_PASSWORD).unlink(missing_ok=True)

    def write(self, name: str, text: str, *, mode: int = 0o600) -> None:
        """Write a file atomically; it belongs to the folder's owner, even if root writes it."""
        target = self.base / name
        part = self.base / f"{name}.{secrets.token_hex(4)}"
        fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            self.own(fd)
            os.fchmod(fd, mode)
            file.write(text)
            file.flush()
            os.fsync(fd)
        part.replace(target)
        sync_directory(self.base)

    def own(self, fd: int) -> None:
        """Give a file that root created to the folder's owner, who may run Messor next."""
        if os.geteuid() == 0:
            owner = self.base.stat()
            os.fchown(fd, owner.st_uid, owner.st_gid)

    def open_log(self) -> int:
        """The log, for appending; an overlong one is rotated."""
        if self.log.exists() and self.log.stat().st_size > _LOG_BOUND:
            self.log.replace(self.log.with_name("server.log.old"))
        fd = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        self.own(fd)
        return fd

    def log_tail(self, *, since: int = 0, lines: int = 8) -> str:
        """The last lines of the log that were written after the byte `since`."""
        try:
            with self.log.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(since, size - 16_000) if since <= size else 0)
                text = file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def check_space(self) -> None:
        """Raise if the disk is too full for PostgreSQL to start."""
        free = shutil.disk_usage(self.base).free
        if free < _MIN_FREE:
            raise UnavailableError(
                f"The disk of {self.base} is full ({free // 1_000_000} MB free): "
                f"free at least {_MIN_FREE // 1_000_000} MB for the embedded database."
            )


def sync_directory(path: Path) -> None:
    """Make renames and new entries of a directory durable."""
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
