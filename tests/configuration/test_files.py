"""The configuration as files: planned, applied whole or not at all, written, and pruned only when asked."""

from __future__ import annotations

from asyncio import run
from pathlib import Path
from typing import Any

import pytest

from messor.store.database import Database
from tests.cli.conftest import Messor

DIFFERS = 9
FILES = """
[domains."one.test"]
status = "approved"
vertical = "funding"
uses = ["search"]
delay = 0.3
crawl_hours = "22-06"
time_zone = "Europe/Berlin"
max_crawl_depth = 2
trusted = true

[domains."two.test"]
status = "suspended"
reason = "asked us to wait"

[members."ada@example.org"]
name = "Ada L."
role = "reviewer"

[retention.news]
domain = "one.test"
days = 30

[watches."Cheaper"]
noun = "products"
condition = { when = "falls", field = "price", percent = 10 }
filters = { domain = "one.test" }

[exports.prices]
noun = "prices"
cadence = "@daily"
place = "lake"

[schedules.O-Sweeper]
cadence = "*/15 * * * *"

[traffic.limits]
crawl_hours = "08-20"
megabytes_per_day = 700
"""


@pytest.fixture
def lake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MESSOR_EXPORT_PLACES", f'{{"lake": "{tmp_path}"}}')


@pytest.fixture
def files(messor: Messor, tmp_path: Path, lake: None) -> Path:
    """A folder that declares something of everything."""
    folder = tmp_path / "config"
    (folder / "verticals").mkdir(parents=True)
    source = messor("verticals", "export", "funding").out
    (folder / "verticals" / "funding.toml").write_text(source)
    (folder / "all.toml").write_text(FILES)
    return folder


def changes(said: Any) -> dict[tuple[str, str], str]:
    return {(one["section"], one["name"]): one["action"] for one in said.json["changes"]}


def fetch(dsn: str, sql: str) -> list[dict[str, Any]]:
    async def read() -> list[dict[str, Any]]:
        async with Database(dsn) as database:
            return [dict(row) for row in await database.fetch(sql)]

    return run(read())


def test_files_are_planned_applied_once_and_exported(
    dsn: str, messor: Messor, files: Path, tmp_path: Path
) -> None:
    planned = messor("plan", str(files), "--json")
    assert planned.code == DIFFERS
    assert not fetch(dsn, "SELECT FROM messor.domains"), "a plan changes nothing"
    applied = messor("apply", str(files), "--json")
    assert applied.code == 0, applied.err
    assert changes(applied) == changes(planned)
    assert messor("plan", str(files)).code == 0
    assert changes(messor("apply", str(files), "--json")) == {}, "a second time changes nothing"

    one = messor("domains", "show", "one.test", "--json").json
    assert (one["status"], one["max_crawl_depth"], one["vertical"]) == ("approved", 2, "funding")
    assert messor("domains", "show", "two.test", "--json").json["status"] == "suspended"
    assert [each["is_active"] for each in messor("watches", "list", "--json").json] == [True]
    facts = fetch(dsn, "SELECT actor, type FROM messor.events ORDER BY id")
    assert {"domain.approved", "watch.added", "configuration.applied"} <= {f["type"] for f in facts}
    assert {fact["actor"] for fact in facts} <= {"local-admin", "system"}

    assert messor("export", "config", "-o", str(tmp_path / "out")).code == 0
    shown = messor("plan", str(tmp_path / "out"), "--prune", "--json")
    assert (shown.code, shown.json["changes"]) == (0, []), "a plan on an export shows nothing"


def test_an_export_makes_another_installation_alike(
    dsn: str, messor: Messor, files: Path, tmp_path: Path
) -> None:
    assert messor("apply", str(files)).code == 0
    assert messor("watches", "add", "Cheaper", "pages", "--when", "blocked").code == 0
    assert messor("domains", "submit", "three.test").code == 0
    assert messor("domains", "blacklist", "three.test", "--reason", 'says "no"\n').code == 0
    assert messor("export", "config", "-o", str(tmp_path / "out")).code == 0
    for table in (
        "watches",
        "retention_rules",
        "standing_exports",
        "members",
        "schedules",
        "traffic_limits",
    ):
        fetch(dsn, f"DELETE FROM messor.{table}")
    fetch(dsn, "TRUNCATE messor.domains CASCADE")
    done = messor("apply", str(tmp_path / "out"), "--json")
    assert done.code == 0, done.err
    assert messor("plan", str(tmp_path / "out"), "--prune").code == 0
    assert messor("domains", "show", "three.test", "--json").json["status"] == "blacklisted"
    assert sorted(w["name"] for w in messor("watches", "list", "--json").json) == ["Cheaper"] * 2


def test_a_fault_leaves_everything_as_it_was(dsn: str, messor: Messor, files: Path) -> None:
    (files / "late.toml").write_text('[watches.Late]\nnoun = "pages"\nchannel = "mail"\n'
                                     'condition = { when = "blocked" }\n')  # fmt: skip
    refused = messor("apply", str(files))
    assert refused.code == 2
    assert "needs a recipient" in refused.err
    assert not fetch(dsn, "SELECT FROM messor.domains"), "all or nothing"
    assert not fetch(dsn, "SELECT FROM messor.verticals")


