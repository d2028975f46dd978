"""`messor schedule` as a person meets it."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from messor.cli.main import COMMANDS
from tests.cli.conftest import Messor
from tests.schedule.test_clockwork import USUAL


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "schedule", "messor.cli.schedule:schedule")


async def _execute(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn, ssl=False)
    try:
        for statement in statements:
            await connection.execute(statement)
    finally:
        await connection.close()


def execute(dsn: str, *statements: str) -> None:
    asyncio.run(_execute(dsn, *statements))


def line_of(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name))


def test_what_runs_next_and_why(messor: Messor) -> None:
    said = messor("schedule", "show")
    assert (said.code, said.err) == (0, "")
    assert said.out.splitlines()[0].split("  ")[0] == "NAME"
    assert "*/5 * * * *" in line_of(said.out, "O-Sweeper")
    assert "default" in line_of(said.out, "O-Daily")
    assert "not available: needs a search engine" in line_of(said.out, "O-SERP")
    assert "makes pages due by their domain's track level" in said.out
    assert "No leader yet" in said.out


def test_the_same_for_machines(messor: Messor) -> None:
    found = messor("schedule", "show", "--json").json
    assert found["leader"] is None
    by_name = {schedule["name"]: schedule for schedule in found["schedules"]}
    assert list(by_name) == [*USUAL, "O-SERP"]
    assert by_name["O-Daily"]["next_run_at"] > found["now"]
    assert by_name["O-Daily"]["why"] == "default"
    assert [name for name in by_name if not by_name[name]["available"]] == ["O-SERP"]


def test_another_cadence_and_back(messor: Messor) -> None:
    said = messor("schedule", "set", "sweeper", "7 3 * * SUN", "--json")
    assert (said.code, said.json["cadence"]) == (0, "7 3 * * sun")
    assert said.json["why"].startswith("set by local-admin since 20")
    assert said.json["usual_cadence"] == "*/5 * * * *"
    assert "T03:07:00Z" in said.json["next_run_at"]
    assert "set by local-admin" in line_of(messor("schedule", "show").out, "O-Sweeper")
    assert messor("schedule", "reset", "O-Sweeper").code == 0
    assert "default" in line_of(messor("schedule", "show").out, "O-Sweeper")
    events = messor("events", "--json").out
    assert "schedule.overridden" in events
    assert "schedule.reset" in events


def test_off_and_on(messor: Messor) -> None:
    assert "disabled" in messor("schedule", "disable", "O-Robots").out
    again = messor("schedule", "disable", "O-Robots")
    assert (again.code, again.err) == (5, "messor: O-Robots is off already.\n")
    assert messor("schedule", "run", "O-Robots").code == 0  # by hand it still runs
    assert "default" in messor("schedule", "enable", "O-Robots").out


def test_a_run_by_hand(messor: Messor) -> None:
    said = messor("schedule", "run", "o-sweeper", "--json")
    assert said.code == 0
    assert (said.json["name"], said.json["outcome"]) == ("O-Sweeper", "ok")
    assert said.json["detail"]["lanes_woken"] == 0
    said = messor("schedule", "run", "O-Daily")
    assert "tasks_due            0" in said.out
    assert said.err == "O-Daily finished.\n"
    shown = messor("schedule", "show", "--json").json["schedules"]
    assert {row["name"]: row.get("last_outcome") for row in shown}["O-Sweeper"] == "ok"


def test_a_run_by_hand_that_fails(messor: Messor, dsn: str) -> None:
    execute(dsn, "ALTER TABLE messor.ingestion_runs RENAME TO elsewhere")
    said = messor("schedule", "run", "O-Sweeper")
    assert said.code == 1
    assert said.err.startswith("messor: O-Sweeper failed: UndefinedTableError")
    assert "failed" in line_of(messor("schedule", "show").out, "O-Sweeper")


def test_catching_up_and_who_leads(messor: Messor, dsn: str) -> None:
    execute(
        dsn,
        """INSERT INTO messor.schedules (name, planned_from, next_run_at)
           VALUES ('O-Daily', '0 2 * * *', '2026-01-05 02:00Z')""",
        """INSERT INTO messor.leaders (name, holder, expires_at)
           VALUES ('schedule', 'here:1:ab', messor.clock() + interval '30 s')""",
    )
    said = messor("schedule", "show")
    assert "default; catching up, due 2026-01-05 02:00" in line_of(said.out, "O-Daily")
    assert "Leader: here:1:ab, lease until" in said.out
    execute(dsn, "UPDATE messor.leaders SET expires_at = messor.clock()")
    assert "No leader: the lease of here:1:ab ended at" in messor("schedule", "show").out


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (("set", "O-Daily", "99 * * * *"), 2, "is not a cron expression: bad minute."),
        (("set", "O-Daily", "daily"), 2, "'daily' is not a cadence"),
        (("set", "O-Nothing", "@daily"), 4, "There is no orchestrator 'O-Nothing'"),
        (("set", "O-SERP", "@daily"), 5, "O-SERP is not available: it needs a search engine"),
        (("reset", "O-Daily"), 5, "O-Daily already runs by its default cadence."),
        (("enable", "O-Daily"), 5, "O-Daily is on already."),
    ],
)
def test_what_cannot_be_done_gets_one_sentence(
    messor: Messor, words: tuple[str, ...], code: int, sentence: str
) -> None:
    said = messor("schedule", *words)
    assert (said.code, said.out) == (code, "")
    assert len(said.err.splitlines()) == 1
    assert sentence in said.err
