"""One user's handle on the embedded PostgreSQL that all Messor processes of a data folder share.

The first user starts the server and the last one stops it. Every user holds a shared lock on one
file, which the kernel releases with the process, so a killed user is never counted; a server left
without users is taken over, and later stopped, by the next one. All calls block, for seconds, at
worst minutes: asyncio callers run them in a thread. Connections are left to `store.database`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from messor.core.full_disk import is_full
from messor.errors import MessorError, UnavailableError
from messor.store.embedded.folder import DataFolder
from messor.store.embedded.launch import START_LIMIT_SECONDS, bring_down, bring_up, rotate_password
from messor.store.embedded.locks import FileLock, count_sharers, held_alone
from messor.store.embedded.postmaster import find_postmaster
from messor.store.embedded.programs import Programs, find_programs


@dataclass(frozen=True)
class ServerStatus:
    running: bool
    version: str | None  # such as 18.4; None while there is no data
    port: int | None  # of loopback; None when it listens on its socket alone
    socket: Path | None  # the socket's folder, while it runs
    data_folder: Path
    pid: int | None
    users: int | None  # None where the system does not say


class EmbeddedServer:
    """A handle may be used from several threads; a forked child starts with an unused handle."""

    def __init__(self, data_dir: Path, *, bin_dir: Path | None = None, port: int = 0) -> None:
        self._folder = DataFolder(data_dir.absolute() / "postgres")
        self._bin_dir = bin_dir
        self._port = port
        self._mutex = threading.Lock()
        self._user: FileLock | None = None
        self._user_pid = 0

    def acquire(self) -> str:
        """Become a user, starting the server if necessary; return its DSN.

        A running server keeps its socket and port. A second call changes nothing.
        """
        return self.ensure_running()

    def ensure_running(self) -> str:
        """The DSN of a server that responds, restarted if it died; its DSN stays the same if
        possible.
        """
        with self._mutex, self._plain_errors():
            self._folder.make()
            with self._start_lock():
                joined = self._join()
                try:
                    return bring_up(self._folder, self._bin_dir, self._port)
                except KeyboardInterrupt:
                    if joined:
                        self._leave()
                    raise
                except (MessorError, OSError):
                    if joined:
                        self._drop()
                    raise

    def rotate_password(self) -> None:
        """Change the server's password; the caller is a user of it."""
        with self._mutex, self._plain_errors(), self._start_lock():
            rotate_password(self._folder, bring_up(self._folder, self._bin_dir, self._port))

    def release(self) -> None:
        """Stop being a user; the last one stops the server. Without `acquire` it does nothing."""
        with self._mutex, self._plain_errors():
            if not self._is_user():
                self._drop()
            elif self._user is not None and not self._user.is_current():
                self._drop()  # the folder was removed or recreated: the server there is not ours
            else:
                with self._start_lock():
                    self._leave()

    def programs(self) -> Programs:
        """The programs that the data runs with, or would."""
        with self._plain_errors():
            return find_programs(self._bin_dir, self._folder.data_version())

    def status(self) -> ServerStatus:
        """The current state, without becoming a user and without waiting."""
        with self._plain_errors():
            server = find_postmaster(self._folder.data)
            return ServerStatus(
                running=server is not None,
                version=self._version(),
                port=server.port if server and server.listens else None,
                socket=server.socket if server else None,
                data_folder=self._folder.data,
                pid=server.pid if server else None,
                users=count_sharers(self._folder.users_lock),
            )

    def _start_lock(self) -> contextlib.AbstractContextManager[None]:
        limit = START_LIMIT_SECONDS + 30
        return held_alone(self._folder.start_lock, self._folder.own, limit=limit)

    def _is_user(self) -> bool:
        return self._user is not None and self._user_pid == os.getpid()

    def _join(self) -> bool:
        """Take the users' lock; returns whether that is new. The start lock is held."""
        if self._is_user() and self._user is not None and self._user.is_current():
            return False
        self._drop()
        self._user = FileLock(self._folder.users_lock, self._folder.own)
        self._user_pid = os.getpid()
        self._user.share()
        return True

    def _leave(self) -> None:
        """Release the users' lock and stop the server if nobody else holds it."""
        try:
            if self._user is not None and self._user.try_alone():
                bring_down(self._folder, self._bin_dir)
        finally:
            self._drop()

    def _drop(self) -> None:
        # Closing is enough: in a forked child it leaves the parent's lock in place.
        if self._user is not None:
            self._user.close()
            self._user = None

    def _version(self) -> str | None:
        major = self._folder.data_version()
        if major is None:
            return None
        try:
            return find_programs(self._bin_dir, major).version
        except UnavailableError:
            return str(major)

    @contextlib.contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn operating system errors into one message about the folder."""
        try:
            yield
        except OSError as error:
            place = error.filename or self._folder.base
            if is_full(error):
                sentence = f"The disk of {self._folder.base} is full: free some space."
            else:
                sentence = (
                    f"The embedded database cannot use {place} ({error.strerror}): make it "
                    f"writable for this user, or set MESSOR_DATA_DIR to another folder."
                )
            raise UnavailableError(sentence) from error
