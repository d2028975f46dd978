"""The audit of dependencies fails on what it finds and on its own errors, not on a missing network."""

from __future__ import annotations

import json
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest

AUDIT = Path(__file__).parents[2] / ".ci" / "audit.py"


def _said(**vulns: list[str] | None) -> str:
    """What pip-audit prints; None for a package that it did not look up."""
    rows = [
        {"name": name, "skip_reason": "no answer"}
        if found is None
        else {"name": name, "version": "1", "vulns": [{"id": each} for each in found]}
        for name, found in vulns.items()
    ]
    return json.dumps({"dependencies": rows, "fixes": []})


@pytest.mark.parametrize(
    "out, err, code",
    [
        (_said(a=[], b=[]), "", 0),
        (_said(a=[], b=["PYSEC-1"], c=None), "", 1),
        (_said(a=None, b=None), "", 0),
        ("", "ConnectionError: Max retries exceeded", 0),
        ("", "ERROR:pip_audit._cli:requirement a==1 does not contain a hash", 1),
        ("", "", 1),
    ],
    ids=["sound", "found", "not-reached", "no-network", "its-own-error", "silent"],
)
def test_what_fails_the_audit(
    monkeypatch: pytest.MonkeyPatch, out: str, err: str, code: int
) -> None:
    def answered(words: list[Any], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(words, 1, out, err)

    monkeypatch.setattr(subprocess, "run", answered)
    assert runpy.run_path(str(AUDIT))["main"]("requirements.txt") == code
