"""`messor db slow` as a person meets it."""

from __future__ import annotations

from tests.cli.conftest import Messor


def test_the_command_shows_them(messor: Messor) -> None:
    said = messor("db", "slow")
    assert said.code == 0
    assert "Running now:" in said.out
    assert "Indexes that no query has used:" in said.out
    assert "pg_stat_statements" in said.err
    found = messor("db", "slow", "--json").json
    assert set(found) == {"running", "statements", "advice", "scanned", "unused"}
    assert messor("db", "slow", "--running", "-1").code == 2
