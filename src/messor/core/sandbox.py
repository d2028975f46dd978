"""The sandbox: a process irrevocably drops the rights that reading a page does not need.

Three Linux kernel mechanisms, each tried independently: a system call filter (seccomp), file access
(Landlock), and an empty network namespace, where the user may create one. Refused mechanisms are
reported to the caller, who also sets limits of time and memory.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_SECCOMP_MODE_FILTER = 2
_KILL = 9
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000

# BPF: load a word, jump if equal, return (linux/filter.h, linux/seccomp.h).
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _REFUSE, _KILL_PROCESS = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_NUMBER, _ARCHITECTURE = 0, 4

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_VERSION = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
# All file access rights that each version of Landlock can restrict.
_FILE_ACCESS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
_NEWEST_FILE_ACCESS = (1 << 15) - 1
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6
_ZONES = "/usr/share/zoneinfo"


@dataclass(frozen=True, slots=True)
class _Machine:
    """System call numbers of a processor architecture."""

    architecture: int
    harmless: tuple[int, ...]  # memory, time, and files opened before
    files: tuple[int, ...]  # to open and stat files, within what Landlock allows


_MACHINES = {
    "x86_64": _Machine(
        architecture=0xC000003E,
        harmless=(
            0, 1, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 19, 20, 23, 24, 25, 26, 28, 35,
            39, 60, 96, 98, 99, 100, 102, 104, 107, 108, 131, 186, 201, 202, 204, 218, 219,
            228, 229, 230, 231, 270, 271, 273, 281, 232, 318, 324, 334,
        ),
        files=(2, 4, 6, 21, 32, 33, 79, 89, 217, 221, 257, 262, 267, 269, 292, 332, 439),
    ),
    "aarch64": _Machine(
        architecture=0xC00000B7,
        harmless=(
            22, 57, 62, 63, 64, 65, 66, 67, 72, 73, 80, 93, 94, 96, 98, 99, 100, 101, 113,
            114, 115, 124, 128, 132, 134, 135, 139, 153, 165, 169, 172, 174, 175, 176, 177, 178,
            179, 123, 214, 215, 216, 222, 226, 227, 233, 278, 283, 293,
        ),
        files=(17, 23, 24, 48, 56, 61, 78, 79, 223, 291, 439),
    ),
}  # fmt: skip


def enter(*, readable: Iterable[str] = ()) -> list[str]:
    """Enter the sandbox irrevocably; returns the mechanisms that the kernel refused.

    Open files stay open. Files beneath `readable` may be opened for reading; without it none.
    """
    libc = ctypes.CDLL(None)
    folders = [folder for folder in readable if Path(folder).is_dir()]
    refused: list[str] = []
    _control(libc, _PR_SET_DUMPABLE, 0)
    if not _control(libc, _PR_SET_NO_NEW_PRIVS, 1):
        return [*refused, "no-new-privileges", "files (Landlock)", "system calls (seccomp)"]
    if not _lock_files(libc, folders):
        refused.append("files (Landlock)")
    if not _filter_calls(libc, may_open=bool(folders)):
        refused.append("system calls (seccomp)")
    return refused


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent exits."""
    _control(ctypes.CDLL(None), _PR_SET_PDEATHSIG, _KILL)


def python_folders() -> list[str]:
    """Folders of Python, packages and time zones, which may still be loaded.

    The working directory is not among them, although Python searches it first.
    """
    here = str(Path.cwd())
    found = (str(Path(path).resolve()) for path in sys.path if path)
    return sorted({sys.prefix, sys.base_prefix, _ZONES, *(path for path in found if path != here)})


def _control(libc: ctypes.CDLL, option: int, value: int) -> bool:
    return bool(libc.prctl(option, value, 0, 0, 0) == 0)


def leave_network() -> bool:
    """Move this process and its children into an empty network namespace, where allowed."""
    libc = ctypes.CDLL(None)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return True
    return bool(libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0)


def _lock_files(libc: ctypes.CDLL, folders: list[str]) -> bool:
    """Restrict file access to reading beneath folders, and what else newer kernels can restrict."""
    version = libc.syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)
    if version < 1:
        return False
    rules = struct.pack("=Q", _FILE_ACCESS.get(version, _NEWEST_FILE_ACCESS))
    if version >= _NETWORK_SINCE:
        rules += struct.pack("=Q", 0b11)  # to bind, to connect
    if version >= _SCOPES_SINCE:
        rules += struct.pack("=Q", 0b11)  # abstract sockets, signals to others
    ruleset = libc.syscall(_LANDLOCK_CREATE, rules, len(rules), 0)
    if ruleset < 0:
        return False
    for folder in folders:
        place = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", _READ_FILE | _READ_FOLDER, place)
        libc.syscall(_LANDLOCK_ADD, ruleset, _PATH_BENEATH, rule, 0)
        os.close(place)
    is_locked = bool(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
    os.close(ruleset)
    return is_locked


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def _filter_calls(libc: ctypes.CDLL, *, may_open: bool) -> bool:
    """Refuse all system calls except those listed; calls of another architecture kill the process."""
    machine = _MACHINES.get(platform.machine())
    if machine is None or sys.maxsize < 1 << 32:
        return False
    code = _filter_code(machine, may_open=may_open)
    program = _Filter(len(code) // 8, code)
    pointer = ctypes.byref(program)
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, pointer, 0, 0) == 0)


def _filter_code(machine: _Machine, *, may_open: bool) -> bytes:
    allowed = [*machine.harmless, *(machine.files if may_open else ())]
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, machine.architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for number in allowed:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    lines.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)
