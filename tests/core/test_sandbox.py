"""What is read in the sandbox can reach no network, no files and no other process."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

TRY = """
import ctypes, json, os, signal, socket, sys
from messor.core import sandbox
from messor.web.html import read_page

read_page("<p>loaded</p>", "http://a.example/")
libc = ctypes.CDLL(None, use_errno=True)
inherited = socket.socketpair()[0]
other = int(sys.argv[1])
has_left = sandbox.leave_network()
refused = sandbox.enter(readable=sys.argv[3:])
outcomes = {}

def attempt(name, act):
    try:
        outcomes[name] = f"done: {act()}"
    except OSError as error:
        outcomes[name] = type(error).__name__

def called(function, *given):
    if function(*given) == -1:
        raise OSError(ctypes.get_errno(), "refused")

attempt("internet socket", lambda: socket.socket(socket.AF_INET))
attempt("unix socket", lambda: socket.socket(socket.AF_UNIX))
attempt("netlink socket", lambda: socket.socket(socket.AF_NETLINK))
attempt("read a file", lambda: open("/etc/passwd").read(1))
attempt("read what is needed", lambda: open(sys.argv[2]).read())
attempt("write a file", lambda: open(sys.argv[2] + ".new", "w"))
attempt("change a file", lambda: open(sys.argv[2], "r+"))
attempt("list a folder", lambda: os.listdir("/"))
attempt("remove a file", lambda: os.unlink(sys.argv[2]))
attempt("fork", os.fork)
attempt("exec", lambda: os.execv("/bin/true", ["true"]))
attempt("signal another", lambda: os.kill(other, signal.SIGTERM))
attempt("trace another", lambda: called(libc.ptrace, 16, other, 0, 0))
attempt("memory of another", lambda: called(libc.process_vm_readv, other, 0, 0, 0, 0, 0))
attempt("another's limits", lambda: called(libc.prlimit, other, 7, 0, 0))
attempt("become another user", lambda: os.setuid(65534))
attempt("a namespace", lambda: called(libc.unshare, 0x10000000))
attempt("listen", lambda: inherited.listen())
page = "<title>read</title><p>" + "word " * 10_000
outcomes["a page"] = read_page(page, "http://a.example/").title
print(json.dumps({"refused": refused, "has_left": has_left, "outcomes": outcomes}))
"""

ESCAPES = (
    "internet socket", "unix socket", "netlink socket", "read a file", "write a file",
    "change a file", "list a folder", "remove a file", "fork", "exec", "signal another",
    "trace another", "memory of another", "another's limits", "become another user", "a namespace",
    "listen",
)  # fmt: skip

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="no filter for this processor"
)


def tried(tmp_path: Path, *readable: Path) -> dict[str, str]:
    """What became of every attempt made in the sandbox."""
    needed = tmp_path / "needed"
    needed.write_text("needed")
    with subprocess.Popen(["sleep", "60"]) as other:
        try:
            done = subprocess.run(
                [sys.executable, "-c", TRY, str(other.pid), str(needed), *map(str, readable)],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            assert other.poll() is None
        finally:
            other.kill()
    found = json.loads(done.stdout)
    if "system calls (seccomp)" in found["refused"]:
        pytest.skip("this kernel filters no system calls")
    outcomes: dict[str, str] = found["outcomes"]
    assert needed.read_text() == "needed"
    assert outcomes["a page"] == "read"
    return outcomes


def test_nothing_can_be_reached(tmp_path: Path) -> None:
    outcomes = tried(tmp_path)
    assert {name: outcomes[name] for name in ESCAPES} == dict.fromkeys(ESCAPES, "PermissionError")
    assert outcomes["read what is needed"] == "PermissionError"


def test_only_what_is_needed_can_be_read(tmp_path: Path) -> None:
    outcomes = tried(tmp_path, tmp_path)
    assert {name: outcomes[name] for name in ESCAPES} == dict.fromkeys(ESCAPES, "PermissionError")
    assert outcomes["read what is needed"] == "done: needed"