def test_changes_keep_what_hangs_on_them(dsn: str, messor: Messor, files: Path) -> None:
    assert messor("apply", str(files)).code == 0
    before = fetch(dsn, "SELECT id, token_hash FROM messor.watches")
    text = (files / "all.toml").read_text()
    text = text.replace("percent = 10", "percent = 20").replace('"suspended"', '"approved"')
    (files / "all.toml").write_text(text.replace("delay = 0.3", 'delay = "default"'))
    done = messor("apply", str(files), "--json")
    assert changes(done) == {
        ("domains", "one.test"): "change",
        ("domains", "two.test"): "change",
        ("watches", "Cheaper"): "change",
    }
    assert fetch(dsn, "SELECT id, token_hash FROM messor.watches") == before
    assert fetch(dsn, "SELECT condition ->> 'percent' AS p FROM messor.watches") == [{"p": "20.0"}]
    assert messor("domains", "show", "one.test", "--json").json["crawl_delay_seconds"] is None
    assert messor("domains", "show", "two.test", "--json").json["status"] == "approved"


def test_only_prune_takes_away_and_only_in_named_sections(
    messor: Messor, files: Path, tmp_path: Path
) -> None:
    assert messor("apply", str(files)).code == 0
    few = tmp_path / "few"
    few.mkdir()
    (few / "x.toml").write_text('[retention]\n[watches]\n[domains."two.test"]\ntrusted = false\n')
    assert messor("plan", str(few)).code == 0, "what is not named stays"
    done = messor("apply", str(few), "--prune", "--json")
    assert changes(done) == {
        ("domains", "one.test"): "remove",
        ("retention", "news"): "remove",
        ("watches", "Cheaper"): "remove",
    }
    assert messor("domains", "show", "one.test", "--json").json["status"] == "suspended"
    assert len(messor("members", "list", "--json").json) == 1, "no section, no pruning"


def test_the_last_admin_is_not_pruned(messor: Messor, tmp_path: Path) -> None:
    assert messor("members", "add", "bo@example.org", "--name", "Bo", "--role", "admin").code == 0
    (tmp_path / "m.toml").write_text("[members]\n")
    refused = messor("apply", str(tmp_path), "--prune")
    assert refused.code == 5
    assert "only admin" in refused.err
    (tmp_path / "m.toml").write_text('[members."ada@example.org"]\nname = "Ada"\nrole = "admin"\n')
    assert messor("apply", str(tmp_path), "--prune").code == 0, "another admin comes first"


@pytest.mark.parametrize(
    "text, says",
    [
        ("[domain]", "there is no section"),
        ('[domains."one.test"]\ndepth = 3', "domains.one.test: depth"),
        ('[domains."one.test"]\ndelay = -1', "delay must be between"),
        ('[domains."one.test"]\nstatus = "rejected"', "give a reason"),
        ('[domains."one.test"]\nvertical = "none"', "neither applied nor"),
        ('[domains."one.test"]\n[domains."www.one.test"]', "declared twice"),
        ('[members."ada@example.org"]\nrole = "owner"', "role"),
        ('[members."ada@example.org"]\nrole = "viewer"', "needs a name"),
        ("[retention.x]\n", "give days, versions"),
        ('[schedules.O-None]\ncadence = "@daily"', "there is none"),
        ('[schedules.O-Sweeper]\ncadence = "soon"', "soon"),
        ('[watches.x]\nnoun = "pages"\ncondition = { when = "falls" }', "falls needs field"),
        ("[traffic.all]\nmegabytes_per_day = 5", "traffic.limits"),
        ("[traffic.limits]\n", "give crawl_hours"),
        ("[domains", "not valid TOML"),
        ("domains = 3", "must be tables"),
    ],
)
def test_a_wrong_file_is_refused_with_one_sentence(
    messor: Messor, tmp_path: Path, text: str, says: str
) -> None:
    (tmp_path / "bad.toml").write_text(text)
    for command in ("plan", "apply"):
        said = messor(command, str(tmp_path))
        assert said.code == 2
        assert says in said.err
        assert len(said.err.strip().splitlines()) == 1


def test_steps_that_files_cannot_take_are_refused(messor: Messor, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text('[domains."one.test"]\nstatus = "blacklisted"\nreason = "x"\n')
    assert messor("apply", str(tmp_path)).code == 0
    (tmp_path / "d.toml").write_text('[domains."one.test"]\nstatus = "approved"\n')
    said = messor("plan", str(tmp_path))
    assert said.code == 5
    assert "cannot become approved" in said.err


def test_an_export_does_not_write_over_files(messor: Messor, tmp_path: Path) -> None:
    assert messor("export", "config", "-o", str(tmp_path)).code == 0
    assert messor("export", "config", "-o", str(tmp_path)).code == 2
    assert messor("export", "config", "-o", str(tmp_path), "--overwrite").code == 0
    assert messor("plan", str(tmp_path / "none")).code == 2
