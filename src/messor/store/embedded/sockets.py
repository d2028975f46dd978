"""The folder of the embedded server's socket, which only its account and root may enter.

That is `socket/` in the server's folder. A socket's path may have at most 107 bytes, so under a
deep data folder it is a folder in /tmp instead, whose random name is stored.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path

from messor.errors import UnavailableError
from messor.store.embedded.account import Account
from messor.store.embedded.folder import DataFolder

_MAX_PATH = 107 - len("/.s.PGSQL.65535")  # bytes of the folder's path
_SHARED = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - folders in them are made and checked
_PREFIX = "messor-"


def prepare_socket_folder(folder: DataFolder, account: Account) -> Path:
    """The folder for the socket, created and closed to others. The caller holds the start lock."""
    own = folder.socket
    if len(os.fsencode(own)) <= _MAX_PATH:
        if not _make_private(own, account):
            raise UnavailableError(
                f"{own} belongs to another account: remove it, and it is created again."
            )
        return own
    noted = folder.noted_socket()
    if noted is not None and _make_private(noted, account):
        return noted
    return _make_elsewhere(folder, account)


def clear_sockets(place: Path) -> None:
    """Remove sockets of a killed server. The caller has found no live server.

    PostgreSQL detects by itself that a pid is gone, but would take a zombie, or an unrelated
    process that now has the pid, for the owner of the socket.
    """
    for left in place.glob(".s.PGSQL.*"):
        left.unlink(missing_ok=True)


def remove_socket_folder(folder: DataFolder) -> None:
    """After the server has stopped; the name of a folder in /tmp is kept for the next start."""
    noted = folder.noted_socket()
    if noted is not None:
        with contextlib.suppress(OSError):  # not empty, or not ours to remove: it stays
            noted.rmdir()


def _make_elsewhere(folder: DataFolder, account: Account) -> Path:
    for shared in filter(_is_safe, _SHARED):
        with contextlib.suppress(OSError):
            made = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=shared))
            if _make_private(made, account):
                folder.note_socket(made)
                return made
    raise UnavailableError(
        f"The path of {folder.socket} is too long for a socket, and no folder could be created "
        f"in {_SHARED[0]} instead: set MESSOR_DATA_DIR to a folder with a shorter path."
    )


def _is_safe(shared: Path) -> bool:
    """Whether others cannot rename or remove our files there."""
    try:
        mode = shared.stat().st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISVTX) or not mode & 0o022


def _make_private(path: Path, account: Account) -> bool:
    """Create the folder or use an existing one; False if it is a symlink or another account's."""
    try:
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        owner = os.geteuid() if account.uid is None else account.uid
        if os.fstat(fd).st_uid not in {owner, os.geteuid()}:
            return False
        if account.uid is not None and account.gid is not None:
            os.fchown(fd, account.uid, account.gid)
        os.fchmod(fd, 0o700)
        return True
    finally:
        os.close(fd)
