"""`messor traffic` as a person meets it, and what the other commands say while traffic is halted."""

from __future__ import annotations

import subprocess
import sys

from tests.cli.conftest import Messor

REASON = "a site complained"


def test_a_halt_is_told_refuses_crawls_and_is_lifted(messor: Messor) -> None:
    assert messor("traffic", "status").out == "Traffic is running.\n"
    halted = messor("traffic", "halt", "--reason", REASON)
    assert halted.code == 0
    assert "messor traffic resume" in halted.err
    assert "halted by local-admin on 20" in messor("traffic", "status").out
    assert messor("traffic", "status", "--json").json["halt"]["reason"] == REASON
    for words in (["crawl", "https://example.org/"], ["https://example.org/", "--mode", "light"]):
        said = messor(*words)
        assert said.code == 5
        assert f"{REASON}. An admin can lift it: messor traffic resume" in said.err
        assert "Harvesting" not in said.err
    assert messor("domains", "list", "--json").out.strip() in ("", "[]")  # nothing was begun
    lifted = messor("traffic", "resume")
    assert (lifted.code, REASON in lifted.err) == (0, True)
    assert messor("traffic", "status", "--json").json == {"halted": False, "halt": None}


def test_what_does_not_fit_is_refused_with_what_to_do(messor: Messor) -> None:
    assert messor("traffic", "halt").code == 2
    assert "1 to 500 characters" in messor("traffic", "halt", "--reason", " ").err
    assert messor("traffic", "resume").code == 5
    messor("traffic", "halt", "--reason", REASON)
    again = messor("traffic", "halt", "--reason", "another")
    assert (again.code, "already halted" in again.err) == (5, True)
    assert messor("traffic", "status", "--json").json["halt"]["reason"] == REASON


def test_the_command_is_there_at_once() -> None:
    """Who halts is in a hurry: nothing is loaded that crawls, reads pages or serves."""
    code = "import sys, messor.cli.main, messor.cli.traffic; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "messor.politeness.traffic" in loaded
    assert not {"messor.crawl", "messor.content", "messor.fetch", "aiohttp", "lxml"} & set(loaded)
