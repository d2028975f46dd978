"""Processes of the browser are found in one walk, whatever number of them is known already."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from messor.fetch.browser import processes


def test_descendants_of_several_processes_are_found_in_one_walk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nested = "import subprocess, sys; subprocess.run(['cat'])"
    with subprocess.Popen([sys.executable, "-c", nested], stdin=subprocess.PIPE) as child:
        try:
            while not (below := processes.descendants(child.pid)):
                pass
            walks: list[int] = []
            walk = processes._processes

            def counted() -> list[int]:
                walks.append(1)
                return walk()

            monkeypatch.setattr(processes, "_processes", counted)
            found = processes.tree(child.pid, below[0], os.getpid())
            assert {child.pid, below[0], os.getpid()} <= found.keys()
            assert len(walks) == 1
        finally:
            assert child.stdin is not None
            child.stdin.close()
