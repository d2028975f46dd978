"""`messor traffic` as a person meets it, and what the other commands say while traffic is halted."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta

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
    assert messor("traffic", "status", "--json").json == {
        "halted": False,
        "halt": None,
        "limits": None,
    }


def test_what_does_not_fit_is_refused_with_what_to_do(messor: Messor) -> None:
    assert messor("traffic", "halt").code == 2
    assert "1 to 500 characters" in messor("traffic", "halt", "--reason", " ").err
    assert messor("traffic", "resume").code == 5
    messor("traffic", "halt", "--reason", REASON)
    again = messor("traffic", "halt", "--reason", "another")
    assert (again.code, "already halted" in again.err) == (5, True)
    assert messor("traffic", "status", "--json").json["halt"]["reason"] == REASON


def test_limits_are_set_shown_and_removed(messor: Messor) -> None:
    closed = (datetime.now(UTC) + timedelta(hours=3)).hour
    hours = f"{closed}-{(closed + 1) % 24}"
    assert messor("traffic", "limit").code == 2
    assert messor("traffic", "limit", "--none", "--hours", hours).code == 2
    assert "not a time zone" in messor("traffic", "limit", "--hours", hours, "--time-zone", "X").err
    done = messor("traffic", "limit", "--hours", hours, "--megabytes-per-day", "5", "--json")
    assert done.json["limits"]["megabytes_per_day"] == 5
    assert f"visited during {hours} h (UTC) only; it goes on at" in messor("traffic", "status").out
    refused = messor("crawl", "https://example.org/")
    assert refused.code == 5
    assert "messor traffic limit" in refused.err
    assert messor("traffic", "limit", "--none").code == 0
    assert messor("traffic", "status").out == "Traffic is running.\n"


def test_limits_of_a_domain_are_terms(messor: Messor) -> None:
    assert messor("domains", "submit", "one.test").code == 0
    given = ("--hours", "9-17", "--time-zone", "Asia/Tokyo", "--megabytes-per-day", "7")
    assert messor("domains", "configure", "one.test", *given).code == 0
    assert "hours 9-17, time-zone Asia/Tokyo" in messor("domains", "show", "one.test").out
    assert "no crawl hours" in messor("domains", "configure", "one.test", "--hours", "9").err
    again = messor(
        "domains", "configure", "one.test", "--reset-hours", "--reset-megabytes", "--json"
    )
    assert (again.json["crawl_hours"], again.json["megabytes_per_day"]) == (None, None)


def test_the_command_is_there_at_once() -> None:
    """Who halts is in a hurry: nothing is loaded that crawls, reads pages or serves."""
    code = "import sys, messor.cli.main, messor.cli.traffic; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "messor.politeness.traffic" in loaded
    assert not {"messor.crawl", "messor.content", "messor.fetch", "aiohttp", "lxml"} & set(loaded)
