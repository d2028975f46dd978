"""Every command: help with an example, JSON that parses, exit codes, errors of one sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from messor.cli.main import cli
from messor.cli.summaries import SUMMARIES
from simweb import WorldProcess
from tests.cli.conftest import Messor, Said, run_process

CONTEXT = click.Context(cli)


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield words
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name)


@pytest.mark.parametrize("words", list(commands(cli)), ids=" ".join)
def test_every_help_has_an_example(words: tuple[str, ...]) -> None:
    said = CliRunner().invoke(cli, [*words, "--help"])
    assert said.exit_code == 0
    assert "Example" in said.output
    assert " ".join(("messor", *words)) in said.output


def is_one_sentence(said: Said) -> bool:
    lines = said.err.strip().splitlines()
    return len(lines) == 1 and lines[0].startswith("messor: ") and "Traceback" not in said.err


def test_a_domains_life(messor: Messor) -> None:
    said = messor("domains", "submit", "www.Example.org", "--context", "food bank", "--json")
    assert (said.code, said.json["domain"], said.json["status"]) == (
        0,
        "example.org",
        "pending_review",
    )
    assert said.json["submission_context"] == "food bank"
    assert "already submitted" in messor("domains", "submit", "example.org").err
    said = messor("domains", "approve", "example.org", "--json")
    assert (said.code, said.json["status"]) == (0, "approved")
    assert [d["domain"] for d in messor("domains", "list", "--json").json] == ["example.org"]
    assert messor("domains", "list", "--status", "rejected", "--json").json == []
    assert messor("domains", "show", "https://example.org/x", "--json").json["status"] == "approved"
    shown = messor("domains", "show", "example.org")
    assert "food bank" in shown.out
    assert "example.org" in messor("domains", "list").out


def test_terms_are_changed_and_shown(messor: Messor) -> None:
    messor("domains", "submit", "example.org")
    before = messor("domains", "show", "example.org", "--json").json
    said = messor(
        "domains", "configure", "example.org", "--delay", "2.5", "--depth", "4", "--page-budget", "50",
        "--max-concurrent-requests", "3", "--every", "48", "--on-block", "failover", "--render", "never", "--harvest",
        "asked", "--directives", "ignore", "--reservations", "respect", "--robots-forbidden",
        "deny", "--proxies", "pool", "--no-verify-tls", "--json",
    )  # fmt: skip
    assert said.code == 0
    assert said.json["policy_version"] == before["policy_version"] + 1
    after = messor("domains", "show", "example.org", "--json").json
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {
        "crawl_delay_seconds", "max_crawl_depth", "page_budget", "max_concurrent_requests",
        "scrape_frequency_hours", "on_block", "render", "harvest", "directives", "reservations",
        "robots_forbidden", "proxies", "verify_tls", "policy_version",
    }  # fmt: skip
    shown = messor("domains", "show", "example.org").out
    assert "delay 2.5 s" in shown
    assert "every 48 h" in shown
    assert "verify-tls no" in shown
    assert "domain.configured" in messor("events").out


def test_configuring_nothing_is_one_sentence(messor: Messor) -> None:
    messor("domains", "submit", "example.org")
    said = messor("domains", "configure", "example.org")
    assert said.code == 2
    assert is_one_sentence(said)
    assert messor("domains", "configure", "nowhere.example", "--depth", "1").code == 4


def test_a_domain_in_full(
    messor: Messor, demo_world: WorldProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in demo_world.settings_env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MESSOR_BROWSER", "off")
    messor("crawl", "http://forbidden.test/", "--delay", "0")
    shown = messor("domains", "show", "forbidden.test")
    assert shown.code == 0, shown.err
    assert "medium" in shown.out
    assert "risk is medium" in shown.out
    assert "friction at" in shown.out
    assert "http://forbidden.test/sitemap.xml" in shown.out
    told = messor("domains", "show", "forbidden.test", "--json").json
    (host,) = told["hosts"]
    assert host["is_main"]
    assert host["risk_level"] == "medium"
    assert host["robots"] == "rules"
    assert {sign["signal"] for sign in host["friction"]} == {"403"}
    assert told["sitemaps"][0]["error_json"]["status"] == 403
    assert told["pages"] == {"blocked": 1}


def test_an_empty_list_says_what_to_do(messor: Messor) -> None:
    said = messor("domains", "list")
    assert (said.code, said.out) == (0, "")
    assert "messor domains submit" in said.err


@pytest.mark.parametrize(
    "words, code",
    [
        (("domains", "submit", "file:///etc/passwd"), 2),
        (("domains", "submit", "127.0.0.1"), 2),
        (("domains", "submit", "x" * 10_000), 2),
        (("domains", "show", "nowhere.example"), 4),
        (("domains", "approve", "nowhere.example"), 4),
        (("crawl", "http://10.0.0.1/"), 2),
        (("why", "javascript:alert(1)"), 2),
        (("db", "upgrade", "no-such-revision"), 2),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, tuple) else str(value),
)
def test_what_cannot_be_done_is_one_sentence(
    messor: Messor, words: tuple[str, ...], code: int
) -> None:
    said = messor(*words)
    assert said.code == code
    assert is_one_sentence(said)
    assert len(said.err) < 400


@pytest.mark.parametrize(
    "words",
    [
        ("no-such-command",),
        ("domains", "list", "--status", "unheard_of"),
        ("crawl", "http://one.test/", "--delay", "-1"),
        ("crawl", "http://one.test/", "--depth", "101"),
        ("crawl", "http://one.test/", "--max-pages", "0"),
        ("domains", "configure", "one.test", "--delay", "-1"),
        ("domains", "configure", "one.test", "--depth", "101"),
        ("domains", "configure", "one.test", "--every", "0"),
        ("domains", "configure", "one.test", "--on-block", "fight"),
        ("crawl",),
    ],
    ids=" ".join,
)
def test_bad_words_are_usage_errors(messor: Messor, words: tuple[str, ...]) -> None:
    said = messor(*words)
    assert said.code == 2
    assert "Traceback" not in said.err


def test_approving_twice_is_a_conflict(messor: Messor) -> None:
    messor("domains", "submit", "example.org")
    assert messor("domains", "approve", "example.org").code == 0
    said = messor("domains", "approve", "example.org")
    assert said.code == 5
    assert is_one_sentence(said)


@pytest.mark.parametrize(
    "name, value",
    [
        ("MESSOR_DEFAULT_DELAY", "soon"),
        ("MESSOR_DEFAULT_DELAY", "-1"),
        ("MESSOR_WORKER_LEASE", "0"),
        ("MESSOR_CONCURRENCY", "0"),
        ("MESSOR_ALLOWED_NETWORKS", "{not json"),
        ("MESSOR_ALLOWED_NETWORKS__ADDRESSES", '["not a network"]'),
        ("MESSOR_CONTACT", "line\nbreak"),
    ],
)
def test_a_wrong_setting_is_one_sentence(
    messor: Messor, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    said = messor("domains", "list")
    assert said.code == 2
    assert is_one_sentence(said)
    assert "MESSOR_" in said.err


@pytest.mark.parametrize("command", [("domains", "list"), ("db", "upgrade"), ("db", "status")])
def test_a_database_that_is_not_there_is_one_sentence(
    messor: Messor, dsn: str, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("MESSOR_DATABASE_URL", f"{dsn.rpartition('/')[0]}/no_such_database")
    said = messor(*command)
    assert said.code == 6
    assert is_one_sentence(said)
    assert "no_such_database" in said.err


def test_the_password_is_never_shown(
    messor: Messor, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = dsn.partition("://")[2].partition("@")[0].partition(":")[2]
    monkeypatch.setenv("MESSOR_DATABASE_URL", f"{dsn.rpartition('/')[0]}/no_such_database")
    for command in (("domains", "list"), ("db", "status"), ("db", "upgrade")):
        said = messor(*command)
        assert password not in said.out + said.err


def test_why_says_what_would_happen(messor: Messor) -> None:
    said = messor("why", "https://example.org/x", "--json")
    assert (said.code, said.json["verdict"]) == (0, "denied")
    messor("domains", "submit", "example.org")
    messor("domains", "approve", "example.org")
    said = messor("why", "example.org")
    assert said.code == 0
    assert "https://example.org/: deferred" in said.out


def test_a_crawl_from_nothing(
    messor: Messor, demo_world: WorldProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in demo_world.settings_env().items():
        monkeypatch.setenv(name, value)
    words = ("crawl", "http://larkfield-bikes.test/", "--delay", "0", "--depth", "1", "--json")
    said = messor(*words)
    assert said.code == 0
    assert said.json["domain"] == "larkfield-bikes.test"
    assert said.json["outcomes"]["ok"] > 5
    assert said.json["outcomes"]["robots"] >= 1
    explained = messor("why", "http://larkfield-bikes.test/private/staff", "--json")
    assert explained.json["verdict"] == "denied"
    assert messor("domains", "show", "larkfield-bikes.test", "--json").json["last_scraped_at"]


def test_a_crawl_of_a_refused_domain_is_a_conflict(messor: Messor) -> None:
    messor("domains", "submit", "example.org")
    messor("domains", "reject", "example.org", "--reason", "not ours")
    said = messor("crawl", "https://example.org/")
    assert said.code in (2, 5)
    assert is_one_sentence(said)


def test_db_status_in_a_process_of_its_own(dsn: str, tmp_path: Path) -> None:
    said = run_process("db", "status", "--json", folder=tmp_path, MESSOR_DATABASE_URL=dsn)
    assert said.code == 0
    assert said.json["server"] == "given"
    assert said.json["revision"] == said.json["newest"]


def test_db_down_and_up(messor: Messor) -> None:
    assert messor("db", "downgrade", "base", "--yes").code == 0
    said = messor("domains", "list")
    assert said.code == 6
    assert "messor db upgrade" in said.err
    assert messor("db", "upgrade").code == 0
    assert messor("domains", "list").code == 0


HELP = """
import sys
from messor.cli.main import cli
cli(["--help"], standalone_mode=False)
print([name for name in ("alembic", "sqlalchemy", "fastapi") if name in sys.modules], file=sys.stderr)
print(sorted(name for name in sys.modules if name.startswith(("messor.cli.", "simweb"))), file=sys.stderr)
"""


def test_help_loads_no_command() -> None:
    said = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    libraries, modules = said.stderr.splitlines()
    assert libraries == "[]"
    assert modules == "['messor.cli.main', 'messor.cli.output', 'messor.cli.summaries']"
    for name in cli.list_commands(CONTEXT):
        assert f"\n  {name} " in said.stdout


def test_a_summary_is_the_first_sentence_of_the_help() -> None:
    told = {}
    for name in cli.list_commands(CONTEXT):
        command = cli.get_command(CONTEXT, name)
        assert command is not None
        told[name] = command.get_short_help_str(1000)
    assert told == SUMMARIES


def test_completion_offers_commands_with_their_summaries() -> None:
    (offered,) = cli.shell_complete(CONTEXT, "wor")
    assert (offered.value, offered.help) == (
        "worker",
        "Crawl due pages, extract records and run...",
    )
    assert [one.value for one in cli.shell_complete(CONTEXT, "re")] == [
        "records", "rehearse", "relevance", "replay", "retention",
    ]  # fmt: skip
