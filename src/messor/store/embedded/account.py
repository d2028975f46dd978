"""The account the server runs under. PostgreSQL refuses root, so root uses another account.

Existing data keeps its owner; new data goes to an existing unprivileged account, none is created.
That account may be unable to reach the data or the programs (a folder under /root): then the server
keeps the one capability that lets it pass, and no folder's permissions are widened. Messor's own
database role is not a superuser, so SQL cannot use that capability.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from messor.errors import UnavailableError
from messor.store.embedded.folder import DataFolder
from messor.store.embedded.programs import Programs

_PREFERRED = ("messor", "postgres", "_postgres", "nobody")
# The narrower one first; containers often have only the second.
_PASSES = ("dac_read_search", "dac_override")
_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
_REACH = 'cd "$1" && exec "$2" --version'


class _Ids(NamedTuple):
    """Ids that a child process changes to; None leaves them unchanged."""

    user: int | None = None
    group: int | None = None
    extra_groups: list[int] | None = None


@dataclass(frozen=True)
class Account:
    """`uid` None is the account that Messor itself runs under."""

    uid: int | None = None
    gid: int | None = None
    capability: str | None = None

    def run(
        self,
        command: list[str],
        *,
        timeout: float,
        env: dict[str, str] | None = None,
        text: str | None = None,
        output: int = subprocess.PIPE,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to completion, in its own session and without our environment."""
        changes = self.uid is not None and self.capability is None
        ids = _Ids(self.uid, self.gid, []) if changes else _Ids()
        try:
            return subprocess.run(  # noqa: S603 - PostgreSQL's programs with our own arguments
                [*self._prefix(), *command],
                check=False,
                timeout=timeout,
                input=text or "",
                stdout=output,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                cwd="/",
                env={"PATH": _PATH, "LC_ALL": "C", "TZ": "UTC", **(env or {})},
                start_new_session=True,
                user=ids.user,
                group=ids.group,
                extra_groups=ids.extra_groups,
            )
        except subprocess.TimeoutExpired as error:
            name = Path(command[0]).name
            raise UnavailableError(f"{name} did not finish within {timeout:.0f} s.") from error

    def give(self, path: Path) -> None:
        """Make the account the owner of one of our files or folders."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def give_tree(self, root: Path) -> None:
        self.give(root)
        for folder, names, files in os.walk(root):
            for name in (*names, *files):
                self.give(Path(folder, name))

    def may_reach(self, folder: Path, programs: Programs) -> bool:
        """Whether the account can enter the folder and run the programs without a capability."""
        command = ["/bin/sh", "-c", _REACH, "sh", str(folder), programs.path("postgres")]
        return self.run(command, timeout=30).returncode == 0

    def _prefix(self) -> list[str]:
        if self.capability is None:
            return []
        # The secure bit makes the capability visible to access(2), by which PostgreSQL's programs
        # find each other; without it that call ignores capabilities for every user but root.
        return [
            "setpriv", "--securebits=+no_setuid_fixup",
            f"--reuid={self.uid}", f"--regid={self.gid}", "--clear-groups",
            f"--inh-caps=+{self.capability}", f"--ambient-caps=+{self.capability}", "--",
        ]  # fmt: skip


def choose_account(folder: DataFolder, programs: Programs) -> Account:
    """The account to run the server under; root takes the first one that reaches everything needed."""
    if os.geteuid() != 0:
        return Account()
    for uid, gid in _candidates(folder):
        for account in _ways(uid, gid):
            if account.may_reach(folder.base, programs):
                return account
    raise UnavailableError(
        f"PostgreSQL does not run as root, and no other account can access {folder.base} and "
        f"{programs.bin_dir}: set MESSOR_DATA_DIR to a folder that others can enter, such as "
        f"/var/lib/messor, or run Messor as a normal user."
    )


def _candidates(folder: DataFolder) -> Iterator[tuple[int, int]]:
    for place in filter(Path.exists, (folder.data, folder.base)):
        owner = place.stat()
        if owner.st_uid != 0:
            yield owner.st_uid, owner.st_gid
            return
    for name in _PREFERRED:
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(name)
            yield entry.pw_uid, entry.pw_gid


def _ways(uid: int, gid: int) -> Iterator[Account]:
    yield Account(uid, gid)
    if shutil.which("setpriv", path=_PATH) is not None:
        for capability in _PASSES:
            yield Account(uid, gid, capability)
